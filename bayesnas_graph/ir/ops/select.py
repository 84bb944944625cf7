"""Channels that come with the weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from bayesnas_graph.ir import Axis, Coupling, Kept, Link, ModuleCall, Op, Shape, ShapeError
from bayesnas_graph.ir.ops.base import count, register
from bayesnas_graph.ir.ops.curvature import Local

if TYPE_CHECKING:
    from torch import Tensor


@register
@dataclass(frozen=True)
class Select(Op):
    """Some channels of its input. Which ones comes with the weights: in a new network they are spread evenly."""

    name: ClassVar[str] = "select"
    pure: ClassVar[bool] = False

    width: int = count()

    def shape(self, *inputs: Shape) -> Shape:
        channels, *sides = inputs[0]
        if self.width > channels:
            raise ShapeError(f"`select` can only leave out channels: there are {channels}, and `width` is {self.width}")
        return self.width, *sides

    def torch(self, *inputs: Shape) -> ModuleCall:
        return ModuleCall("Select", (inputs[0][0], self.width), package="runtime")

    def parameters(self, *inputs: Shape) -> int:
        return 0

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        (x,) = local.inputs
        return (local.hessian.new_zeros(x.shape).index_add(1, local.module.channels, local.hessian),)

    def weight_curvature(self, local: Local) -> dict[str, Tensor]:
        return {}

    def coupling(self, *inputs: Shape) -> Coupling:
        """What the shapes tell: any channel of the input may be any of the output."""
        return Coupling((Link(1, inputs[0][0], self.width, tied=False),), (Axis("channels", 0),))

    def narrowed(self, inputs: tuple[Kept, ...], output: Kept) -> Select:
        return replace(self, width=sum(output))

    def carries(self, arriving: tuple[Kept, ...], tensors: Mapping[str, Any], *inputs: Shape) -> Kept:
        return tuple(arriving[0][channel] for channel in tensors["channels"].tolist())

    def needs(self, output: Kept, tensors: Mapping[str, Any], *inputs: Shape) -> tuple[Kept, ...]:
        named = {channel for channel, kept in zip(tensors["channels"].tolist(), output, strict=True) if kept}
        return (tuple(channel in named for channel in range(inputs[0][0])),)

    def cut(self, tensors: Mapping[str, Any], kept: tuple[Kept, ...], output: Kept, *inputs: Shape) -> dict[str, Any]:
        """The numbers of what is left, counted anew."""
        left = super().cut(tensors, kept, output, *inputs)
        number = {channel: i for i, channel in enumerate(i for i, stays in enumerate(kept[0]) if stays)}
        named = [number[channel] for channel in left["channels"].tolist()]
        return {**left, "channels": left["channels"].new_tensor(named)}
