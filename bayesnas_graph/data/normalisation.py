"""Normalisation of images, and the statistics that it needs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

from bayesnas_graph.data.model import Examples, Statistics
from bayesnas_graph.data.sampling import chunks, generator


def normalise(images: Tensor, statistics: Statistics) -> Tensor:
    """Return float32 images with mean 0 and standard deviation 1 in every channel.

    The range of the input is 0 to 255 for bytes and 0 to 1 for floating-point numbers.
    """
    white = 1.0 if images.is_floating_point() else 255.0
    shift, scale = _shift_and_scale(statistics, white, images.ndim, images.device)
    return torch.addcmul(shift, images.float(), scale)


@cache  # copying to a GPU each time would wait for its pending work
def _shift_and_scale(
    statistics: Statistics, white: float, dimensions: int, device: torch.device
) -> tuple[Tensor, Tensor]:
    shape = (-1, *(1,) * (dimensions - 2))
    mean = torch.tensor(statistics.mean, device=device).view(shape)
    deviation = torch.tensor(statistics.deviation, device=device).view(shape)
    return -mean / deviation, 1 / (white * deviation)


def statistics(
    examples: Examples, most: int = 10_000, piece: int = 500, look: Callable[[Tensor], None] | None = None
) -> Statistics:
    """Mean and standard deviation of each channel; 1 instead of a deviation of 0. `look` is called with the images.

    At most `most` examples are used, always the same random ones. A regular subset can be biased: MNIST interleaves two
    sources, and every sixth image taken together is darker than the whole set.
    """
    drawn = torch.randperm(len(examples), generator=generator("statistics"))[:most].sort().values
    total = square = torch.zeros(1, dtype=torch.float64)
    for indices in chunks(drawn, piece):
        images, _ = examples.take(indices)
        if look is not None:
            look(images)
        values = images.double().flatten(2) if images.ndim > 2 else images.double().unsqueeze(2)
        values = values if images.is_floating_point() else values / 255
        total = total + values.mean(2).sum(0)
        square = square + values.square().mean(2).sum(0)
    mean = total / len(drawn)
    deviation = (square / len(drawn) - mean.square()).clamp(min=0).sqrt()
    deviation = torch.where(deviation < 1e-6, 1.0, deviation)
    return Statistics(tuple(mean.tolist()), tuple(deviation.tolist()))
