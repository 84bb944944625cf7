"""Tokens as vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from bayesnas_graph.ir import (
    Axis,
    Coupling,
    Link,
    Mask,
    ModuleCall,
    NumberArgument,
    Op,
    Shape,
    ShapeError,
    TokenShape,
    named_shape,
)
from bayesnas_graph.ir.ops.base import count as number
from bayesnas_graph.ir.ops.base import register
from bayesnas_graph.ir.ops.curvature import Local

if TYPE_CHECKING:
    from torch import Tensor


@register
@dataclass(frozen=True)
class Embedding(Op):
    """A learned vector of `width` for each of `count` tokens, which are numbered from 0: tokens become a sequence."""

    name: ClassVar[str] = "embedding"
    pure: ClassVar[bool] = False
    reads_tokens: ClassVar[bool] = True

    count: int = number()
    width: int = number()

    def shape(self, *inputs: Shape) -> Shape:
        if not isinstance(inputs[0], TokenShape):
            raise ShapeError(f"`embedding` needs tokens, got {named_shape(inputs[0])}")
        return self.width, inputs[0][0]

    def parameters(self, *inputs: Shape) -> int:
        return self.count * self.width

    def torch(self, *inputs: Shape) -> ModuleCall:
        sizes = NumberArgument("count", self.count), NumberArgument("width", self.width)
        return ModuleCall("Embedding", sizes, package="runtime")

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        return (local.hessian.new_zeros(local.inputs[0].shape),)  # tokens cannot change a little

    def weight_curvature(self, local: Local) -> dict[str, Tensor]:
        (tokens,) = local.inputs
        total = local.hessian.new_zeros(local.module.weight.shape)
        total.index_add_(0, tokens.flatten(), local.hessian.mT.flatten(0, 1))
        return {"weight": total / len(tokens)}

    def coupling(self, *inputs: Shape) -> Coupling:
        """All channels depend on all tokens, through weights."""
        return Coupling((Link(1, inputs[0][0], self.width, tied=False),), (Axis("weight", 1),))

    def narrowed(self, inputs: tuple[Mask, ...], output: Mask) -> Embedding:
        return replace(self, width=sum(output))

    def nonzero_outputs(self, nonzero: tuple[Mask, ...], tensors: Mapping[str, Any], *inputs: Shape) -> Mask:
        return tuple((tensors["weight"] != 0).any(0).tolist())

    def scale_tensors(self) -> tuple[str, ...]:
        return ("weight",)
