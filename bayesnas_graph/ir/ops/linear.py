"""Dense layers, on vectors and at every position of sequences."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, ClassVar

from bayesnas_graph.ir import Coupling, Link, Mask, ModuleCall, Shape, ShapeError, named_shape, numbers
from bayesnas_graph.ir.ops.base import count, flag, register
from bayesnas_graph.ir.ops.convolution import Layer
from bayesnas_graph.ir.ops.curvature import Local, per_channel

if TYPE_CHECKING:
    from torch import Tensor


@register
@dataclass(frozen=True)
class Linear(Layer):
    """A dense layer on a vector, or at every position of a sequence. Without `width` it keeps the channels."""

    name: ClassVar[str] = "linear"
    weight_axes: ClassVar[str] = "nc"

    width: int | None = count(absent="same")
    bias: bool = flag(True)

    def shape(self, *inputs: Shape) -> Shape:
        if len(inputs[0]) > 2:
            raise ShapeError(f"`linear` needs a vector or a sequence, got {named_shape(inputs[0])}")
        features, *length = inputs[0]
        return self.width or features, *length

    def parameters(self, *inputs: Shape) -> int:
        width, features = self.shape(*inputs)[0], inputs[0][0]
        return features * width + width * self.bias

    def flops(self, *inputs: Shape) -> int:
        return inputs[0][0] * prod(self.shape(*inputs))

    def operations(self, *inputs: Shape) -> int:
        return (2 * inputs[0][0] - 1) * prod(self.shape(*inputs))

    def torch(self, *inputs: Shape) -> ModuleCall:
        features = inputs[0][0]
        sizes, settings = numbers(channels=features, width=self.width or features), numbers(bias=self.bias)
        if len(inputs[0]) == 1:
            return ModuleCall("Linear", sizes, settings)
        return ModuleCall("SequenceLinear", sizes, settings, package="runtime")

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        from torch import einsum

        return (einsum("no...,oc->nc...", local.hessian, local.module.weight.square()),)

    def weight_curvature(self, local: Local) -> dict[str, Tensor]:
        from torch import einsum

        (x,) = local.inputs
        shift = {"bias": per_channel(local.hessian)} if self.bias else {}
        total = einsum("nop,ncp->oc", _positions(local.hessian), _positions(x.square()))
        return {"weight": total / len(x), **shift}

    def coupling(self, *inputs: Shape) -> Coupling:
        return self._coupling(Link(1, inputs[0][0], self.shape(*inputs)[0], tied=False))

    def narrowed(self, inputs: tuple[Mask, ...], output: Mask) -> Linear:
        return replace(self, width=sum(output))


def _positions(values: Tensor) -> Tensor:
    """Samples, channels, positions: a vector has one position."""
    return values.reshape(*values.shape[:2], -1)
