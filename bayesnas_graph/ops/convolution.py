"""Operations with weights that mix channels or positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bayesnas_graph.ir import ModuleCall, Op, Shape, ShapeError
from bayesnas_graph.ops.base import count, flag, image, register, same, vector, window


@register
@dataclass(frozen=True)
class Conv(Op):
    """A square convolution. Without `width` it keeps the number of channels, without `padding` the size at stride 1."""

    name: ClassVar[str] = "conv"
    pure: ClassVar[bool] = False

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

    def torch(self, *inputs: Shape) -> ModuleCall:
        channels = inputs[0][0]
        settings = _settings(self.stride, self.k, self.padding, self.dilation, self.groups, self.bias)
        return ModuleCall("Conv2d", (channels, self.width or channels, self.k), settings)


@register
@dataclass(frozen=True)
class Depthwise(Op):
    """A convolution of each channel by itself, into `multiplier` channels each."""

    name: ClassVar[str] = "depthwise"
    pure: ClassVar[bool] = False

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

    def torch(self, *inputs: Shape) -> ModuleCall:
        channels = inputs[0][0]
        settings = _settings(self.stride, self.k, self.padding, self.dilation, channels, self.bias)
        return ModuleCall("Conv2d", (channels, channels * self.multiplier, self.k), settings)


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

    def torch(self, *inputs: Shape) -> ModuleCall:
        (features,) = inputs[0]
        return ModuleCall("Linear", (features, self.width or features), () if self.bias else (("bias", False),))


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
