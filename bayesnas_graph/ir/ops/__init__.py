"""The primitives: one class per operation, with all its properties."""

from bayesnas_graph.ir import Op
from bayesnas_graph.ir.ops.activation import Identity, Relu
from bayesnas_graph.ir.ops.base import PRIMITIVES
from bayesnas_graph.ir.ops.convolution import Conv, Depthwise, ReluConv, ReluDepthwise
from bayesnas_graph.ir.ops.first import First
from bayesnas_graph.ir.ops.join import Sum
from bayesnas_graph.ir.ops.layout import Interleaved, Part, Phases, Repeated, Subsampled
from bayesnas_graph.ir.ops.norm import BatchNorm, LightBatchNorm
from bayesnas_graph.ir.ops.rescale import RescaleOp
from bayesnas_graph.ir.ops.select import SelectOp
from bayesnas_graph.ir.ops.spatial import PadChannels
from bayesnas_graph.ir.ops.structure import Choice, Gated, Input, Maybe, Width, Zero

# Operations that only the compiler uses, by name. PRIMITIVES are those available in the language.
COMPILED: dict[str, type[Op]] = {
    cls.name: cls
    for cls in (
        *(Input, Choice, Width, Maybe, Zero, First),
        *(Phases, Interleaved, Subsampled, Repeated, Part),
        *(LightBatchNorm, ReluConv, ReluDepthwise),
    )
}

__all__ = [
    "COMPILED",
    "PRIMITIVES",
    "BatchNorm",
    "Choice",
    "Conv",
    "Depthwise",
    "First",
    "Gated",
    "Identity",
    "Input",
    "LightBatchNorm",
    "Maybe",
    "PadChannels",
    "Part",
    "Relu",
    "ReluConv",
    "ReluDepthwise",
    "Repeated",
    "RescaleOp",
    "SelectOp",
    "Sum",
    "Width",
    "Zero",
]
