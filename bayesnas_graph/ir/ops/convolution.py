"""Operations with weights that mix channels or positions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from bayesnas_graph.ir import Axis, Coupling, Kept, Link, ModuleCall, Op, Shape, ShapeError
from bayesnas_graph.ir.ops.base import count, flag, image, register, same, vector, window
from bayesnas_graph.ir.ops.curvature import Local, per_channel
from bayesnas_graph.ir.ops.zeros import carried, needed

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Convolution(Op):
    """What the convolutions have in common: the output is linear in the input and in the weight.

    So a diagonal passes through their squares, by the two backward passes of the same convolution:

        h_x = (w^2)^T h_y        h_w = sum over positions of x^2 h_y
    """

    pure: ClassVar[bool] = False

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        from torch.nn.grad import conv2d_input

        conv, (x,) = local.module, local.inputs
        handed = conv2d_input(x.shape, conv.weight.square(), local.hessian, *_sliding(conv))  # type: ignore[no-untyped-call]
        return (handed,)

    def weight_curvature(self, local: Local) -> dict[str, Tensor]:
        from torch.nn.grad import conv2d_weight

        conv, (x,) = local.module, local.inputs
        total = conv2d_weight(x.square(), conv.weight.shape, local.hessian, *_sliding(conv))  # type: ignore[no-untyped-call]
        shift = {} if conv.bias is None else {"bias": per_channel(local.hessian)}
        return {"weight": total / len(x), **shift}

    def carries(self, arriving: tuple[Kept, ...], tensors: Mapping[str, Any], *inputs: Shape) -> Kept:
        return carried(tensors, arriving[0])

    def needs(self, output: Kept, tensors: Mapping[str, Any], *inputs: Shape) -> tuple[Kept, ...]:
        return (needed(tensors, output, inputs[0][0]),)

    def scaled_by(self) -> tuple[str, ...]:
        return ("weight", "bias") if getattr(self, "bias", False) else ("weight",)


@register
@dataclass(frozen=True)
class Conv(Convolution):
    """A square convolution. Without `width` it keeps the number of channels, without `padding` the size at stride 1."""

    name: ClassVar[str] = "conv"

    width: int | None = count(absent="same")
    k: int = count(3)
    stride: int = count(1)
    groups: int = count(1)
    dilation: int = count(1)
    padding: int | None = count(absent="same", minimum=0)
    bias: bool = flag(False)

    def shape(self, *inputs: Shape) -> Shape:
        channels, *sizes = image(self, inputs[0])
        out = self.width or channels
        for side, size in (("input", channels), ("output", out)):
            if size % self.groups:
                raise ShapeError(f"`conv` has {self.groups} groups, which do not divide its {size} {side} channels")
        padding = same(self.k, self.dilation) if self.padding is None else self.padding
        rows, columns = (window(self, n, self.k, self.stride, padding, self.dilation) for n in sizes)
        return out, rows, columns

    def parameters(self, *inputs: Shape) -> int:
        channels = inputs[0][0]
        out = self.width or channels
        return out * (channels // self.groups) * self.k**2 + out * self.bias

    def flops(self, *inputs: Shape) -> int:
        _, rows, columns = self.shape(*inputs)
        return rows * columns * (self.parameters(*inputs) - (self.width or inputs[0][0]) * self.bias)

    def operations(self, *inputs: Shape) -> int:
        out, rows, columns = self.shape(*inputs)
        return 2 * rows * columns * (inputs[0][0] // self.groups * self.k**2 + 1) * out

    def torch(self, *inputs: Shape) -> ModuleCall:
        channels = inputs[0][0]
        settings = _settings(self.stride, self.k, self.padding, self.dilation, self.groups, self.bias)
        return ModuleCall("Conv2d", (channels, self.width or channels, self.k), settings)

    def coupling(self, *inputs: Shape) -> Coupling:
        channels, out = inputs[0][0], self.shape(*inputs)[0]
        link = Link(self.groups, channels // self.groups, out // self.groups, tied=self.groups > 1)
        # Groups must stay of one size, so that a group goes as a whole, and what it reads of the weight with it.
        reads = () if link.tied else (Axis("weight", 1, "input"),)
        return Coupling((link,), (Axis("weight", 0), *reads, *_bias(self.bias)))

    def narrowed(self, inputs: tuple[Kept, ...], output: Kept) -> Conv:
        (kept,) = inputs
        groups = self.groups * sum(kept) // len(kept) if self.groups > 1 else 1
        return replace(self, width=sum(output), groups=groups)


@register
@dataclass(frozen=True)
class Depthwise(Convolution):
    """A convolution of each channel by itself, into `multiplier` channels each."""

    name: ClassVar[str] = "depthwise"

    k: int = count(3)
    stride: int = count(1)
    dilation: int = count(1)
    multiplier: int = count(1)
    padding: int | None = count(absent="same", minimum=0)
    bias: bool = flag(False)

    def shape(self, *inputs: Shape) -> Shape:
        channels, *sizes = image(self, inputs[0])
        padding = same(self.k, self.dilation) if self.padding is None else self.padding
        rows, columns = (window(self, n, self.k, self.stride, padding, self.dilation) for n in sizes)
        return channels * self.multiplier, rows, columns

    def parameters(self, *inputs: Shape) -> int:
        out = inputs[0][0] * self.multiplier
        return out * self.k**2 + out * self.bias

    def flops(self, *inputs: Shape) -> int:
        out, rows, columns = self.shape(*inputs)
        return out * rows * columns * self.k**2

    def operations(self, *inputs: Shape) -> int:
        out, rows, columns = self.shape(*inputs)
        return 2 * rows * columns * (self.k**2 + 1) * out

    def torch(self, *inputs: Shape) -> ModuleCall:
        channels = inputs[0][0]
        settings = _settings(self.stride, self.k, self.padding, self.dilation, channels, self.bias)
        return ModuleCall("Conv2d", (channels, channels * self.multiplier, self.k), settings)

    def coupling(self, *inputs: Shape) -> Coupling:
        link = Link(inputs[0][0], outputs=self.multiplier)
        return Coupling((link,), (Axis("weight", 0), *_bias(self.bias)))


@register
@dataclass(frozen=True)
class Linear(Op):
    """A dense layer on a vector. Without `width` it keeps the length."""

    name: ClassVar[str] = "linear"
    pure: ClassVar[bool] = False

    width: int | None = count(absent="same")
    bias: bool = flag(True)

    def shape(self, *inputs: Shape) -> Shape:
        features = vector(self, inputs[0])
        return (self.width or features,)

    def parameters(self, *inputs: Shape) -> int:
        (features,) = inputs[0]
        out = self.width or features
        return features * out + out * self.bias

    def flops(self, *inputs: Shape) -> int:
        (features,) = inputs[0]
        return features * (self.width or features)

    def operations(self, *inputs: Shape) -> int:
        (features,) = inputs[0]
        return (2 * features - 1) * (self.width or features)

    def torch(self, *inputs: Shape) -> ModuleCall:
        (features,) = inputs[0]
        return ModuleCall("Linear", (features, self.width or features), () if self.bias else (("bias", False),))

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        return (local.hessian @ local.module.weight.square(),)

    def weight_curvature(self, local: Local) -> dict[str, Tensor]:
        (x,) = local.inputs
        shift = {"bias": per_channel(local.hessian)} if self.bias else {}
        return {"weight": local.hessian.T @ x.square() / len(x), **shift}

    def coupling(self, *inputs: Shape) -> Coupling:
        link = Link(1, inputs[0][0], self.shape(*inputs)[0], tied=False)
        return Coupling((link,), (Axis("weight", 0), Axis("weight", 1, "input"), *_bias(self.bias)))

    def narrowed(self, inputs: tuple[Kept, ...], output: Kept) -> Linear:
        return replace(self, width=sum(output))

    def carries(self, arriving: tuple[Kept, ...], tensors: Mapping[str, Any], *inputs: Shape) -> Kept:
        return carried(tensors, arriving[0])

    def needs(self, output: Kept, tensors: Mapping[str, Any], *inputs: Shape) -> tuple[Kept, ...]:
        return (needed(tensors, output, inputs[0][0]),)

    def scaled_by(self) -> tuple[str, ...]:
        return ("weight", "bias") if self.bias else ("weight",)


def _settings(
    stride: int, k: int, padding: int | None, dilation: int, groups: int, bias: bool
) -> tuple[tuple[str, int | bool], ...]:
    """The keywords of a convolution that differ from those of torch."""
    given = {
        "stride": (stride, 1),
        "padding": (same(k, dilation) if padding is None else padding, 0),
        "dilation": (dilation, 1),
        "groups": (groups, 1),
        "bias": (bias, True),
    }
    return tuple((name, value) for name, (value, default) in given.items() if value != default)


def _sliding(conv: Any) -> tuple[Any, ...]:
    """How the window of a built convolution moves, as `torch.nn.grad` takes it."""
    return conv.stride, conv.padding, conv.dilation, conv.groups


def _bias(present: bool) -> tuple[Axis, ...]:
    return (Axis("bias", 0),) if present else ()
