"""Batches are a function of the seed, the epoch and the batch number.

A resumed run therefore sees the same batches, and so do several processes together: each gets its rows of every batch.
Where a row is mixed with another one, a process loads both; where code of the user changes a batch, it loads all of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from bayesnas_graph.data.augment import Augmentation, crop_and_flip, draws, erase, transform
from bayesnas_graph.data.fetch import fetch, to_device
from bayesnas_graph.data.mixing import Mix, Mixing, draw_mix, mixed
from bayesnas_graph.data.model import Examples, InMemory, Statistics
from bayesnas_graph.data.normalisation import normalise
from bayesnas_graph.data.resident import resident
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
    on_device: float = 0.25  # the largest share of the free memory of a device that examples in memory may take there
    mixing: Mixing | None = None  # of training batches
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

    Cutout follows normalisation, so its squares have the mean colour. The rest precedes it: padding is black.
    Mixed batches have the probability of each class in place of labels.
    """
    numbers = range(start, steps_per_epoch(len(indices), loading.batch))
    ordered = chunks(shuffled(indices, loading.seed, epoch), loading.batch)
    shares = [_share(loading, epoch, number) for number in numbers]
    rows = [ordered[number][share.loaded] for number, share in zip(numbers, shares, strict=True)]
    more = (
        (_draws(loading, epoch, number)[share.loaded], *share.places)
        for number, share in zip(numbers, shares, strict=True)
    )
    held = resident(examples, loading.device, loading.on_device)
    batches: Iterator[tuple[Tensor, ...]]
    if held is None:
        fetched = fetch(examples, rows, loading.workers, [_seed(loading, epoch, number) for number in numbers])
        together = ((*batch, *others) for batch, others in zip(fetched, more, strict=True))
        batches = to_device(loading.device, together)
    else:
        batches = _gathered(held, rows, list(more))
    for number, share, (images, labels, drawn, *places) in zip(numbers, shares, batches, strict=True):
        if loading.augmentation.flip and labels.ndim > 2:  # maps move with their images
            labels = crop_and_flip(labels.unsqueeze(1), replace(loading.augmentation, crop=0), drawn).squeeze(1)
        changed = transform(crop_and_flip(images, loading.augmentation, drawn), loading.augmentation, drawn)
        if loading.augmentation.custom is not None:
            changed = loading.augmentation.custom(changed, generator("custom augment", loading.seed, epoch, number))
        changed = erase(normalise(changed, loading.statistics), loading.augmentation, drawn)
        if share.mix is not None:
            changed, labels = mixed(share.mix, changed, labels, *places)
        elif places:
            changed, labels = changed[places[0]], labels[places[0]]
        yield _arrange(changed, loading), labels


@dataclass(frozen=True, eq=False)
class _Share:
    """The rows of a batch that a process loads; where among them are those it gets, and their partners."""

    loaded: Tensor
    places: tuple[Tensor, ...] = ()  # empty if it gets all that it loads
    mix: Mix | None = None


def _share(loading: Loading, epoch: int, number: int) -> _Share:
    whole = torch.arange(loading.batch)
    own = loading.rows(whole)
    custom = loading.augmentation.custom is not None  # sees the whole batch
    if loading.mixing is None:
        return _Share(whole, (own,)) if custom and loading.world > 1 else _Share(own)
    mix = draw_mix(loading.mixing, loading.batch, loading.seed, epoch, number)
    if custom or loading.world == 1:
        return _Share(whole, (own, mix.partners[own]), mix)
    return _Share(torch.cat([own, mix.partners[own]]), (whole[: len(own)], whole[: len(own)] + len(own)), mix)


def _draws(loading: Loading, epoch: int, number: int) -> Tensor:
    """Random numbers for the whole batch, even if this process gets only part of it."""
    return draws(loading.batch, generator("augment", loading.seed, epoch, number), loading.augmentation)


def _seed(loading: Loading, epoch: int, number: int) -> int:
    """The seed of user code that fetches a batch."""
    return generator("workers", loading.seed, epoch, number).initial_seed() if loading.workers else 0


def _gathered(held: InMemory, rows: list[Tensor], more: list[tuple[Tensor, ...]]) -> Iterator[tuple[Tensor, ...]]:
    """Batches of examples that are on a device. All that chooses and changes them is copied there at once."""
    if rows:
        device = held.images.device
        columns = [torch.stack(list(column)).to(device) for column in (rows, *zip(*more, strict=True))]
        for some, *others in zip(*columns, strict=True):
            yield *held.take(some), *others


def evaluation(examples: Examples, indices: Tensor, loading: Loading) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield all examples in order, without augmentation; the last batch may be smaller, or empty for some processes."""
    held = resident(examples, loading.device, loading.on_device)
    wanted = indices if held is None else indices.to(loading.device)
    rows = [loading.rows(batch) for batch in chunks(wanted, loading.batch)]
    batches = fetch(examples if held is None else held, [batch for batch in rows if len(batch)], loading.workers)
    for images, labels in batches if held is not None else to_device(loading.device, batches):
        yield _arrange(normalise(images, loading.statistics), loading), labels


def _arrange(images: Tensor, loading: Loading) -> Tensor:
    if loading.flat:
        return images.flatten(loading.flat)
    if loading.channels_last and images.ndim == 4:
        return images.contiguous(memory_format=torch.channels_last)
    return images.contiguous()
