"""Networks in the channels-last memory format."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from bayesnas_graph.runtime.depthwise import Depthwise, is_depthwise


def use_channels_last(module: nn.Module) -> None:
    """Convert the weights of a network in place.

    On a CPU, some convolutions are exchanged: `StridedPointwise` does not crash, and `Depthwise` is faster.
    """
    module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    for part in module.modules():
        if type(part) is nn.Conv2d and part.weight.device.type == "cpu":
            if is_strided_pointwise(part):
                part.__class__ = StridedPointwise
            elif is_depthwise(part):
                part.__class__ = Depthwise


def is_strided_pointwise(conv: nn.Conv2d) -> bool:
    """Whether a convolution reads single pixels, and not all of them."""
    return conv.kernel_size == (1, 1) and conv.stride != (1, 1)


def selected(conv: nn.Conv2d, x: Tensor) -> Tensor:
    """The pixels that a strided 1x1 convolution reads.

    >>> selected(nn.Conv2d(1, 1, 1, stride=2), torch.arange(9.0).view(1, 1, 3, 3))
    tensor([[[[0., 2.],
              [6., 8.]]]])
    """
    (high, wide), form = conv.stride, torch.contiguous_format
    if x.is_contiguous(memory_format=torch.channels_last):
        form = torch.channels_last
    if not isinstance(conv.padding, str):
        rows, columns = conv.padding
        x = functional.pad(x, [columns, columns, rows, rows]) if rows or columns else x
    return x[:, :, ::high, ::wide].contiguous(memory_format=form)


class StridedPointwise(nn.Conv2d):
    """A 1x1 convolution with a stride, which selects the pixels first.

    In oneDNN, which torch calls on CPUs, the weight gradient of the usual form writes out of bounds if tensors are
    channels-last, there are fewer than 16 input channels, and the batch cannot be shared equally by the threads. This
    crashes with torch 2.13:

        torch.set_num_threads(2)
        x = torch.randn(3, 8, 32, 32).to(memory_format=torch.channels_last)
        conv = torch.nn.Conv2d(8, 4, 1, stride=2)
        for _ in range(9):
            conv(x).square().sum().backward()
    """

    def forward(self, x: Tensor) -> Tensor:
        return functional.conv2d(selected(self, x), self.weight, self.bias, groups=self.groups)
