"""Learned tensors: factors, shifts, position embeddings, class tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from bayesnas_graph.ir import Axis, Coupling, Mask, ModuleCall, Op, Shape, intersection, numbers, union
from bayesnas_graph.ir.ops.base import rational, register, sequence
from bayesnas_graph.ir.ops.curvature import Local, along_channels, per_channel

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Learned(Op):
    """Base class of operations with a learned tensor `weight`, which has the channels first."""

    pure: ClassVar[bool] = False
    by_channel: ClassVar[bool] = True

    @property
    def saves_inputs(self) -> bool:
        return False

    def shape(self, *inputs: Shape) -> Shape:
        return inputs[0]

    def parameters(self, *inputs: Shape) -> int:
        return inputs[0][0]

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        return (local.hessian,)

    def coupling(self, *inputs: Shape) -> Coupling:
        return Coupling.each(*inputs, axes=(Axis("weight", 0),))

    def nonzero_outputs(self, nonzero: tuple[Mask, ...], tensors: Mapping[str, Any], *inputs: Shape) -> Mask:
        return union(nonzero[0], _nonzero(tensors["weight"]))


@register
@dataclass(frozen=True)
class LayerScale(Learned):
    """Each channel times a learned factor, which starts at `init` (Touvron et al., ICCV 2021)."""

    name: ClassVar[str] = "layer_scale"

    init: Fraction = rational("0.000001", minimum="-1000000")

    @property
    def saves_inputs(self) -> bool:
        return True

    def torch(self, *inputs: Shape) -> ModuleCall:
        return ModuleCall("LayerScale", numbers(norm=inputs[0][0]), numbers(init=float(self.init)), "runtime")

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        return (local.hessian * along_channels(local.module.weight.square(), local.hessian),)

    def weight_curvature(self, local: Local) -> dict[str, Tensor]:
        return {"weight": per_channel(local.hessian * local.inputs[0].square())}

    def nonzero_outputs(self, nonzero: tuple[Mask, ...], tensors: Mapping[str, Any], *inputs: Shape) -> Mask:
        return intersection(nonzero[0], _nonzero(tensors["weight"]))

    def needed_inputs(self, output: Mask, tensors: Mapping[str, Any], *inputs: Shape) -> tuple[Mask, ...]:
        return (intersection(output, _nonzero(tensors["weight"])),)

    def scale_tensors(self) -> tuple[str, ...]:
        return ("weight",)


@register
@dataclass(frozen=True)
class Shift(Learned):
    """A learned number added to each channel, a bias, which starts at `init`."""

    name: ClassVar[str] = "shift"

    init: Fraction = rational("0", minimum="-1000000")

    def torch(self, *inputs: Shape) -> ModuleCall:
        return ModuleCall("Shift", numbers(norm=inputs[0][0]), numbers(init=float(self.init)), "runtime")

    def weight_curvature(self, local: Local) -> dict[str, Tensor]:
        return {"weight": per_channel(local.hessian)}


@register
@dataclass(frozen=True)
class PositionEmbedding(Learned):
    """A learned vector added at each position of a sequence. It starts as normal numbers of deviation `std`."""

    name: ClassVar[str] = "position_embedding"

    std: Fraction = rational("0.02")

    def shape(self, *inputs: Shape) -> Shape:
        return sequence(self, inputs[0])

    def parameters(self, *inputs: Shape) -> int:
        channels, length = inputs[0]
        return channels * length

    def torch(self, *inputs: Shape) -> ModuleCall:
        channels, length = inputs[0]
        sizes = numbers(norm=channels, length=length)
        return ModuleCall("PositionEmbedding", sizes, numbers(std=float(self.std)), "runtime")

    def weight_curvature(self, local: Local) -> dict[str, Tensor]:
        return {"weight": local.hessian.mean(0)}


@register
@dataclass(frozen=True)
class ClassToken(Learned):
    """The sequence after a learned position, from which `at(0)` can read a result for the whole (Devlin et al., 2019).

    It starts as normal numbers of deviation `std`.
    """

    name: ClassVar[str] = "class_token"

    std: Fraction = rational("0.02")

    def shape(self, *inputs: Shape) -> Shape:
        channels, length = sequence(self, inputs[0])
        return channels, length + 1

    def torch(self, *inputs: Shape) -> ModuleCall:
        return ModuleCall("ClassToken", numbers(norm=inputs[0][0]), numbers(std=float(self.std)), "runtime")

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        return (local.hessian[:, :, 1:],)

    def weight_curvature(self, local: Local) -> dict[str, Tensor]:
        return {"weight": local.hessian[:, :, 0].mean(0)}


def _nonzero(weight: Tensor) -> Mask:
    """The channels with a nonzero entry."""
    return tuple((weight != 0).reshape(len(weight), -1).any(1).tolist())
