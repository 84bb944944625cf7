"""Windows that slide over sequences: convolutions, pools and padding in one dimension."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from bayesnas_graph.ir import Coupling, Expression, Link, Mask, ModuleCall, Op, Shape, ShapeError, numbers
from bayesnas_graph.ir.ops.base import INDEX, ChannelByChannel, count, flag, register, sequence
from bayesnas_graph.ir.ops.convolution import Layer
from bayesnas_graph.ir.ops.curvature import Local, per_channel
from bayesnas_graph.ir.ops.padding import Side, SidePadding, padding

if TYPE_CHECKING:
    from torch import Tensor


@register
@dataclass(frozen=True)
class Pad1d(ChannelByChannel):
    """The sequence with zeros before and after it."""

    name: ClassVar[str] = "pad1d"

    left: int = count(0, minimum=0)
    right: int = count(0, minimum=0)

    def shape(self, *inputs: Shape) -> Shape:
        channels, length = sequence(self, inputs[0])
        return channels, length + self.left + self.right

    def torch(self, *inputs: Shape) -> Expression:
        return Expression("F.pad({0}, ({left}, {right}))", (self.left, self.right))

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        return (local.hessian[:, :, self.left : self.left + local.inputs[0].shape[2]],)


@dataclass(frozen=True)
class Sliding(Op):
    """Base class of operations with a window that slides over a sequence."""

    always_shown: ClassVar[tuple[str, ...]] = ("k",)

    @property
    def window(self) -> Side:
        """How its window slides."""
        raise NotImplementedError(f"`{self.name}` has no window")

    def positions(self, length: int) -> int:
        """The number of positions of the window."""
        return self.window.positions(self, length, "sequence has only {} positions")

    def simplified(self) -> Op:
        simple = self.window.simple_padding()
        return self if simple == self.window.padding else self._padded(simple)

    def doubtful(self, *inputs: Shape) -> str | None:
        window = self.window
        if window.padding is not None or window.reach % 2 or window.stride > 1:
            return None
        sizes = f"from {inputs[0][1]} to {self.shape(*inputs)[1]}"
        return f"`{self.name}` with an even window of {window.reach} makes the sequence shorter, {sizes}"

    def _padded(self, padding: SidePadding) -> Op:
        """The same operation with another padding."""
        return replace(self, padding=padding)  # type: ignore[call-arg]  # every subclass has this field


# ------------------------------------------------------------------------------ convolutions


class _Form(NamedTuple):
    """A convolution as torch takes it, without its window."""

    width: int
    kernel: int
    dilation: int
    groups: int


@dataclass(frozen=True)
class Convolution1d(Sliding, Layer):
    """Base class of convolutions of sequences; see `Convolution` for the rules."""

    starts_siblings: ClassVar[bool] = True
    weight_axes: ClassVar[str] = "nck"

    def form(self, channels: int) -> _Form:
        """How torch computes it on this many channels."""
        raise NotImplementedError(f"`{self.name}` has no form")

    def resolved(self, *inputs: Shape) -> tuple[Op, ...]:
        if self.window.padding != "same":
            return (self,)
        left, right = self.window.same_padding(sequence(self, inputs[0])[1])
        return (self._padded(left),) if left == right else (Pad1d(left, right), self._padded(0))

    def shape(self, *inputs: Shape) -> Shape:
        channels, length = sequence(self, inputs[0])
        form = self.form(channels)
        for side, size in (("input", channels), ("output", form.width)):
            if size % form.groups:
                groups = f"`{self.name}` has {form.groups} groups"
                raise ShapeError(f"{groups}, which do not divide its {size} {side} channels")
        return form.width, self.positions(length)

    def parameters(self, *inputs: Shape) -> int:
        channels = inputs[0][0]
        form = self.form(channels)
        return form.width * (channels // form.groups) * form.kernel + form.width * self.has_bias

    def flops(self, *inputs: Shape) -> int:
        width, length = self.shape(*inputs)
        return length * (self.parameters(*inputs) - width * self.has_bias)

    def operations(self, *inputs: Shape) -> int:
        return 2 * (self.flops(*inputs) + self.stored_values(*inputs))

    def torch(self, *inputs: Shape) -> ModuleCall:
        channels, window = inputs[0][0], self.window
        width, kernel, dilation, groups = self.form(channels)
        sizes = numbers(channels=channels, width=width, kernel=kernel)
        sliding = numbers(stride=window.stride, padding=window.equal_padding(), dilation=dilation)
        return ModuleCall("Conv1d", sizes, (*sliding, *numbers(groups=groups, bias=self.has_bias)))

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        from torch.nn.grad import conv1d_input

        conv, (x,) = local.module, local.inputs
        return (conv1d_input(x.shape, conv.weight.square(), local.hessian, *_settings(conv)),)  # type: ignore[no-untyped-call]

    def weight_curvature(self, local: Local) -> dict[str, Tensor]:
        from torch.nn.grad import conv1d_weight

        conv, (x,) = local.module, local.inputs
        total = conv1d_weight(x.square(), conv.weight.shape, local.hessian, *_settings(conv))  # type: ignore[no-untyped-call]
        shift = {} if conv.bias is None else {"bias": per_channel(local.hessian)}
        return {"weight": total / len(x), **shift}

    def coupling(self, *inputs: Shape) -> Coupling:
        channels = inputs[0][0]
        form = self.form(channels)
        tied = self.by_channel or form.groups > 1  # groups must have equal sizes, so a group is removed as a whole
        return self._coupling(Link(form.groups, channels // form.groups, form.width // form.groups, tied=tied))


@register
@dataclass(frozen=True)
class Conv1d(Convolution1d):
    """A convolution of a sequence. Without `width` it keeps the number of channels; `padding` is as in `conv`."""

    name: ClassVar[str] = "conv1d"

    width: int | None = count(absent="same")
    k: int = count(3)
    stride: int = count(1)
    groups: int = count(1)
    dilation: int = count(1)
    padding: SidePadding = padding(is_pair=False)
    bias: bool = flag(False)

    @property
    def reads_all_channels(self) -> bool:
        return self.groups == 1

    @property
    def window(self) -> Side:
        return Side(self.dilation * (self.k - 1) + 1, self.stride, self.padding)

    def form(self, channels: int) -> _Form:
        return _Form(self.width or channels, self.k, self.dilation, self.groups)

    def narrowed(self, inputs: tuple[Mask, ...], output: Mask) -> Conv1d:
        (mask,) = inputs
        groups = self.groups * sum(mask) // len(mask) if self.groups > 1 else 1
        return replace(self, width=sum(output), groups=groups)

    def widened(self, width: int, groups: int) -> Conv1d:
        return replace(self, width=width, groups=self.groups * groups)

    def one_of(self, count: int, width: int) -> Conv1d | None:
        return None if self.groups % count else replace(self, width=width // count, groups=self.groups // count)


@register
@dataclass(frozen=True)
class Depthwise1d(Convolution1d):
    """A convolution of each channel of a sequence by itself, into `multiplier` channels each."""

    name: ClassVar[str] = "depthwise1d"
    by_channel: ClassVar[bool] = True

    k: int = count(3)
    stride: int = count(1)
    dilation: int = count(1)
    multiplier: int = count(1)
    padding: SidePadding = padding(is_pair=False)
    bias: bool = flag(False)

    @property
    def window(self) -> Side:
        return Side(self.dilation * (self.k - 1) + 1, self.stride, self.padding)

    def form(self, channels: int) -> _Form:
        return _Form(channels * self.multiplier, self.k, self.dilation, channels)


def _settings(conv: Any) -> tuple[Any, ...]:
    """How the window of a built convolution moves, as `torch.nn.grad` takes it."""
    return conv.stride, conv.padding, conv.dilation, conv.groups


# ------------------------------------------------------------------------------------- pools


@dataclass(frozen=True)
class Pool1d(Sliding, ChannelByChannel):
    """Base class of pools: a window slides over each channel of a sequence."""

    by_channel: ClassVar[bool] = True
    function: ClassVar[str]
    more: ClassVar[str] = ""  # further arguments of the function

    k: int = count(3)
    stride: int = count(1)
    padding: SidePadding = padding(is_pair=False)

    @property
    def saves_inputs(self) -> bool:
        return True

    @property
    def window(self) -> Side:
        return Side(self.k, self.stride, self.padding)

    def shape(self, *inputs: Shape) -> Shape:
        channels, length = sequence(self, inputs[0])
        if self.padding != "same" and 2 * self.window.equal_padding() > self.k:
            padding = self.window.equal_padding()
            raise ShapeError(f"`{self.name}` has a padding of {padding}, more than half its window of {self.k}")
        return channels, self.positions(length)

    def torch(self, *inputs: Shape) -> Expression:
        padding, ceil_mode, skipped = self._sliding(inputs[0][1])
        end = f"{self.more}{', ceil_mode=True' * ceil_mode}){'[:, :, 1:]' * skipped}"
        template = f"F.{self.function}({{0}}, {{kernel}}, {{stride}}, {{padding}}{end}"
        return Expression(template, (self.k, self.stride, padding))

    def _sliding(self, length: int) -> tuple[int, bool, int]:
        """As torch takes it: the padding, whether a window may extend beyond it, and the results to leave out."""
        if self.padding != "same":
            return self.window.equal_padding(), False, 0
        if self.stride == 1:  # torch pads equally on both sides: drop the first result
            return self.k // 2, False, 1
        left, right = self.window.same_padding(length)
        return left, right > left, 0


@register
@dataclass(frozen=True)
class MaxPool1d(Pool1d):
    """The largest value in a window of a sequence."""

    name: ClassVar[str] = "max_pool1d"
    function: ClassVar[str] = "max_pool1d"

    def saved_bytes(self, size: int, *inputs: Shape) -> int:
        return INDEX * prod(self.shape(*inputs))  # where the largest values are

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        from torch.nn import functional as F

        (x,) = local.inputs
        padding, ceil_mode, skipped = self._sliding(x.shape[2])
        _, largest = F.max_pool1d(x, self.k, self.stride, padding, ceil_mode=ceil_mode, return_indices=True)
        zeros = local.hessian.new_zeros(x.shape)
        return (zeros.scatter_add(2, largest[:, :, skipped:], local.hessian),)


@register
@dataclass(frozen=True)
class AvgPool1d(Pool1d):
    """The mean of a window of a sequence. Padding is not counted."""

    name: ClassVar[str] = "avg_pool1d"
    function: ClassVar[str] = "avg_pool1d"
    more: ClassVar[str] = ", count_include_pad=False"

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        from torch import ones_like
        from torch.func import vjp
        from torch.nn import functional as F

        (x,) = local.inputs
        padding, ceil_mode, skipped = self._sliding(x.shape[2])
        window = (1, self.k), (1, self.stride), (0, padding)

        def totals(values: Tensor) -> Tensor:  # as images with one row, because only their pools can add up
            sums = F.avg_pool2d(values[:, :, None], *window, ceil_mode=ceil_mode, divisor_override=1)
            return sums[:, :, 0, skipped:]

        # A window divides by the number of its values, fewer at the ends; a total divides by 1.
        sizes, pull_back = vjp(totals, ones_like(x))[:2]
        return tuple(pull_back(local.hessian / sizes.square()))
