"""Random numbers that depend on a seed and on where in a search they are used, and on nothing that came before.

So a search that goes on from a checkpoint draws what it would have drawn, and no state of a generator must be kept.
"""

from __future__ import annotations

import hashlib
import random

import numpy as np
import torch


def mixed(*numbers: int | str) -> int:
    """A seed made of several numbers.

    >>> mixed(0, "step", 1) == mixed(0, "step", 1) != mixed(0, "step", 2)
    True
    """
    return int.from_bytes(hashlib.blake2b(repr(numbers).encode(), digest_size=7).digest(), "big")


def seed_everything(*numbers: int | str) -> None:
    """Seed the generators that everybody shares: those of torch on all devices, of NumPy and of Python."""
    seed = mixed(*numbers)
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)


def generator(device: torch.device, *numbers: int | str) -> torch.Generator:
    """A generator of one's own."""
    return torch.Generator(device).manual_seed(mixed(*numbers))
