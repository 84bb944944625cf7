"""A factor that is loaded with the weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from bayesnas_graph.ir import Mask, ModuleCall, Shape
from bayesnas_graph.ir.ops.base import SameShape, Untrained, register
from bayesnas_graph.ir.ops.curvature import Local

if TYPE_CHECKING:
    from torch import Tensor


@register
@dataclass(frozen=True)
class RescaleOp(SameShape, Untrained):
    """The input times a factor that is loaded with the weights and not trained; 1 in a new network."""

    name: ClassVar[str] = "rescale"
    only_scales: ClassVar[bool] = True

    def torch(self, *inputs: Shape) -> ModuleCall:
        return ModuleCall("Rescale", package="runtime")

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        return (local.hessian * local.module.factor.square(),)

    def nonzero_outputs(self, nonzero: tuple[Mask, ...], tensors: Mapping[str, Any], *inputs: Shape) -> Mask:
        return nonzero[0] if bool(tensors["factor"] != 0) else (False,) * len(nonzero[0])

    def needed_inputs(self, output: Mask, tensors: Mapping[str, Any], *inputs: Shape) -> tuple[Mask, ...]:
        return (output if bool(tensors["factor"] != 0) else (False,) * len(output),)

    def scale_tensors(self) -> tuple[str, ...]:
        return ("factor",)
