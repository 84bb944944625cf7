"""Seeded splits and orders of examples; reproducible from any step."""

from __future__ import annotations

from hashlib import blake2b

import torch
from torch import Tensor


def split(count: int, held_out: float, seed: int) -> tuple[Tensor, Tensor]:
    """Return the indices of the training examples, and of the fraction that is held out.

    >>> [len(part) for part in split(6, 1 / 3, seed=0)]
    [4, 2]
    """
    if not 0 <= held_out <= 1:
        raise ValueError(f"{held_out} is not between 0 and 1")
    permutation = torch.randperm(count, generator=generator("split", seed))
    training = count - round(count * held_out)
    return permutation[:training].sort().values, permutation[training:].sort().values


def shuffled(indices: Tensor, seed: int, epoch: int) -> Tensor:
    """Return the indices in the order of an epoch, which depends on the seed and the epoch alone."""
    return indices[torch.randperm(len(indices), generator=generator("order", seed, epoch))]


def chunks(indices: Tensor, size: int) -> list[Tensor]:
    """Split the indices into chunks of one size; the last may be smaller."""
    return [indices[start : start + size] for start in range(0, len(indices), size)]


def generator(purpose: str, *numbers: int) -> torch.Generator:
    """A random generator seeded by a purpose and some numbers, independent of all others."""
    digest = blake2b(repr((purpose, *numbers)).encode(), digest_size=8).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest, "little"))
