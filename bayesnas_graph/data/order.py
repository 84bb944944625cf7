"""Which examples come when: functions of a seed, so that any step can be returned to."""

from __future__ import annotations

from hashlib import blake2b

import torch
from torch import Tensor


def split(count: int, held_out: float, seed: int) -> tuple[Tensor, Tensor]:
    """The numbers of the examples to train on, and of a fraction that is held out.

    >>> [len(part) for part in split(6, 1 / 3, seed=0)]
    [4, 2]
    """
    if not 0 <= held_out <= 1:
        raise ValueError(f"{held_out} is no fraction")
    permutation = torch.randperm(count, generator=generator("split", seed))
    kept = count - round(count * held_out)
    return permutation[:kept].sort().values, permutation[kept:].sort().values


def order(indices: Tensor, seed: int, epoch: int) -> Tensor:
    """The order in which an epoch runs through some examples. It depends on nothing else."""
    return indices[torch.randperm(len(indices), generator=generator("order", seed, epoch))]


def pieces(indices: Tensor, size: int) -> list[Tensor]:
    """The indices in pieces of one size, in order; the last may be smaller."""
    return [indices[start : start + size] for start in range(0, len(indices), size)]


def generator(purpose: str, *numbers: int) -> torch.Generator:
    """Random numbers that depend on a purpose and some numbers, and on no other random numbers."""
    digest = blake2b(repr((purpose, *numbers)).encode(), digest_size=8).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest, "little"))
