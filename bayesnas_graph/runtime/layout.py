"""The values of an image in another order, in the same memory format."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def phases(x: Tensor, step: int) -> Tensor:
    """The images made of every `step`-th pixel, `step` squared of them, one after another in the batch.

    A convolution with that dilation reads each of them separately, and has no dilation there.

    >>> phases(torch.arange(16.0).view(1, 1, 4, 4), 2)[1]
    tensor([[[ 1.,  3.],
             [ 9., 11.]]])
    """
    batch, channels, height, width = x.shape
    if _channels_last(x):
        split = x.permute(0, 2, 3, 1).reshape(batch, height // step, step, width // step, step, channels)
        apart = split.permute(2, 4, 0, 1, 3, 5).reshape(-1, height // step, width // step, channels)
        return apart.permute(0, 3, 1, 2)
    split = x.reshape(batch, channels, height // step, step, width // step, step)
    return split.permute(3, 5, 0, 1, 2, 4).reshape(-1, channels, height // step, width // step)


def interleaved(x: Tensor, step: int) -> Tensor:
    """The images that have these phases.

    >>> x = torch.rand(2, 3, 6, 6)
    >>> torch.equal(interleaved(phases(x, 3), 3), x)
    True
    """
    count, channels, height, width = x.shape
    batch = count // step**2
    if _channels_last(x):
        apart = x.permute(0, 2, 3, 1).reshape(step, step, batch, height, width, channels)
        together = apart.permute(2, 3, 0, 4, 1, 5).reshape(batch, height * step, width * step, channels)
        return together.permute(0, 3, 1, 2)
    apart = x.reshape(step, step, batch, channels, height, width)
    return apart.permute(2, 3, 4, 0, 5, 1).reshape(batch, channels, height * step, width * step)


def subsampled(x: Tensor, step: int) -> Tensor:
    """The image of every `step`-th pixel.

    >>> subsampled(torch.arange(16.0).view(1, 1, 4, 4), 2)
    tensor([[[[ 0.,  2.],
              [ 8., 10.]]]])
    """
    form = torch.channels_last if _channels_last(x) else torch.contiguous_format
    return x[:, :, ::step, ::step].contiguous(memory_format=form)


def repeated(x: Tensor, count: int, parts: int) -> Tensor:
    """Each of some equal parts of the channels several times, one after another.

    One kernel copies them, and one adds up their gradients.

    >>> repeated(torch.tensor([[1, 2, 3, 4]]), 2, 2)
    tensor([[1, 2, 1, 2, 3, 4, 3, 4]])
    """
    batch, channels, *sizes = x.shape
    apart = x.view(batch, parts, 1, channels // parts, *sizes)
    copies = apart.expand(-1, -1, count, *[-1] * (x.ndim - 1))
    if x.ndim == 4 and _channels_last(x):
        return copies.movedim((1, 2, 3), (3, 4, 5)).reshape(batch, *sizes, -1).movedim(-1, 1)
    return copies.reshape(batch, -1, *sizes)


def divided(x: Tensor, sizes: Sequence[int]) -> tuple[Tensor, ...]:
    """The channels in parts whose sizes have these proportions.

    >>> divided(torch.tensor([[1, 2, 3, 4, 5, 6]]), [1, 2])
    (tensor([[1, 2]]), tensor([[3, 4, 5, 6]]))
    """
    unit = x.shape[1] // sum(sizes)
    return torch.split(x, [size * unit for size in sizes], 1)


def _channels_last(x: Tensor) -> bool:
    return x.is_contiguous(memory_format=torch.channels_last)
