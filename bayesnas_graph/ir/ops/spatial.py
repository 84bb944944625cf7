"""Operations without weights that change size or layout."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, ClassVar

from bayesnas_graph.ir import Coupling, Expression, Link, Mask, Op, Shape, ShapeError
from bayesnas_graph.ir.ops.base import ChannelByChannel, count, image, register, same, window
from bayesnas_graph.ir.ops.curvature import Local

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Pool(ChannelByChannel):
    """Base class of pools: a window slides over each channel."""

    by_channel: ClassVar[bool] = True
    always_shown: ClassVar[tuple[str, ...]] = ("k",)

    k: int = count(3)
    stride: int = count(1)
    padding: int | None = count(absent="same", minimum=0)

    @property
    def _window(self) -> tuple[int, int, int]:
        """The window as torch takes it: size, stride and padding."""
        return self.k, self.stride, same(self.k) if self.padding is None else self.padding

    def shape(self, *inputs: Shape) -> Shape:
        channels, height, width = image(self, inputs[0])
        k, stride, padding = self._window
        if 2 * padding > k:
            raise ShapeError(f"`{self.name}` has a padding of {padding}, more than half its window of {k}")
        return channels, *(window(self, n, k, stride, padding) for n in (height, width))

    def _call(self, function: str, more: str = "") -> Expression:
        return Expression(f"F.{function}({{0}}, {{kernel}}, {{stride}}, {{padding}}{more})", self._window)


@register
@dataclass(frozen=True)
class MaxPool(Pool):
    """The largest value in a window."""

    name: ClassVar[str] = "max_pool"

    def torch(self, *inputs: Shape) -> Expression:
        return self._call("max_pool2d")

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        from torch.nn import functional as F

        (x,) = local.inputs
        _, largest = F.max_pool2d(x, *self._window, return_indices=True)
        zeros = local.hessian.new_zeros(x.shape).flatten(2)
        return (zeros.scatter_add(2, largest.flatten(2), local.hessian.flatten(2)).reshape(x.shape),)


@register
@dataclass(frozen=True)
class AvgPool(Pool):
    """The mean of a window. Padding is not counted."""

    name: ClassVar[str] = "avg_pool"

    def torch(self, *inputs: Shape) -> Expression:
        return self._call("avg_pool2d", ", count_include_pad=False")

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        from torch import ones_like
        from torch.func import vjp
        from torch.nn import functional as F

        def totals(image: Tensor) -> Tensor:
            return F.avg_pool2d(image, *self._window, divisor_override=1)

        # A window divides by the number of its pixels, fewer at the border; a total divides by 1.
        (x,) = local.inputs
        pixels, pull_back = vjp(totals, ones_like(x))[:2]
        return tuple(pull_back(local.hessian / pixels.square()))


@dataclass(frozen=True)
class GlobalPool(ChannelByChannel):
    """Base class of global pools: an image becomes a vector with one value per channel."""

    def shape(self, *inputs: Shape) -> Shape:
        return (image(self, inputs[0])[0],)


@register
@dataclass(frozen=True)
class GlobalAvgPool(GlobalPool):
    """The mean of each channel: an image becomes a vector."""

    name: ClassVar[str] = "global_avg_pool"

    def torch(self, *inputs: Shape) -> Expression:
        return Expression("{0}.mean((2, 3))")

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        (x,) = local.inputs
        pixels = prod(x.shape[2:])
        return ((local.hessian / pixels**2)[:, :, None, None].expand(x.shape),)


@register
@dataclass(frozen=True)
class GlobalMaxPool(GlobalPool):
    """The largest value of each channel: an image becomes a vector."""

    name: ClassVar[str] = "global_max_pool"

    def torch(self, *inputs: Shape) -> Expression:
        return Expression("{0}.amax((2, 3))")

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        (x,) = local.inputs
        largest = x.flatten(2).argmax(2, keepdim=True)
        zeros = local.hessian.new_zeros(x.shape).flatten(2)
        return (zeros.scatter(2, largest, local.hessian[:, :, None]).reshape(x.shape),)


@register
@dataclass(frozen=True)
class Flatten(Op):
    """An image as one long vector, channel by channel."""

    name: ClassVar[str] = "flatten"

    def shape(self, *inputs: Shape) -> Shape:
        return (prod(inputs[0]),)

    def torch(self, *inputs: Shape) -> Expression:
        return Expression("{0}.flatten(1)")

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        return (local.hessian.reshape(local.inputs[0].shape),)

    def coupling(self, *inputs: Shape) -> Coupling:
        channels, *sides = inputs[0]
        return Coupling((Link(channels, outputs=prod(sides)),))

    def stored_values(self, *inputs: Shape) -> int:
        return 0


@register
@dataclass(frozen=True)
class Crop(ChannelByChannel):
    """The image without its first `n` rows and columns."""

    name: ClassVar[str] = "crop"

    n: int = count(1)

    def shape(self, *inputs: Shape) -> Shape:
        channels, height, width = image(self, inputs[0])
        if min(height, width) <= self.n:
            raise ShapeError(f"`crop` removes {self.n} rows and columns, but the image has only {min(height, width)}")
        return channels, height - self.n, width - self.n

    def torch(self, *inputs: Shape) -> Expression:
        return Expression("{0}[:, :, {number}:, {number}:]", (self.n, self.n))

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        from torch.nn import functional as F

        return (F.pad(local.hessian, (self.n, 0, self.n, 0)),)

    def stored_values(self, *inputs: Shape) -> int:
        return 0


@register
@dataclass(frozen=True)
class PadChannels(ChannelByChannel):
    """The input with channels of zeros appended, `width` in total."""

    name: ClassVar[str] = "pad_channels"

    width: int = count()

    def shape(self, *inputs: Shape) -> Shape:
        channels = inputs[0][0]
        if self.width < channels:
            raise ShapeError(f"`pad_channels` can only add channels: there are {channels}, and `width` is {self.width}")
        return self.width, *inputs[0][1:]

    def torch(self, *inputs: Shape) -> Expression:
        sides = "0, 0, " * (len(inputs[0]) - 1)
        return Expression(f"F.pad({{0}}, ({sides}0, {{extra}}))", (self.width - inputs[0][0],))

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        return (local.hessian[:, : local.inputs[0].shape[1]],)

    def narrowed(self, inputs: tuple[Mask, ...], output: Mask) -> PadChannels:
        return replace(self, width=sum(output))
