"""A factor that comes with the weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from bayesnas_graph.ir import Coupling, Kept, ModuleCall, Op, Shape
from bayesnas_graph.ir.ops.base import register
from bayesnas_graph.ir.ops.curvature import Local

if TYPE_CHECKING:
    from torch import Tensor


@register
@dataclass(frozen=True)
class Rescale(Op):
    """Times a number that comes with the weights and is not trained: 1 in a new network, a gate after a search."""

    name: ClassVar[str] = "rescale"
    pure: ClassVar[bool] = False

    def shape(self, *inputs: Shape) -> Shape:
        return inputs[0]

    def torch(self, *inputs: Shape) -> ModuleCall:
        return ModuleCall("Rescale", package="runtime")

    def parameters(self, *inputs: Shape) -> int:
        return 0

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        return (local.hessian * local.module.factor.square(),)

    def weight_curvature(self, local: Local) -> dict[str, Tensor]:
        return {}

    def coupling(self, *inputs: Shape) -> Coupling:
        return Coupling.each(*inputs)

    def carries(self, arriving: tuple[Kept, ...], tensors: Mapping[str, Any], *inputs: Shape) -> Kept:
        return tuple(some and bool(tensors["factor"] != 0) for some in arriving[0])

    def needs(self, output: Kept, tensors: Mapping[str, Any], *inputs: Shape) -> tuple[Kept, ...]:
        return (tuple(some and bool(tensors["factor"] != 0) for some in output),)

    def scaled_by(self) -> tuple[str, ...]:
        return ("factor",)
