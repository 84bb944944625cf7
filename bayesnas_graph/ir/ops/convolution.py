"""Layers: operations with weights that mix channels or positions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from bayesnas_graph.ir import Axis, Coupling, Link, Mask, ModuleCall, Op, Shape, ShapeError, numbers
from bayesnas_graph.ir.ops.activation import Relu
from bayesnas_graph.ir.ops.base import both, count, flag, image, pair, plain, register
from bayesnas_graph.ir.ops.curvature import Local, per_channel
from bayesnas_graph.ir.ops.layout import Interleaved, Phases, Subsampled
from bayesnas_graph.ir.ops.padding import Pad, Padding, Pair, Window, padding
from bayesnas_graph.ir.ops.zeros import reached_outputs, read_inputs

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Layer(Op):
    """Base class of layers: they have a `weight`, with filters first, and possibly a `bias`."""

    pure: ClassVar[bool] = False

    @property
    def has_bias(self) -> bool:
        return bool(self.settings()["bias"])

    def nonzero_outputs(self, nonzero: tuple[Mask, ...], tensors: Mapping[str, Any], *inputs: Shape) -> Mask:
        return reached_outputs(tensors, nonzero[0])

    def needed_inputs(self, output: Mask, tensors: Mapping[str, Any], *inputs: Shape) -> tuple[Mask, ...]:
        return (read_inputs(tensors, output, inputs[0][0]),)

    def scale_tensors(self) -> tuple[str, ...]:
        return ("weight", "bias") if self.has_bias else ("weight",)

    def _coupling(self, link: Link) -> Coupling:
        """The coupling with a link; if it is untied, the weight can be sliced along its inputs too."""
        reads = () if link.tied else (Axis("weight", 1, "input"),)
        return Coupling((link,), (Axis("weight", 0), *reads, *((Axis("bias", 0),) if self.has_bias else ())))


class _Form(NamedTuple):
    """A convolution as torch takes it."""

    width: int
    kernel: Pair
    stride: Pair
    padding: Pair
    dilation: Pair
    groups: int
    bias: bool


@dataclass(frozen=True)
class Convolution(Layer):
    """Base class of convolutions: the output is linear in the input and in the weight.

    So a diagonal is propagated with their squares, by the two backward passes of the same convolution:

        h_x = (w^2)^T h_y        h_w = sum over positions of x^2 h_y
    """

    starts_siblings: ClassVar[bool] = True
    weight_axes: ClassVar[str] = "ncmk"

    @property
    def window(self) -> Window:
        """How its window slides."""
        raise NotImplementedError(f"`{self.name}` has no window")

    def form(self, channels: int) -> _Form:
        """How torch computes it on this many channels."""
        raise NotImplementedError(f"`{self.name}` has no form")

    def _padded(self, padding: Padding) -> Op:
        """The same convolution with another padding."""
        return replace(self, padding=padding)  # type: ignore[call-arg]  # every subclass has this field

    def simplified(self) -> Op:
        simple = self.window.simple_padding()
        return self if simple == self.window.padding else self._padded(simple)

    def resolved(self, *inputs: Shape) -> tuple[Op, ...]:
        window = self.window
        if window.padding != "same":
            return (self,)
        _, height, width = image(self, inputs[0])
        high, wide = window.sides
        (top, bottom), (left, right) = high.same_padding(height), wide.same_padding(width)
        if top == bottom and left == right:
            return (self._padded(plain((top, left))),)
        return Pad(top, bottom, left, right), self._padded(0)

    def doubtful(self, *inputs: Shape) -> str | None:
        return self.window.doubtful(self, inputs[0])

    def shape(self, *inputs: Shape) -> Shape:
        channels, height, width = image(self, inputs[0])
        form = self.form(channels)
        for side, size in (("input", channels), ("output", form.width)):
            if size % form.groups:
                groups = f"`{self.label}` has {form.groups} groups"
                raise ShapeError(f"{groups}, which do not divide its {size} {side} channels")
        return form.width, *self.window.positions(self, height, width)

    def parameters(self, *inputs: Shape) -> int:
        channels = inputs[0][0]
        form = self.form(channels)
        return form.width * (channels // form.groups) * prod(both(form.kernel)) + form.width * form.bias

    def flops(self, *inputs: Shape) -> int:
        width, rows, columns = self.shape(*inputs)
        return rows * columns * (self.parameters(*inputs) - width * self.has_bias)

    def operations(self, *inputs: Shape) -> int:
        return 2 * (self.flops(*inputs) + self.stored_values(*inputs))

    def torch(self, *inputs: Shape) -> ModuleCall:
        channels = inputs[0][0]
        width, kernel, stride, padding, dilation, groups, bias = self.form(channels)
        sizes = numbers(channels=channels, width=width, kernel=kernel)
        window = numbers(stride=stride, padding=padding, dilation=dilation, groups=groups, bias=bias)
        return ModuleCall("Conv2d", sizes, window)

    @property
    def saves_inputs(self) -> bool:
        return not self._selects_pixels

    def saved_bytes(self, size: int, *inputs: Shape) -> int:
        return size * inputs[0][0] * prod(self.shape(*inputs)[1:]) if self._selects_pixels else 0

    @property
    def _selects_pixels(self) -> bool:
        """Whether it reads single pixels, and not all of them; the `runtime` copies these first."""
        window = self.window
        return both(window.k) == (1, 1) and both(window.stride) != (1, 1)

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        from torch.nn.grad import conv2d_input

        conv, (x,) = local.module, local.inputs
        return (conv2d_input(x.shape, conv.weight.square(), local.hessian, *_sliding(conv)),)  # type: ignore[no-untyped-call]

    def weight_curvature(self, local: Local) -> dict[str, Tensor]:
        from torch.nn.grad import conv2d_weight

        conv, (x,) = local.module, local.inputs
        total = conv2d_weight(x.square(), conv.weight.shape, local.hessian, *_sliding(conv))  # type: ignore[no-untyped-call]
        shift = {} if conv.bias is None else {"bias": per_channel(local.hessian)}
        return {"weight": total / len(x), **shift}

    def coupling(self, *inputs: Shape) -> Coupling:
        channels = inputs[0][0]
        form = self.form(channels)
        # Groups must have equal sizes, so a group is removed as a whole, with its part of the weight.
        tied = self.by_channel or form.groups > 1
        return self._coupling(Link(form.groups, channels // form.groups, form.width // form.groups, tied=tied))


@register
@dataclass(frozen=True)
class Conv(Convolution):
    """A convolution. Without `width` it keeps the number of channels.

    `padding` is a number, "same" for a size of ceil(n / stride), or "valid" for none. Without it, odd kernels have same
    padding, and even kernels no larger than the stride have none. Numbers for height and width may differ: `[1, 7]`.
    """

    name: ClassVar[str] = "conv"
    always_shown: ClassVar[tuple[str, ...]] = ("k",)

    width: int | None = count(absent="same")
    k: Pair = pair(3)
    stride: Pair = pair(1)
    groups: int = count(1)
    dilation: Pair = pair(1)
    padding: Padding = padding()
    bias: bool = flag(False)

    @property
    def reads_all_channels(self) -> bool:
        return self.groups == 1

    @property
    def window(self) -> Window:
        return Window(self.k, self.stride, self.padding, self.dilation)

    def form(self, channels: int) -> _Form:
        width, padding = self.width or channels, plain(self.window.equal_padding())
        return _Form(width, self.k, self.stride, padding, self.dilation, self.groups, self.bias)

    def narrowed(self, inputs: tuple[Mask, ...], output: Mask) -> Conv:
        (mask,) = inputs
        groups = self.groups * sum(mask) // len(mask) if self.groups > 1 else 1
        return replace(self, width=sum(output), groups=groups)

    def widened(self, width: int, groups: int) -> Conv:
        return replace(self, width=width, groups=self.groups * groups)

    def one_of(self, count: int, width: int) -> Conv | None:
        return None if self.groups % count else replace(self, width=width // count, groups=self.groups // count)

    def absorbing(self, before: Op) -> Op | None:
        return ReluConv(**vars(self)) if before == Relu() else None


@register
@dataclass(frozen=True)
class Depthwise(Convolution):
    """A convolution of each channel by itself, into `multiplier` channels each."""

    name: ClassVar[str] = "depthwise"
    by_channel: ClassVar[bool] = True
    always_shown: ClassVar[tuple[str, ...]] = ("k",)

    k: Pair = pair(3)
    stride: Pair = pair(1)
    dilation: Pair = pair(1)
    multiplier: int = count(1)
    padding: Padding = padding()
    bias: bool = flag(False)

    @property
    def window(self) -> Window:
        return Window(self.k, self.stride, self.padding, self.dilation)

    def form(self, channels: int) -> _Form:
        width, padding = channels * self.multiplier, plain(self.window.equal_padding())
        return _Form(width, self.k, self.stride, padding, self.dilation, channels, self.bias)

    def absorbing(self, before: Op) -> Op | None:
        return ReluDepthwise(**vars(self)) if before == Relu() else None

    def undilated(self, *inputs: Shape) -> tuple[Op, Op, Op | None] | None:
        step, stride, (shape,) = self.dilation, self.stride, inputs
        if isinstance(step, tuple) or isinstance(stride, tuple) or step == 1:
            return None
        high, wide = self.window.equal_padding()
        if high % step or wide % step:
            return None
        dense = replace(self, dilation=1, padding=plain((high // step, wide // step)))
        if stride == 1 and self.shape(shape)[1:] == shape[1:] and not any(size % step for size in shape[1:]):
            return Phases(step), dense, Interleaved(step)
        before, dense = Subsampled(step), replace(dense, stride=max(1, stride // step))
        if stride % step == 0 and dense.shape(before.shape(shape)) == self.shape(shape):
            return before, dense, None
        return None


@dataclass(frozen=True)
class AfterRelu(Convolution):
    """A convolution of the ReLU of its input, which is recomputed in the backward pass instead of being stored."""

    def torch(self, *inputs: Shape) -> ModuleCall:
        return replace(super().torch(*inputs), target="ReluConv2d", package="runtime")

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        (of_relu,) = super().curvature(local)
        return (of_relu * (local.inputs[0] > 0),)

    def weight_curvature(self, local: Local) -> dict[str, Tensor]:
        return super().weight_curvature(replace(local, inputs=(local.inputs[0].relu(),)))

    def absorbing(self, before: Op) -> Op | None:
        return None


@dataclass(frozen=True)
class ReluConv(AfterRelu, Conv):
    """`relu > conv`. Not available in the language."""

    name: ClassVar[str] = "relu_conv"

    @property
    def label(self) -> str:
        return Conv.name


@dataclass(frozen=True)
class ReluDepthwise(AfterRelu, Depthwise):
    """`relu > depthwise`. Not available in the language."""

    name: ClassVar[str] = "relu_depthwise"

    @property
    def label(self) -> str:
        return Depthwise.name


def _sliding(conv: Any) -> tuple[Any, ...]:
    """How the window of a built convolution moves, as `torch.nn.grad` takes it."""
    return conv.stride, conv.padding, conv.dilation, conv.groups
