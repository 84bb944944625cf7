"""A factor that is loaded with the weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from bayesnas_graph.ir import Coupling, Mask, ModuleCall, Op, Shape
from bayesnas_graph.ir.ops.base import register
from bayesnas_graph.ir.ops.curvature import Local

if TYPE_CHECKING:
    from torch import Tensor


@register
@dataclass(frozen=True)
class Rescale(Op):
    """Its input times a number that is loaded with the weights and not trained: 1 in a new network."""

    name: ClassVar[str] = "rescale"
    only_scales: ClassVar[bool] = True
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

    def nonzero_outputs(self, nonzero: tuple[Mask, ...], tensors: Mapping[str, Any], *inputs: Shape) -> Mask:
        return nonzero[0] if bool(tensors["factor"] != 0) else (False,) * len(nonzero[0])

    def needed_inputs(self, output: Mask, tensors: Mapping[str, Any], *inputs: Shape) -> tuple[Mask, ...]:
        return (output if bool(tensors["factor"] != 0) else (False,) * len(output),)

    def scale_tensors(self) -> tuple[str, ...]:
        return ("factor",)
