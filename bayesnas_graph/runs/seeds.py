"""Random numbers that depend only on a seed and on where in a run they are used.

A resumed run draws the same numbers, and no generator state needs to be saved.
"""

from __future__ import annotations

import hashlib
import random

import numpy as np
import torch


def mixed(*numbers: int | str) -> int:
    """Return a seed derived from several numbers.

    >>> mixed(0, "step", 1) == mixed(0, "step", 1) != mixed(0, "step", 2)
    True
    """
    return int.from_bytes(hashlib.blake2b(repr(numbers).encode(), digest_size=7).digest(), "big")


def seed_everything(*numbers: int | str) -> None:
    """Seed the global generators of torch on all devices, of NumPy and of Python."""
    seed = mixed(*numbers)
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)


def generator(device: torch.device, *numbers: int | str) -> torch.Generator:
    """Return a separate generator."""
    return torch.Generator(device).manual_seed(mixed(*numbers))
