"""A selection of channels that is loaded with the weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from bayesnas_graph.ir import Axis, Coupling, Link, Mask, ModuleCall, NumberArgument, Shape, ShapeError
from bayesnas_graph.ir.ops.base import Untrained, count, register
from bayesnas_graph.ir.ops.curvature import Local

if TYPE_CHECKING:
    from torch import Tensor


@register
@dataclass(frozen=True)
class SelectOp(Untrained):
    """A selection of channels, loaded with the weights. In a new network, the channels are evenly spaced."""

    name: ClassVar[str] = "select"
    selects: ClassVar[bool] = True

    width: int = count()

    def shape(self, *inputs: Shape) -> Shape:
        channels, *sides = inputs[0]
        if self.width > channels:
            raise ShapeError(f"`select` can only remove channels: there are {channels}, and `width` is {self.width}")
        return self.width, *sides

    def torch(self, *inputs: Shape) -> ModuleCall:
        return ModuleCall(
            "Select", (NumberArgument("size", inputs[0][0]), NumberArgument("size", self.width)), package="runtime"
        )

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        (x,) = local.inputs
        return (local.hessian.new_zeros(x.shape).index_add(1, local.module.channels, local.hessian),)

    def coupling(self, *inputs: Shape) -> Coupling:
        """Judging by the shapes alone, any input channel may be any output channel."""
        return Coupling((Link(1, inputs[0][0], self.width, tied=False),), (Axis("channels", 0),))

    def narrowed(self, inputs: tuple[Mask, ...], output: Mask) -> SelectOp:
        return replace(self, width=sum(output))

    def nonzero_outputs(self, nonzero: tuple[Mask, ...], tensors: Mapping[str, Any], *inputs: Shape) -> Mask:
        return tuple(nonzero[0][channel] for channel in tensors["channels"].tolist())

    def needed_inputs(self, output: Mask, tensors: Mapping[str, Any], *inputs: Shape) -> tuple[Mask, ...]:
        read = {channel for channel, needed in zip(tensors["channels"].tolist(), output, strict=True) if needed}
        return (tuple(channel in read for channel in range(inputs[0][0])),)

    def sliced(
        self, tensors: Mapping[str, Any], input_masks: tuple[Mask, ...], output: Mask, *inputs: Shape
    ) -> dict[str, Any]:
        """Its channels, renumbered among the remaining channels of the input."""
        remaining = super().sliced(tensors, input_masks, output, *inputs)
        number = {channel: i for i, channel in enumerate(i for i, stays in enumerate(input_masks[0]) if stays)}
        named = [number[channel] for channel in remaining["channels"].tolist()]
        return {**remaining, "channels": remaining["channels"].new_tensor(named)}
