"""Operations that keep less for the backward pass than those whose place passes give them. No text names them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from bayesnas_graph.ir import ModuleCall, Shape
from bayesnas_graph.ir.ops.base import flag
from bayesnas_graph.ir.ops.convolution import Conv, Convolution, Depthwise
from bayesnas_graph.ir.ops.curvature import Local
from bayesnas_graph.ir.ops.norm import BatchNorm

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class LightBatchNorm(BatchNorm):
    """A batch norm without weights that keeps its output and not its input."""

    name: ClassVar[str] = "light_bn"

    affine: bool = flag(False)

    @property
    def label(self) -> str:
        return BatchNorm.name

    def torch(self, *inputs: Shape) -> ModuleCall:
        call = super().torch(*inputs)
        settings = tuple((name, value) for name, value in call.kwargs if name != "affine")
        return replace(call, target=f"Light{call.target}", kwargs=settings, package="runtime")


@dataclass(frozen=True)
class OfRelu(Convolution):
    """What the two below have in common: curvature passes through the ReLU as well."""

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        (handed,) = super().curvature(local)
        return (handed * (local.inputs[0] > 0),)

    def weight_curvature(self, local: Local) -> dict[str, Tensor]:
        return super().weight_curvature(replace(local, inputs=(local.inputs[0].relu(),)))


@dataclass(frozen=True)
class ReluConv(OfRelu, Conv):
    """A convolution of the ReLU of its input, which is computed again when it is needed."""

    name: ClassVar[str] = "relu_conv"

    @property
    def label(self) -> str:
        return Conv.name

    def torch(self, *inputs: Shape) -> ModuleCall:
        return replace(super().torch(*inputs), target="ReluConv2d", package="runtime")


@dataclass(frozen=True)
class ReluDepthwise(OfRelu, Depthwise):
    """The same for a convolution of each channel by itself."""

    name: ClassVar[str] = "relu_depthwise"

    @property
    def label(self) -> str:
        return Depthwise.name

    def torch(self, *inputs: Shape) -> ModuleCall:
        return replace(super().torch(*inputs), target="ReluConv2d", package="runtime")
