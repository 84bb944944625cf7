"""Some of the channels of a value, and its channels in another order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from bayesnas_graph.ir import Coupling, Expression, Link, Mask, Op, Shape, ShapeError
from bayesnas_graph.ir.ops.base import count, register
from bayesnas_graph.ir.ops.curvature import Local

if TYPE_CHECKING:
    from torch import Tensor


@register
@dataclass(frozen=True)
class SliceChannels(Op):
    """`width` channels of the input, from channel `start` on, counted from 0."""

    name: ClassVar[str] = "slice_channels"

    start: int = count(minimum=0)
    width: int = count()

    def shape(self, *inputs: Shape) -> Shape:
        channels, *sides = inputs[0]
        stop = self.start + self.width
        if stop > channels:
            raise ShapeError(
                f"`{self.name}` has the channels {self.start} to {stop - 1}, but there are only {channels}"
            )
        return self.width, *sides

    def torch(self, *inputs: Shape) -> Expression:
        return Expression("{0}[:, {number}:{number}]", (self.start, self.start + self.width))

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        handed = local.hessian.new_zeros(local.inputs[0].shape)
        handed[:, self.start : self.start + self.width] = local.hessian
        return (handed,)

    def stored_values(self, *inputs: Shape) -> int:
        return 0

    def coupling(self, *inputs: Shape) -> Coupling:
        after = inputs[0][0] - self.start - self.width
        return Coupling((Link(self.width, before=self.start, after=after),))

    def narrowed(self, inputs: tuple[Mask, ...], output: Mask) -> SliceChannels:
        return replace(self, start=sum(inputs[0][: self.start]), width=sum(output))


@register
@dataclass(frozen=True)
class ChannelShuffle(Op):
    """The channels in another order: the first of each of `groups` equal groups, then the second of each, and so on."""

    name: ClassVar[str] = "channel_shuffle"

    groups: int = count(2)

    def shape(self, *inputs: Shape) -> Shape:
        if inputs[0][0] % self.groups:
            raise ShapeError(f"`{self.name}` has {self.groups} groups, which do not divide {inputs[0][0]} channels")
        return inputs[0]

    def torch(self, *inputs: Shape) -> Expression:
        return Expression("{0}.unflatten(1, ({groups}, -1)).transpose(1, 2).flatten(1, 2)", (self.groups,))

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        batch, channels, *sides = local.hessian.shape
        by_group = local.hessian.reshape(batch, channels // self.groups, self.groups, *sides)
        return (by_group.transpose(1, 2).flatten(1, 2),)

    def coupling(self, *inputs: Shape) -> Coupling:
        """A channel is removed with those at its position in the other groups, so that groups stay equal."""
        return Coupling((Link(inputs[0][0] // self.groups, self.groups, self.groups, is_interleaved=True),))

    def nonzero_outputs(self, nonzero: tuple[Mask, ...], tensors: Mapping[str, Any], *inputs: Shape) -> Mask:
        size = inputs[0][0] // self.groups
        return tuple(entry for i in range(size) for entry in nonzero[0][i::size])

    def needed_inputs(self, output: Mask, tensors: Mapping[str, Any], *inputs: Shape) -> tuple[Mask, ...]:
        return (tuple(entry for group in range(self.groups) for entry in output[group :: self.groups]),)
