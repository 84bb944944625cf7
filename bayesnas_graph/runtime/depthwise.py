"""Depthwise convolutions with large kernels, trained faster on CPUs.

In the channels-last format, oneDNN computes the gradient of the input in about twice the time of a convolution. With a
stride of 1 it is itself a convolution: of the gradient, with the kernel turned around.

oneDNN has fast weight gradients of 3x3 kernels and slow ones of larger kernels. So the gradient of a larger kernel is
put together from windows of 3x3 weights:

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
FEWEST = 2**17  # values of an output from which this pays

Settings = tuple[Any, Any, Any, int]  # stride, padding, dilation and groups


class Depthwise(nn.Conv2d):
    """`nn.Conv2d` with a faster backward pass."""

    def forward(self, x: Tensor) -> Tensor:
        if x.numel() < FEWEST:
            return super().forward(x)
        settings = self.stride, self.padding, self.dilation, self.groups
        result: Tensor = _Convolution.apply(x, self.weight, self.bias, settings)  # type: ignore[no-untyped-call]
        return result


def is_depthwise(conv: nn.Conv2d) -> bool:
    """Whether a convolution is of the kind that `Depthwise` is for."""
    settings = conv.stride, conv.padding, conv.dilation, conv.groups
    return conv.out_channels == conv.in_channels and _is_same(conv.weight, settings)


def convolution_backward(
    gradient: Tensor, x: Tensor, weight: Tensor, sizes: list[int] | None, settings: Settings, wanted: Sequence[bool]
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """The gradients of the input, the weight and the bias of a convolution, as far as they are wanted."""
    of_x, of_weight, of_bias = wanted
    if not _pays(gradient, x, weight, settings):
        return _plain(gradient, x, weight, sizes, settings, wanted)
    turned = of_x and tuple(settings[0]) == (1, 1)
    left = [of_x and not turned, False, of_bias]
    for_x, _, for_bias = _plain(gradient, x, weight, sizes, settings, left) if any(left) else (None, None, None)
    if turned:
        for_x = functional.conv2d(gradient, weight.flip((2, 3)), None, *settings)
    return for_x, _by_windows(gradient, x, weight, settings) if of_weight else None, for_bias


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


def _is_same(weight: Tensor, settings: Settings) -> bool:
    """Whether each channel has its own large kernel, and with a stride of 1, images would keep their size."""
    stride, padding, dilation, groups = settings
    filters, channels, kernel, wide = weight.shape
    return (
        (channels, filters) == (1, groups)
        and kernel == wide > WINDOW
        and kernel % 2 == 1
        and padding == (kernel // 2, kernel // 2)
        and tuple(dilation) == (1, 1)
        and tuple(stride) in ((1, 1), (2, 2))
    )


def _pays(gradient: Tensor, x: Tensor, weight: Tensor, settings: Settings) -> bool:
    return (
        (x.device.type, x.dtype) == ("cpu", torch.float32)
        and gradient.numel() >= FEWEST
        and x.is_contiguous(memory_format=torch.channels_last)
        and not torch.is_grad_enabled()  # it is if the gradient will be differentiated again
        and _is_same(weight, settings)
    )


def _by_windows(gradient: Tensor, x: Tensor, weight: Tensor, settings: Settings) -> Tensor:
    """The gradient of a kernel. The window at an offset sees the gradient further down and to the right."""
    (stride, _), _, _, groups = settings
    kernel = weight.shape[2]
    border, last = kernel // 2 - 1, (kernel - WINDOW) // stride
    padded = functional.pad(x, [border] * 4)  # so that windows have a padding of 1, for which oneDNN is fast
    window = weight[:, :, :WINDOW, :WINDOW].contiguous(memory_format=torch.channels_last)
    spaced = _Spaced(gradient, last)
    form = (stride, stride), (1, 1), (1, 1), groups
    found = torch.empty_like(weight)
    for row in range(0, kernel - WINDOW + 1, 2):
        for column in range(0, kernel - WINDOW + 1, 2):
            moved = spaced.moved(row // stride, column // stride)
            part = _plain(moved, padded, window, None, form, [False, True, False])[1]
            assert part is not None, "it was asked for"
            found[:, :, row : row + WINDOW, column : column + WINDOW] = part
    return found


class _Spaced:
    """Images with zeros below and to the right of each, in one piece of memory.

    To move all images down or to the right, the memory is read from an earlier start: what enters at the top and at
    the left are the zeros of the image and of the row before.
    """

    def __init__(self, images: Tensor, zeros: int) -> None:
        batch, channels, height, width = images.shape
        rows, columns = height + zeros, width + zeros
        self.shape = batch, channels, rows, columns
        self.strides = rows * columns * channels, 1, columns * channels, channels
        self.start = (zeros * columns + zeros) * channels
        self.memory = images.new_zeros(self.start + batch * rows * columns * channels)
        self.moved(0, 0)[:, :, :height, :width] = images

    def moved(self, down: int, right: int) -> Tensor:
        """The images with their zeros, moved by so many rows and columns."""
        earlier = down * self.strides[2] + right * self.strides[3]
        return self.memory.as_strided(self.shape, self.strides, self.start - earlier)
