"""Operations without weights that change size or layout."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from bayesnas_graph.ir import Expression, Op, Shape, ShapeError
from bayesnas_graph.ops.base import count, image, register, same, window


@dataclass(frozen=True)
class Pool(Op):
    """What the pools have in common: a window that slides over each channel."""

    k: int = count(3)
    stride: int = count(1)
    padding: int | None = count(absent="same", minimum=0)

    def shape(self, *inputs: Shape) -> Shape:
        channels, height, width = image(self, inputs[0])
        padding = same(self.k) if self.padding is None else self.padding
        if 2 * padding > self.k:
            raise ShapeError(f"`{self.name}` has a padding of {padding}, more than half its window of {self.k}")
        return channels, *(window(self, n, self.k, self.stride, padding) for n in (height, width))

    def _call(self, function: str, *more: str) -> Expression:
        padding = same(self.k) if self.padding is None else self.padding
        return Expression(f"F.{function}({{0}}, {', '.join([f'{self.k}, {self.stride}, {padding}', *more])})")


@register
@dataclass(frozen=True)
class MaxPool(Pool):
    """The largest value in a window."""

    name: ClassVar[str] = "max_pool"

    def torch(self, *inputs: Shape) -> Expression:
        return self._call("max_pool2d")


@register
@dataclass(frozen=True)
class AvgPool(Pool):
    """The mean of a window. Padding is not counted."""

    name: ClassVar[str] = "avg_pool"

    def torch(self, *inputs: Shape) -> Expression:
        return self._call("avg_pool2d", "count_include_pad=False")


@dataclass(frozen=True)
class GlobalPool(Op):
    """What the global pools have in common: an image becomes a vector of its channels."""

    def shape(self, *inputs: Shape) -> Shape:
        return (image(self, inputs[0])[0],)


@register
@dataclass(frozen=True)
class GlobalAvgPool(GlobalPool):
    """The mean of each channel: an image becomes a vector."""

    name: ClassVar[str] = "global_avg_pool"

    def torch(self, *inputs: Shape) -> Expression:
        return Expression("{0}.mean((2, 3))")


@register
@dataclass(frozen=True)
class GlobalMaxPool(GlobalPool):
    """The largest value of each channel: an image becomes a vector."""

    name: ClassVar[str] = "global_max_pool"

    def torch(self, *inputs: Shape) -> Expression:
        return Expression("{0}.amax((2, 3))")


@register
@dataclass(frozen=True)
class Flatten(Op):
    """An image as one long vector, channel by channel."""

    name: ClassVar[str] = "flatten"

    def shape(self, *inputs: Shape) -> Shape:
        return (prod(inputs[0]),)

    def torch(self, *inputs: Shape) -> Expression:
        return Expression("{0}.flatten(1)")

    def stores(self, *inputs: Shape) -> int:
        return 0


@register
@dataclass(frozen=True)
class Crop(Op):
    """The image without its first `n` rows and columns."""

    name: ClassVar[str] = "crop"

    n: int = count(1)

    def shape(self, *inputs: Shape) -> Shape:
        channels, height, width = image(self, inputs[0])
        if min(height, width) <= self.n:
            raise ShapeError(f"`crop` removes {self.n} rows and columns, and the image has only {min(height, width)}")
        return channels, height - self.n, width - self.n

    def torch(self, *inputs: Shape) -> Expression:
        return Expression(f"{{0}}[:, :, {self.n}:, {self.n}:]")

    def stores(self, *inputs: Shape) -> int:
        return 0


@register
@dataclass(frozen=True)
class PadChannels(Op):
    """Channels of zeros appended until there are `width`."""

    name: ClassVar[str] = "pad_channels"

    width: int = count()

    def shape(self, *inputs: Shape) -> Shape:
        channels = inputs[0][0]
        if self.width < channels:
            raise ShapeError(f"`pad_channels` can only add channels: there are {channels}, and `width` is {self.width}")
        return self.width, *inputs[0][1:]

    def torch(self, *inputs: Shape) -> Expression:
        sides = "0, 0, " * (len(inputs[0]) - 1)
        return Expression(f"F.pad({{0}}, ({sides}0, {self.width - inputs[0][0]}))")
