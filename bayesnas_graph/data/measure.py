"""Mean and deviation of the images of a set."""

from __future__ import annotations

import torch

from bayesnas_graph.data.model import Examples, Statistics
from bayesnas_graph.data.order import generator, pieces


def statistics(examples: Examples, most: int = 10_000, piece: int = 500) -> Statistics:
    """The statistics of at most so many examples, always the same. A channel that never changes has a deviation of 1.

    They are drawn at random: in MNIST, images from two sources take turns, and every sixth of them is darker than all.
    """
    drawn = torch.randperm(len(examples), generator=generator("statistics"))[:most].sort().values
    total = square = torch.zeros(1, dtype=torch.float64)
    for indices in pieces(drawn, piece):
        images, _ = examples.take(indices)
        values = images.double().flatten(2) if images.ndim > 2 else images.double().unsqueeze(2)
        values = values if images.is_floating_point() else values / 255
        total = total + values.mean(2).sum(0)
        square = square + values.square().mean(2).sum(0)
    mean = total / len(drawn)
    deviation = (square / len(drawn) - mean.square()).clamp(min=0).sqrt()
    deviation = torch.where(deviation < 1e-6, 1.0, deviation)
    return Statistics(tuple(mean.tolist()), tuple(deviation.tolist()))
