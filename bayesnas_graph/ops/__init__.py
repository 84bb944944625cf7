"""The primitive vocabulary: one class per operation, holding all there is to know about it."""

from bayesnas_graph.ops.activation import Identity
from bayesnas_graph.ops.base import PRIMITIVES
from bayesnas_graph.ops.convolution import Conv
from bayesnas_graph.ops.join import Join, Sum
from bayesnas_graph.ops.norm import BatchNorm
from bayesnas_graph.ops.spatial import Flatten, PadChannels
from bayesnas_graph.ops.structure import Choice, Gated, Input, Maybe, Zero

__all__ = [
    "PRIMITIVES",
    "BatchNorm",
    "Choice",
    "Conv",
    "Flatten",
    "Gated",
    "Identity",
    "Input",
    "Join",
    "Maybe",
    "PadChannels",
    "Sum",
    "Zero",
]
