"""Mixup and cutmix: a batch is mixed with a permutation of itself, and its labels become probabilities of classes."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from random import Random

import torch
from torch import Tensor

from bayesnas_graph.data.sampling import generator


@dataclass(frozen=True)
class Mixing:
    """How batches are mixed. With both, each batch is mixed by one of them, at random."""

    mixup: float  # alpha: shares are drawn from the distribution Beta(alpha, alpha); 0 for none
    cutmix: float
    classes: int


@dataclass(frozen=True, eq=False)
class Mix:
    """How one batch is mixed."""

    partners: Tensor  # of all rows of the batch
    share: float  # of a row itself; the rest is its partner's
    classes: int
    centre: tuple[float, float] | None = None  # of the box that cutmix takes from the partner, as parts of the sides


def draw_mix(mixing: Mixing, batch: int, seed: int, epoch: int, number: int) -> Mix:
    """Draw how a batch is mixed, which depends on the seed, the epoch and the batch number alone."""
    numbers = generator("mix", seed, epoch, number)
    random = Random(numbers.initial_seed())
    kinds = [(alpha, cuts) for alpha, cuts in ((mixing.mixup, False), (mixing.cutmix, True)) if alpha]
    alpha, cuts = random.choice(kinds)
    share = random.betavariate(alpha, alpha)
    centre = (random.random(), random.random()) if cuts else None
    return Mix(torch.randperm(batch, generator=numbers), share, mixing.classes, centre)


def mixed(mix: Mix, images: Tensor, labels: Tensor, own: Tensor, partners: Tensor) -> tuple[Tensor, Tensor]:
    """Return the images at some places mixed with those at others, and the probabilities of their classes."""
    result, share = mixed_images(mix, images[own], images[partners])
    return result, probabilities(labels[own], labels[partners], share, mix.classes)


def mixed_images(mix: Mix, images: Tensor, partners: Tensor) -> tuple[Tensor, float]:
    """Return images mixed with those of their partners, and the share of the images themselves."""
    if mix.centre is None:
        return mix.share * images + (1 - mix.share) * partners, mix.share
    (top, bottom), (left, right) = (
        _side(length, sqrt(1 - mix.share), centre) for length, centre in zip(images.shape[2:], mix.centre, strict=True)
    )
    result = images.clone()
    result[:, :, top:bottom, left:right] = partners[:, :, top:bottom, left:right]
    height, width = images.shape[2:]
    return result, 1 - (bottom - top) * (right - left) / (height * width)


def probabilities(labels: Tensor, partners: Tensor, share: float, classes: int) -> Tensor:
    """Return the probability of each class, given labels, those of the partners, and the share of the labels.

    >>> probabilities(torch.tensor([0, 2]), torch.tensor([1, 2]), 0.75, 3)
    tensor([[0.7500, 0.2500, 0.0000],
            [0.0000, 0.0000, 1.0000]])
    """
    numbers = torch.arange(classes, device=labels.device)
    own, other = ((which.unsqueeze(1) == numbers).float() for which in (labels, partners))
    return share * own + (1 - share) * other


def _side(length: int, part: float, centre: float) -> tuple[int, int]:
    """The pixels that a box covers along a side, of which it is a part; the borders clip it."""
    middle, half = int(centre * length), int(part * length) / 2
    return max(int(middle - half), 0), min(int(middle + half), length)
