"""Operations without weights that change size or layout."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from bayesnas_graph.ir import Coupling, Expression, Link, Mask, Op, Shape, ShapeError
from bayesnas_graph.ir.ops.base import ChannelByChannel, count, image, register
from bayesnas_graph.ir.ops.curvature import Local
from bayesnas_graph.ir.ops.padding import Padding, Window, padding

if TYPE_CHECKING:
    from torch import Tensor


class _Sliding(NamedTuple):
    """A window as torch takes it."""

    k: int
    stride: int
    padding: tuple[int, int]  # above and below, left and right
    ceil_mode: bool = False  # whether the last window may extend beyond the padding
    skipped: int = 0  # rows and columns of results to leave out at the start


@dataclass(frozen=True)
class Pool(ChannelByChannel):
    """Base class of pools: a window slides over each channel."""

    by_channel: ClassVar[bool] = True
    always_shown: ClassVar[tuple[str, ...]] = ("k",)

    k: int = count(3)
    stride: int = count(1)
    padding: Padding = padding()

    @property
    def window(self) -> Window:
        """How its window slides."""
        return Window(self.k, self.stride, self.padding)

    def simplified(self) -> Op:
        simple = self.window.simple_padding()
        return self if simple == self.padding else replace(self, padding=simple)

    def doubtful(self, *inputs: Shape) -> str | None:
        return self.window.doubtful(self, inputs[0])

    def shape(self, *inputs: Shape) -> Shape:
        channels, height, width = image(self, inputs[0])
        if self.padding != "same" and 2 * self.window.equal_padding() > self.k:
            padding = self.window.equal_padding()
            raise ShapeError(f"`{self.name}` has a padding of {padding}, more than half its window of {self.k}")
        return channels, *self.window.positions(self, height, width)

    def _sliding(self, height: int, width: int) -> _Sliding:
        if self.padding != "same":
            padding = self.window.equal_padding()
            return _Sliding(self.k, self.stride, (padding, padding))
        if self.stride == 1:  # torch pads equally on all sides: drop the first row and column of results
            return _Sliding(self.k, self.stride, (self.k // 2, self.k // 2), skipped=1)
        (top, bottom), (left, right) = map(self.window.same_padding, (height, width))
        return _Sliding(self.k, self.stride, (top, left), ceil_mode=bottom > top or right > left)

    def _call(self, function: str, shape: Shape, more: str = "") -> Expression:
        sliding = self._sliding(*shape[1:])
        k, stride, (rows, columns) = sliding.k, sliding.stride, sliding.padding
        if self.padding != "same":
            return Expression(f"F.{function}({{0}}, {{kernel}}, {{stride}}, {{padding}}{more})", (k, stride, rows))
        more += ", ceil_mode=True" if sliding.ceil_mode else ""
        more += ")[:, :, 1:, 1:]" if sliding.skipped else ")"
        template = f"F.{function}({{0}}, {{kernel}}, {{stride}}, ({{padding}}, {{padding}}){more}"
        return Expression(template, (k, stride, rows, columns))


@register
@dataclass(frozen=True)
class MaxPool(Pool):
    """The largest value in a window."""

    name: ClassVar[str] = "max_pool"

    def torch(self, *inputs: Shape) -> Expression:
        return self._call("max_pool2d", inputs[0])

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        from torch.nn import functional as F

        (x,) = local.inputs
        k, stride, padding, ceil_mode, skipped = self._sliding(*x.shape[2:])
        _, largest = F.max_pool2d(x, k, stride, padding, ceil_mode=ceil_mode, return_indices=True)
        largest = largest[:, :, skipped:, skipped:]
        zeros = local.hessian.new_zeros(x.shape).flatten(2)
        return (zeros.scatter_add(2, largest.flatten(2), local.hessian.flatten(2)).reshape(x.shape),)


@register
@dataclass(frozen=True)
class AvgPool(Pool):
    """The mean of a window. Padding is not counted."""

    name: ClassVar[str] = "avg_pool"

    def torch(self, *inputs: Shape) -> Expression:
        return self._call("avg_pool2d", inputs[0], ", count_include_pad=False")

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        from torch import ones_like
        from torch.func import vjp
        from torch.nn import functional as F

        k, stride, padding, ceil_mode, skipped = self._sliding(*local.inputs[0].shape[2:])

        def totals(image: Tensor) -> Tensor:
            sums = F.avg_pool2d(image, k, stride, padding, ceil_mode=ceil_mode, divisor_override=1)
            return sums[:, :, skipped:, skipped:]

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
