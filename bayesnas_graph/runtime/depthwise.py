"""Depthwise convolutions with large kernels, trained faster on CPUs.

In the channels-last format, oneDNN has fast weight gradients of 3x3 depthwise convolutions and slow ones of larger
kernels. So the gradient of a larger kernel is put together from windows of 3x3 weights:

    w w w . .        . . w w w
    w w w . .        . . w w w
    w w w . .        . . w w w        and the same for the last three rows
    . . . . .        . . . . .
    . . . . .        . . . . .
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

WINDOW = 3
FEWEST = 2**17  # values of an output from which windows pay

Settings = tuple[Any, Any, Any, int]  # stride, padding, dilation and groups


class Depthwise(nn.Conv2d):
    """`nn.Conv2d` with a faster backward pass."""

    def forward(self, x: Tensor) -> Tensor:
        settings = self.stride, self.padding, self.dilation, self.groups
        result: Tensor = _Convolution.apply(x, self.weight, self.bias, settings)  # type: ignore[no-untyped-call]
        return result


def is_wide_depthwise(conv: nn.Conv2d) -> bool:
    """Whether a convolution is of the kind that `Depthwise` is for."""
    (high, wide), one_by_one = conv.kernel_size, conv.in_channels == conv.out_channels == conv.groups
    same = conv.padding == (high // 2, wide // 2)
    return one_by_one and same and high == wide > WINDOW and high % 2 == 1 and conv.dilation == (1, 1)


def convolution_backward(
    gradient: Tensor, x: Tensor, weight: Tensor, sizes: list[int] | None, settings: Settings, wanted: Sequence[bool]
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """The gradients of the input, the weight and the bias of a convolution, as far as they are wanted."""
    of_x, of_weight, of_bias = wanted
    if not of_weight or not _pays(gradient, x, weight, settings):
        return _plain(gradient, x, weight, sizes, settings, wanted)
    rest = _plain(gradient, x, weight, sizes, settings, [of_x, False, of_bias])
    return rest[0], _by_windows(gradient, x, weight, settings), rest[2]


class _Convolution(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, settings: Settings) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.settings, ctx.sizes = settings, None if bias is None else [bias.numel()]
        return functional.conv2d(x, weight, bias, *settings)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = (tensor.to(gradients[0].dtype) for tensor in ctx.saved_tensors)  # the precision of autocast
        wanted = ctx.needs_input_grad[:3]
        return *convolution_backward(gradients[0], x, weight, ctx.sizes, ctx.settings, wanted), None


def _plain(
    gradient: Tensor, x: Tensor, weight: Tensor, sizes: list[int] | None, settings: Settings, wanted: Sequence[bool]
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    stride, padding, dilation, groups = settings
    form = sizes, stride, padding, dilation, False, [0, 0], groups, list(wanted)
    found: tuple[Tensor | None, Tensor | None, Tensor | None]
    found = torch.ops.aten.convolution_backward(gradient, x, weight, *form)
    return found


def _pays(gradient: Tensor, x: Tensor, weight: Tensor, settings: Settings) -> bool:
    (stride, other), padding, dilation, groups = settings
    filters, channels, kernel, wide = weight.shape
    return (
        (x.device.type, x.dtype) == ("cpu", torch.float32)
        and gradient.numel() >= FEWEST
        and x.is_contiguous(memory_format=torch.channels_last)
        and (channels, filters) == (1, groups)
        and kernel == wide > WINDOW
        and kernel % 2 == 1
        and tuple(padding) == (kernel // 2, kernel // 2)
        and tuple(dilation) == (1, 1)
        and stride == other <= 2
    )


def _by_windows(gradient: Tensor, x: Tensor, weight: Tensor, settings: Settings) -> Tensor:
    """The gradient of a kernel. The window at an offset sees the gradient further down and to the right."""
    (stride, _), _, _, groups = settings
    kernel = weight.shape[2]
    border, last = kernel // 2 - 1, (kernel - WINDOW) // stride
    padded = functional.pad(x, [border] * 4)  # so that windows have a padding of 1, for which oneDNN is fast
    window = weight[:, :, :WINDOW, :WINDOW].contiguous(memory_format=torch.channels_last)
    found = torch.empty_like(weight)
    for row in range(0, kernel - WINDOW + 1, 2):
        for column in range(0, kernel - WINDOW + 1, 2):
            down, right = row // stride, column // stride
            moved = functional.pad(gradient, [right, last - right, down, last - down])
            form = (stride, stride), (1, 1), (1, 1), groups
            part = _plain(moved, padded, window, None, form, [False, True, False])[1]
            assert part is not None, "it was asked for"
            found[:, :, row : row + WINDOW, column : column + WINDOW] = part
    return found
