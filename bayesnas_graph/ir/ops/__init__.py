"""The primitive vocabulary: one class per operation, holding all there is to know about it."""

from bayesnas_graph.ir import Op
from bayesnas_graph.ir.ops.activation import Elementwise, Identity, Relu
from bayesnas_graph.ir.ops.base import PRIMITIVES
from bayesnas_graph.ir.ops.convolution import Conv, Depthwise
from bayesnas_graph.ir.ops.curvature import Local
from bayesnas_graph.ir.ops.join import Join, Sum
from bayesnas_graph.ir.ops.layout import Interleaved, Part, Phases, Repeated, Subsampled
from bayesnas_graph.ir.ops.light import LightBatchNorm, ReluConv, ReluDepthwise
from bayesnas_graph.ir.ops.norm import BatchNorm
from bayesnas_graph.ir.ops.rescale import Rescale
from bayesnas_graph.ir.ops.select import Select
from bayesnas_graph.ir.ops.spatial import Flatten, PadChannels, Pool
from bayesnas_graph.ir.ops.structure import Choice, Gated, Input, Maybe, Zero

# What only the compiler writes, by name, as PRIMITIVES are what a text names.
COMPILED: dict[str, type[Op]] = {
    cls.name: cls
    for cls in (
        *(Input, Choice, Maybe, Zero),
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
    "Elementwise",
    "Flatten",
    "Gated",
    "Identity",
    "Input",
    "Interleaved",
    "Join",
    "LightBatchNorm",
    "Local",
    "Maybe",
    "PadChannels",
    "Part",
    "Phases",
    "Pool",
    "Relu",
    "ReluConv",
    "ReluDepthwise",
    "Repeated",
    "Rescale",
    "Select",
    "Subsampled",
    "Sum",
    "Zero",
]
