"""Drop-path: terms of sums are dropped at random, sample by sample."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import torch
from torch import Tensor


class _Dropping(threading.local):
    """What `dropping` has set in this thread. Not a ContextVar: `torch.compile` cannot trace those."""

    probability: float = 0.0
    generator: torch.Generator | None = None


_dropping = _Dropping()


@contextmanager
def dropping(probability: float, generator: torch.Generator | None = None) -> Iterator[None]:
    """Drop terms of the gated sums within this block, each term for each sample independently.

    Terms that are kept are divided by the probability of being kept, so the sum is the same on average. A value that is
    a term of several sums is dropped in each independently. Zero gates are not terms. If blocks are nested, the inner
    one counts; with probability 0, no random numbers are drawn.

    >>> from bayesnas_graph.runtime import gated_sum
    >>> with dropping(0.5, torch.Generator().manual_seed(0)):
    ...     gated_sum([torch.ones(6)], torch.ones(1))
    tensor([0., 2., 0., 0., 0., 2.])
    """
    if not 0 <= probability < 1:
        raise ValueError(f"the probability of dropping a term must be at least 0 and less than 1, and is {probability}")
    before = _dropping.probability, _dropping.generator
    _dropping.probability, _dropping.generator = probability, generator
    try:
        yield
    finally:
        _dropping.probability, _dropping.generator = before


def is_dropping() -> bool:
    """Whether terms are dropped here."""
    return _dropping.probability > 0


def drops_again() -> AbstractContextManager[None]:
    """A block that drops what would be dropped here, also in another thread, if torch's own generator is reset."""
    probability, generator = _dropping.probability, _dropping.generator
    if generator is not None:
        generator = generator.clone_state()
    return dropping(probability, generator)


def dropped(value: Tensor) -> Tensor:
    """A term of a sum without gates, dropped like those of gated sums.

    >>> with dropping(0.5, torch.Generator().manual_seed(0)):
    ...     dropped(torch.ones(6))
    tensor([0., 2., 0., 0., 0., 2.])
    """
    factors = drawn([value])
    return value if factors is None else value * factors[0].view(-1, *[1] * (value.ndim - 1)).to(value.dtype)


def drawn(values: Sequence[Tensor]) -> Tensor | None:
    """Random factors for the terms of a sum, a row for each term and a column for each sample; None if all are kept."""
    probability, generator = _dropping.probability, _dropping.generator
    if not probability:
        return None
    device = values[0].device
    drawn_on = device if generator is None else generator.device
    numbers = torch.rand(len(values), len(values[0]), generator=generator, device=drawn_on)
    return (numbers >= probability).to(device).float() / (1 - probability)
