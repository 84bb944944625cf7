"""The primitives: one class per operation, with all its properties."""

from bayesnas_graph.ir import Op
from bayesnas_graph.ir.ops.activation import Identity, Relu
from bayesnas_graph.ir.ops.attention import Attention
from bayesnas_graph.ir.ops.base import PRIMITIVES
from bayesnas_graph.ir.ops.centre import CentreConv, CentreDepthwise, centred
from bayesnas_graph.ir.ops.channels import ChannelShuffle, SliceChannels
from bayesnas_graph.ir.ops.convolution import Conv, Depthwise, ReluConv, ReluDepthwise
from bayesnas_graph.ir.ops.embedding import Embedding
from bayesnas_graph.ir.ops.first import First
from bayesnas_graph.ir.ops.join import Concat, Sum
from bayesnas_graph.ir.ops.layout import Interleaved, Part, Phases, Repeated, RepeatedParts, Subsampled
from bayesnas_graph.ir.ops.learned import LayerScale
from bayesnas_graph.ir.ops.linear import Linear
from bayesnas_graph.ir.ops.norm import BatchNorm, LightBatchNorm
from bayesnas_graph.ir.ops.positions import ToSequence
from bayesnas_graph.ir.ops.rescale import RescaleOp
from bayesnas_graph.ir.ops.resize import Resize, Upsample
from bayesnas_graph.ir.ops.select import SelectOp
from bayesnas_graph.ir.ops.sequence import Conv1d
from bayesnas_graph.ir.ops.spatial import LightMaxPool, PadChannels
from bayesnas_graph.ir.ops.structure import Choice, Gated, Input, Maybe, Total, Width, Zero
from bayesnas_graph.ir.ops.transposed import ConvTranspose

# Operations that only the compiler uses, by name. PRIMITIVES are those available in the language.
COMPILED: dict[str, type[Op]] = {
    cls.name: cls
    for cls in (
        *(Input, Choice, Total, Width, Maybe, Zero, First),
        *(Phases, Interleaved, Subsampled, Repeated, RepeatedParts, Part),
        *(LightBatchNorm, LightMaxPool, ReluConv, ReluDepthwise, CentreConv, CentreDepthwise),
    )
}

__all__ = [
    "COMPILED",
    "PRIMITIVES",
    "Attention",
    "BatchNorm",
    "CentreConv",
    "CentreDepthwise",
    "ChannelShuffle",
    "Choice",
    "Concat",
    "Conv",
    "Conv1d",
    "ConvTranspose",
    "Depthwise",
    "Embedding",
    "First",
    "Gated",
    "Identity",
    "Input",
    "LayerScale",
    "LightBatchNorm",
    "LightMaxPool",
    "Linear",
    "Maybe",
    "PadChannels",
    "Part",
    "Relu",
    "ReluConv",
    "ReluDepthwise",
    "Repeated",
    "RepeatedParts",
    "RescaleOp",
    "Resize",
    "SelectOp",
    "SliceChannels",
    "Sum",
    "ToSequence",
    "Total",
    "Upsample",
    "Width",
    "Zero",
    "centred",
]
