"""Batches are a function of the seed, the epoch and the batch number.

A resumed run therefore sees the same batches, and so do several processes together: each gets its rows of every batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from bayesnas_graph.data.augment import Augmentation, crop_and_flip, draws, erase
from bayesnas_graph.data.fetch import fetch, to_device
from bayesnas_graph.data.model import Examples, Statistics
from bayesnas_graph.data.normalisation import normalise
from bayesnas_graph.data.sampling import chunks, generator, shuffled


@dataclass(frozen=True)
class Loading:
    """The settings of batches: their content, process and device."""

    batch: int  # examples per batch, over all processes
    seed: int
    augmentation: Augmentation
    statistics: Statistics
    device: torch.device
    workers: int = 0
    rank: int = 0
    world: int = 1
    channels_last: bool = False
    flat: int = 0  # the axis from which on images are flattened: 1 for vectors, 2 for sequences of pixels, 0 for none

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise ValueError(f"batch size must be at least 1, not {self.batch}")
        if not 0 <= self.rank < self.world:
            raise ValueError(f"rank {self.rank} is outside 0 to {self.world - 1}")

    def rows(self, batch: Tensor) -> Tensor:
        """The part of a batch that this process gets."""
        return batch[self.rank :: self.world]


def steps_per_epoch(count: int, batch: int) -> int:
    """The number of full batches."""
    return count // batch


def training(
    examples: Examples, indices: Tensor, loading: Loading, epoch: int, start: int = 0
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield the augmented batches of an epoch from number `start` on, without an incomplete last batch.

    Crop and flip precede normalisation, so padding is black; cutout follows it, so its squares have the mean colour.
    """
    numbers = range(start, steps_per_epoch(len(indices), loading.batch))
    ordered = shuffled(indices, loading.seed, epoch)
    rows = [loading.rows(ordered[i * loading.batch : (i + 1) * loading.batch]) for i in numbers]
    batches = fetch(examples, rows, loading.workers, generator("workers", loading.seed, epoch))

    def drawn() -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        for number, (images, labels) in zip(numbers, batches, strict=True):
            # Drawn for the whole batch, even if this process gets only part of it.
            random = draws(loading.batch, generator("augment", loading.seed, epoch, number))
            yield images, labels, loading.rows(random)

    for images, labels, random in to_device(loading.device, drawn()):
        moved = normalise(crop_and_flip(images, loading.augmentation, random), loading.statistics)
        yield _arrange(erase(moved, loading.augmentation, random), loading), labels


def evaluation(examples: Examples, indices: Tensor, loading: Loading) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield all examples in order, without augmentation; the last batch may be smaller, or empty for some processes."""
    rows = [loading.rows(batch) for batch in chunks(indices, loading.batch)]
    batches = [batch for batch in rows if len(batch)]
    for images, labels in to_device(loading.device, fetch(examples, batches, loading.workers)):
        yield _arrange(normalise(images, loading.statistics), loading), labels


def _arrange(images: Tensor, loading: Loading) -> Tensor:
    if loading.flat:
        return images.flatten(loading.flat)
    if loading.channels_last and images.ndim == 4:
        return images.contiguous(memory_format=torch.channels_last)
    return images.contiguous()
