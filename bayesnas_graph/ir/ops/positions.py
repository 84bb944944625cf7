"""Positions: images as sequences and back, one position of a sequence, vectors as positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from bayesnas_graph.ir import Coupling, Expression, Shape, ShapeError
from bayesnas_graph.ir.ops.base import ChannelByChannel, count, image, register, sequence, vector
from bayesnas_graph.ir.ops.curvature import Local
from bayesnas_graph.ir.ops.join import Join

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Reshaped(ChannelByChannel):
    """Base class of operations whose output has the values of the input, in another shape."""

    by_channel: ClassVar[bool] = True

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        return (local.hessian.reshape(local.inputs[0].shape),)

    def stored_values(self, *inputs: Shape) -> int:
        return 0


@register
@dataclass(frozen=True)
class ToSequence(Reshaped):
    """An image as a sequence of its pixels, row by row."""

    name: ClassVar[str] = "to_sequence"

    def shape(self, *inputs: Shape) -> Shape:
        channels, height, width = image(self, inputs[0])
        return channels, height * width

    def torch(self, *inputs: Shape) -> Expression:
        return Expression("{0}.flatten(2)")


@register
@dataclass(frozen=True)
class ToImage(Reshaped):
    """A sequence as an image, row by row. Without `width`, the image is square."""

    name: ClassVar[str] = "to_image"

    height: int = count()
    width: int | None = count(absent="square")

    def shape(self, *inputs: Shape) -> Shape:
        channels, length = sequence(self, inputs[0])
        width = self.width or self.height
        if self.height * width != length:
            pixels = f"{self.height} by {width} are {self.height * width} pixels"
            raise ShapeError(f"`to_image` needs a position for each pixel: {pixels}, and the sequence has {length}")
        return channels, self.height, width

    def torch(self, *inputs: Shape) -> Expression:
        return Expression("{0}.unflatten(2, ({height}, {columns}))", (self.height, self.width or self.height))


@register
@dataclass(frozen=True)
class At(ChannelByChannel):
    """One position of a sequence, as a vector: `at(0)` is the first, `at(-1)` the last."""

    name: ClassVar[str] = "at"
    by_channel: ClassVar[bool] = True
    always_shown: ClassVar[tuple[str, ...]] = ("index",)

    index: int = count(0, minimum=-(10**9))

    def shape(self, *inputs: Shape) -> Shape:
        channels, length = sequence(self, inputs[0])
        if not -length <= self.index < length:
            raise ShapeError(f"`at({self.index})` is outside of the sequence, which has {length} positions")
        return (channels,)

    def torch(self, *inputs: Shape) -> Expression:
        return Expression("{0}[:, :, {index}]", (self.index,))

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        found = local.hessian.new_zeros(local.inputs[0].shape)
        found[:, :, self.index] = local.hessian
        return (found,)

    def stored_values(self, *inputs: Shape) -> int:
        return 0


@register
@dataclass(frozen=True)
class StackVectors(Join):
    """Vectors of one length as a sequence: each is a position."""

    name: ClassVar[str] = "stack_vectors"

    def shape(self, *inputs: Shape) -> Shape:
        if len({vector(self, shape) for shape in inputs}) > 1:
            raise ShapeError("`stack_vectors` needs vectors of the same length")
        return inputs[0][0], len(inputs)

    def torch(self, *inputs: Shape) -> Expression:
        return Expression(f"torch.stack([{', '.join(f'{{{i}}}' for i in range(len(inputs)))}], 2)")

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        return local.hessian.unbind(2)

    def coupling(self, *inputs: Shape) -> Coupling:
        return Coupling.each(*inputs)
