"""Convolutions that enlarge an image."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

from bayesnas_graph.ir import Axis, Coupling, Link, Mask, ModuleCall, Op, Shape, ShapeError, numbers
from bayesnas_graph.ir.ops.base import both, count, flag, image, pair, plain, register
from bayesnas_graph.ir.ops.convolution import Layer
from bayesnas_graph.ir.ops.curvature import Local, per_channel
from bayesnas_graph.ir.ops.padding import Padding, Pair, padding

if TYPE_CHECKING:
    from torch import Tensor


@register
@dataclass(frozen=True)
class ConvTranspose(Layer):
    """A transposed convolution: every pixel becomes a window of `k` pixels, and windows that overlap are added.

    Without `padding`, or with "same", the image becomes `stride` times as large. A number of pixels is removed on all
    sides, and with "valid" none. Without `width` it keeps the number of channels.
    """

    name: ClassVar[str] = "conv_transpose"
    weight_axes: ClassVar[str] = "cnmk"
    always_shown: ClassVar[tuple[str, ...]] = ("k",)

    width: int | None = count(absent="same")
    k: Pair = pair(2)
    stride: Pair = pair(2)
    padding: Padding = padding()
    bias: bool = flag(False)

    def simplified(self) -> Op:
        usual = {"same": None, "valid": 0}
        return replace(self, padding=usual[self.padding]) if isinstance(self.padding, str) else self

    def shape(self, *inputs: Shape) -> Shape:
        channels, *sizes = image(self, inputs[0])
        if self.padding is None and any(
            k % 2 == 0 and s == 1 for k, s in zip(both(self.k), both(self.stride), strict=True)
        ):
            raise ShapeError(
                f"`{self.name}` with an even window and a stride of 1 cannot keep the size: give a `padding`"
            )
        after = []
        for size, k, stride, (removed, added) in zip(
            sizes, both(self.k), both(self.stride), self._edges(), strict=True
        ):
            after.append((size - 1) * stride + k - 2 * removed + added)
        if min(after) < 1:
            raise ShapeError(f"`{self.name}` has a padding that removes the whole image")
        return self.width or channels, *after

    def _edges(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """For height and width, the pixels that are removed on both sides, and those added at the end."""
        if self.padding is not None and not isinstance(self.padding, str):
            top, left = both(self.padding)
            return (top, 0), (left, 0)
        high, wide = (_enlarging(k, stride) for k, stride in zip(both(self.k), both(self.stride), strict=True))
        return high, wide

    def parameters(self, *inputs: Shape) -> int:
        channels = inputs[0][0]
        width = self.width or channels
        return channels * width * prod(both(self.k)) + width * self.bias

    def flops(self, *inputs: Shape) -> int:
        """Every pixel of the input is multiplied with every weight of its channel."""
        channels, rows, columns = inputs[0]
        return rows * columns * channels * (self.width or channels) * prod(both(self.k))

    def operations(self, *inputs: Shape) -> int:
        return 2 * (self.flops(*inputs) + self.stored_values(*inputs))

    def torch(self, *inputs: Shape) -> ModuleCall:
        channels = inputs[0][0]
        (top, more_rows), (left, more_columns) = self._edges()
        sizes = numbers(channels=channels, width=self.width or channels, kernel=self.k)
        window = numbers(
            stride=self.stride,
            padding=plain((top, left)),
            output_padding=plain((more_rows, more_columns)),
            bias=self.bias,
        )
        return ModuleCall("ConvTranspose2d", sizes, window)

    # It is the backward pass of a convolution, so its own backward passes are a convolution and that of its weight.

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        from torch.nn import functional as F

        conv = local.module
        return (F.conv2d(local.hessian, conv.weight.square(), None, conv.stride, conv.padding),)

    def weight_curvature(self, local: Local) -> dict[str, Tensor]:
        from torch.nn.grad import conv2d_weight

        conv, (x,) = local.module, local.inputs
        total = conv2d_weight(local.hessian, conv.weight.shape, x.square(), conv.stride, conv.padding)  # type: ignore[no-untyped-call]
        shift = {"bias": per_channel(local.hessian)} if self.bias else {}
        return {"weight": total / len(x), **shift}

    def coupling(self, *inputs: Shape) -> Coupling:
        axes = (Axis("weight", 1), Axis("weight", 0, "input"), *((Axis("bias", 0),) if self.bias else ()))
        return Coupling((Link(1, inputs[0][0], self.shape(*inputs)[0], tied=False),), axes)

    def narrowed(self, inputs: tuple[Mask, ...], output: Mask) -> ConvTranspose:
        return replace(self, width=sum(output))

    def nonzero_outputs(self, nonzero: tuple[Mask, ...], tensors: Mapping[str, Any], *inputs: Shape) -> Mask:
        return super().nonzero_outputs(nonzero, _filters_first(tensors), *inputs)

    def needed_inputs(self, output: Mask, tensors: Mapping[str, Any], *inputs: Shape) -> tuple[Mask, ...]:
        return super().needed_inputs(output, _filters_first(tensors), *inputs)


def _enlarging(k: int, stride: int) -> tuple[int, int]:
    """The pixels to remove on both sides and to add at the end, so that `n` pixels become `stride` times as many.

    >>> _enlarging(2, 2), _enlarging(3, 2), _enlarging(4, 2), _enlarging(1, 2)
    ((0, 0), (1, 1), (1, 0), (0, 1))
    """
    extra = k - stride
    removed = max(0, -(-extra // 2))
    return removed, 2 * removed - extra


def _filters_first(tensors: Mapping[str, Any]) -> dict[str, Any]:
    return {**tensors, "weight": tensors["weight"].transpose(0, 1)}
