"""Batches: a function of the seed, the epoch and their number.

A search that goes on from a step sees what it would have seen. So do several processes: together they see the batches
of one, each of them its rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from bayesnas_graph.data.augment import Augmentation, cut, draws, move, normalise
from bayesnas_graph.data.fetch import fetch, onto
from bayesnas_graph.data.model import Examples, Statistics
from bayesnas_graph.data.order import generator, order, pieces


@dataclass(frozen=True)
class Loading:
    """How batches are made, and for whom."""

    batch: int  # examples, over all processes
    seed: int
    augmentation: Augmentation
    statistics: Statistics
    device: torch.device
    workers: int = 0
    rank: int = 0
    world: int = 1
    channels_last: bool = False
    flat: bool = False  # images come as vectors, channel by channel

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise ValueError(f"a batch of {self.batch} holds nothing")
        if not 0 <= self.rank < self.world:
            raise ValueError(f"there is no process {self.rank} among {self.world}")

    def rows(self, batch: Tensor) -> Tensor:
        """What this process gets of a batch."""
        return batch[self.rank :: self.world]


def steps_per_epoch(count: int, batch: int) -> int:
    """How many whole batches so many examples fill."""
    return count // batch


def training(
    examples: Examples, indices: Tensor, loading: Loading, epoch: int, start: int = 0
) -> Iterator[tuple[Tensor, Tensor]]:
    """The augmented batches of an epoch from number `start` on. What fills no batch at its end is left out.

    Images are cropped and mirrored as they are, so that black comes in from outside; they are covered when they are
    normalised, so that the covered part has the mean colour.
    """
    numbers = range(start, steps_per_epoch(len(indices), loading.batch))
    ordered = order(indices, loading.seed, epoch)
    wanted = [loading.rows(ordered[i * loading.batch : (i + 1) * loading.batch]) for i in numbers]
    batches = fetch(examples, wanted, loading.workers, generator("workers", loading.seed, epoch))

    def drawn() -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        for number, (images, labels) in zip(numbers, batches, strict=True):
            # For the whole batch, though this process may have a part of it.
            random = draws(loading.batch, generator("augment", loading.seed, epoch, number))
            yield images, labels, loading.rows(random)

    for images, labels, random in onto(loading.device, drawn()):
        moved = normalise(move(images, loading.augmentation, random), loading.statistics)
        yield _laid_out(cut(moved, loading.augmentation, random), loading), labels


def evaluation(examples: Examples, indices: Tensor, loading: Loading) -> Iterator[tuple[Tensor, Tensor]]:
    """All examples in order, as they are. The last batch may be smaller, and a process without rows in it gets none."""
    rows = [loading.rows(batch) for batch in pieces(indices, loading.batch)]
    wanted = [batch for batch in rows if len(batch)]
    for images, labels in onto(loading.device, fetch(examples, wanted, loading.workers)):
        yield _laid_out(normalise(images, loading.statistics), loading), labels


def _laid_out(images: Tensor, loading: Loading) -> Tensor:
    if loading.flat:
        return images.flatten(1)
    if loading.channels_last and images.ndim == 4:
        return images.contiguous(memory_format=torch.channels_last)
    return images.contiguous()
