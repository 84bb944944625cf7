"""Operations without weights that change size or layout."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from bayesnas_graph.ir import Coupling, Expression, Link, Mask, Op, Shape, ShapeError, named_shape
from bayesnas_graph.ir.ops.base import INDEX, ChannelByChannel, both, count, image, pair, plain, register
from bayesnas_graph.ir.ops.curvature import Local, along_channels, handed_to
from bayesnas_graph.ir.ops.padding import Padding, Pair, Side, Window, padding

if TYPE_CHECKING:
    from torch import Tensor


class _Sliding(NamedTuple):
    """A window as torch takes it: pairs are for the height and the width."""

    k: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int]  # above and below, left and right
    ceil_mode: bool  # whether the last window may extend beyond the padding
    skipped: tuple[int, int] = (0, 0)  # rows and columns of results to leave out at the start
    most: tuple[int | None, int | None] = (None, None)  # rows and columns of results, if there are too many

    def kept(self, results: Tensor) -> Tensor:
        """The results that count."""
        rows, columns = map(slice, self.skipped, self.most)
        return results[:, :, rows, columns]


@dataclass(frozen=True)
class Pool(ChannelByChannel):
    """Base class of pools: a window slides over each channel."""

    by_channel: ClassVar[bool] = True
    always_shown: ClassVar[tuple[str, ...]] = ("k",)

    k: Pair = pair(3)
    stride: Pair = pair(1)
    padding: Padding = padding()

    @property
    def saves_inputs(self) -> bool:
        return True

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
        if self.padding != "same":
            for padding, k in zip(self.window.equal_padding(), both(self.k), strict=True):
                if 2 * padding > k:
                    raise ShapeError(f"`{self.name}` has a padding of {padding}, more than half its window of {k}")
        return channels, *self.window.positions(self, height, width)

    def _sliding(self, height: int, width: int) -> _Sliding:
        k, stride = both(self.k), both(self.stride)
        if self.padding != "same":
            return _Sliding(k, stride, self.window.equal_padding(), ceil_mode=False)
        before, after, skipped = zip(*map(_same, self.window.sides, (height, width)), strict=True)
        is_uneven = before != after
        # Where only one side is uneven, the other may get one result too many.
        rows, columns = (
            -(-size // side.stride) if is_uneven and side.reach % 2 and side.stride > 1 else None
            for side, size in zip(self.window.sides, (height, width), strict=True)
        )
        return _Sliding(k, stride, before, is_uneven, skipped, (rows, columns))

    def _call(self, function: str, shape: Shape, more: str = "", helper: str | None = None) -> Expression:
        sliding = self._sliding(*shape[1:])
        rows, columns = sliding.padding
        if self.padding != "same":
            values = self.k, self.stride, plain((rows, columns))
            return Expression(f"{function}({{0}}, {{kernel}}, {{stride}}, {{padding}}{more})", values, helper)
        more += ", ceil_mode=True)" if sliding.ceil_mode else ")"
        stops = [stop for stop in sliding.most if stop is not None]
        if stops or any(sliding.skipped):
            kept = zip(sliding.skipped, sliding.most, strict=True)
            sides = ", ".join(f"{'1' * skipped}:{'{number}' * (stop is not None)}" for skipped, stop in kept)
            more += f"[:, :, {sides}]"
        template = f"{function}({{0}}, {{kernel}}, {{stride}}, ({{padding}}, {{padding}}){more}"
        return Expression(template, (self.k, self.stride, rows, columns, *stops), helper)


def _same(side: Side, size: int) -> tuple[int, int, int]:
    """The padding before and after an image for "same", and how many results to leave out at the start.

    torch pads equally on both sides: an even window with a stride of 1 gets one result too many.
    """
    if side.stride == 1 and side.reach % 2 == 0:
        return side.reach // 2, side.reach // 2, 1
    return *side.same_padding(size), 0


@register
@dataclass(frozen=True)
class MaxPool(Pool):
    """The largest value in a window."""

    name: ClassVar[str] = "max_pool"

    def saved_bytes(self, size: int, *inputs: Shape) -> int:
        return INDEX * prod(self.shape(*inputs))  # where the largest values are

    def torch(self, *inputs: Shape) -> Expression:
        return self._call("F.max_pool2d", inputs[0])

    def light_form(self) -> Op:
        return LightMaxPool(**vars(self))

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        from torch.nn import functional as F

        (x,) = local.inputs
        k, stride, padding, ceil_mode, *_ = sliding = self._sliding(*x.shape[2:])
        _, largest = F.max_pool2d(x, k, stride, padding, ceil_mode=ceil_mode, return_indices=True)
        return (handed_to(sliding.kept(largest), local.hessian, x),)


@dataclass(frozen=True)
class LightMaxPool(MaxPool):
    """A maximum pool that does not store where the largest values are. Not available in the language."""

    name: ClassVar[str] = "light_max_pool"

    @property
    def label(self) -> str:
        return MaxPool.name

    def saved_bytes(self, size: int, *inputs: Shape) -> int:
        return 0

    def torch(self, *inputs: Shape) -> Expression:
        return self._call("light_max_pool2d", inputs[0], helper="light_max_pool2d")

    def light_form(self) -> Op:
        return self


@register
@dataclass(frozen=True)
class AvgPool(Pool):
    """The mean of a window. Padding is not counted."""

    name: ClassVar[str] = "avg_pool"

    def torch(self, *inputs: Shape) -> Expression:
        return self._call("F.avg_pool2d", inputs[0], ", count_include_pad=False")

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        from torch import ones_like
        from torch.func import vjp
        from torch.nn import functional as F

        k, stride, padding, ceil_mode, *_ = sliding = self._sliding(*local.inputs[0].shape[2:])

        def totals(image: Tensor) -> Tensor:
            return sliding.kept(F.avg_pool2d(image, k, stride, padding, ceil_mode=ceil_mode, divisor_override=1))

        # A window divides by the number of its pixels, fewer at the border; a total divides by 1.
        (x,) = local.inputs
        pixels, pull_back = vjp(totals, ones_like(x))[:2]
        return tuple(pull_back(local.hessian / pixels.square()))


@dataclass(frozen=True)
class GlobalPool(ChannelByChannel):
    """Base class of global pools: an image or a sequence becomes a vector with one value per channel."""

    def shape(self, *inputs: Shape) -> Shape:
        if len(inputs[0]) == 1:
            raise ShapeError(f"`{self.name}` needs an image or a sequence, got {named_shape(inputs[0])}")
        return inputs[0][:1]

    def _axes(self, shape: Shape) -> str:
        """The axes of the positions in a batch."""
        return "(2, 3)" if len(shape) == 3 else "2"


@register
@dataclass(frozen=True)
class GlobalAvgPool(GlobalPool):
    """The mean of each channel: an image or a sequence becomes a vector."""

    name: ClassVar[str] = "global_avg_pool"

    def torch(self, *inputs: Shape) -> Expression:
        return Expression(f"{{0}}.mean({self._axes(inputs[0])})")

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        (x,) = local.inputs
        pixels = prod(x.shape[2:])
        return (along_channels(local.hessian / pixels**2, x).expand(x.shape),)


@register
@dataclass(frozen=True)
class GlobalMaxPool(GlobalPool):
    """The largest value of each channel: an image or a sequence becomes a vector."""

    name: ClassVar[str] = "global_max_pool"
    saves_output: ClassVar[bool] = True

    @property
    def saves_inputs(self) -> bool:
        return True

    def torch(self, *inputs: Shape) -> Expression:
        return Expression(f"{{0}}.amax({self._axes(inputs[0])})")

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        (x,) = local.inputs
        largest = x.flatten(2).argmax(2, keepdim=True)
        return (handed_to(largest, local.hessian[:, :, None], x),)


@register
@dataclass(frozen=True)
class Flatten(Op):
    """An image or a sequence as one long vector, channel by channel."""

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

    def is_view(self, *inputs: Shape) -> bool:
        return len(inputs[0]) == 1  # channels come last in memory

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
