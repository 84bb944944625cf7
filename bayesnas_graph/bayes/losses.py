"""Losses, and their second derivatives with respect to the outputs of a network.

A loss is a mean over samples. Its second derivative with respect to the outputs of one sample is a matrix, needed
in three forms: its diagonal; columns whose outer products add up to it; and a random column whose expected outer
product it is. None of them depends on the targets, nor on label smoothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional as F


class Loss(Protocol):
    """The interface of a loss for estimators of curvature."""

    def __call__(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """The mean over samples."""

    def diagonal(self, outputs: Tensor) -> Tensor:
        """The second derivative of a sample's loss with respect to each of its outputs."""

    def columns(self, outputs: Tensor) -> Iterator[Tensor]:
        """For every sample, vectors `v` whose `v v^T` add up to the matrix of second derivatives."""

    def draw(self, outputs: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """For every sample, a random vector `v` with this matrix as the expected value of `v v^T`."""


@dataclass(frozen=True)
class CrossEntropy:
    """Cross-entropy over classes. A random column is the gradient for a label drawn from the prediction."""

    label_smoothing: float = 0.0

    def __call__(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return F.cross_entropy(outputs, targets, label_smoothing=self.label_smoothing)

    def diagonal(self, outputs: Tensor) -> Tensor:
        p = outputs.softmax(1)
        return p * (1 - p)

    def columns(self, outputs: Tensor) -> Iterator[Tensor]:
        p = outputs.softmax(1)
        for k in range(p.shape[1]):
            column = -p
            column[:, k] += 1
            yield column * p[:, k : k + 1].sqrt()

    def draw(self, outputs: Tensor, generator: torch.Generator | None = None) -> Tensor:
        p = outputs.softmax(1)
        labels = torch.multinomial(p, 1, generator=generator)
        return p.scatter_add(1, labels, -torch.ones_like(p[:, :1]))


@dataclass(frozen=True)
class SquaredError:
    """The mean over the outputs of a sample of the squared differences, as in torch."""

    def __call__(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return F.mse_loss(outputs, targets)

    def diagonal(self, outputs: Tensor) -> Tensor:
        return torch.full_like(outputs, 2 / _count(outputs))

    def columns(self, outputs: Tensor) -> Iterator[Tensor]:
        yield from _one_by_one(self.diagonal(outputs).sqrt())

    def draw(self, outputs: Tensor, generator: torch.Generator | None = None) -> Tensor:
        coins = torch.rand(outputs.shape, generator=generator, device=outputs.device) < 0.5
        return self.diagonal(outputs).sqrt() * torch.where(coins, 1.0, -1.0).to(outputs.dtype)


@dataclass(frozen=True)
class BinaryCrossEntropy:
    """Binary cross-entropy of every output, given its logit; the mean over a sample. Targets may be booleans."""

    def __call__(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(outputs, targets.to(outputs.dtype))

    def diagonal(self, outputs: Tensor) -> Tensor:
        p = outputs.sigmoid()
        return p * (1 - p) / _count(outputs)

    def columns(self, outputs: Tensor) -> Iterator[Tensor]:
        yield from _one_by_one(self.diagonal(outputs).sqrt())

    def draw(self, outputs: Tensor, generator: torch.Generator | None = None) -> Tensor:
        p = outputs.sigmoid()
        return (p - torch.bernoulli(p, generator=generator)) / sqrt(_count(outputs))


@dataclass(frozen=True)
class PixelCrossEntropy:
    """Cross-entropy over the classes of every pixel; the mean over the pixels of a sample."""

    def __call__(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return F.cross_entropy(outputs, targets.long())

    def diagonal(self, outputs: Tensor) -> Tensor:
        p = outputs.softmax(1)
        return p * (1 - p) / outputs[0, 0].numel()

    def columns(self, outputs: Tensor) -> Iterator[Tensor]:
        for number in range(outputs[0, 0].numel()):  # pixels do not affect the loss of one another
            for column in CrossEntropy().columns(outputs.flatten(2)[:, :, number]):
                found = torch.zeros_like(outputs)
                found.flatten(2)[:, :, number] = column / sqrt(outputs[0, 0].numel())
                yield found

    def draw(self, outputs: Tensor, generator: torch.Generator | None = None) -> Tensor:
        pixels = outputs.movedim(1, -1)
        drawn = CrossEntropy().draw(pixels.reshape(-1, outputs.shape[1]), generator)
        return drawn.view(pixels.shape).movedim(-1, 1) / sqrt(outputs[0, 0].numel())


def _count(outputs: Tensor) -> int:
    return outputs[0].numel()


def _one_by_one(values: Tensor) -> Iterator[Tensor]:
    """Vectors with one non-zero value each."""
    for k in range(_count(values)):
        column = torch.zeros_like(values)
        column.view(len(values), -1)[:, k] = values.view(len(values), -1)[:, k]
        yield column
