"""Drop-path: terms of sums that are left out at random, sample by sample."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor


class _Dropping(threading.local):
    """What `dropping` has set in this thread. Not a ContextVar: `torch.compile` cannot trace those."""

    probability: float = 0.0
    generator: torch.Generator | None = None


_dropping = _Dropping()


@contextmanager
def dropping(probability: float, generator: torch.Generator | None = None) -> Iterator[None]:
    """Drop what gated sums within add up: each term for each sample by itself, with some probability.

    What is kept is divided by the probability to be kept, so that the sum is the same on average. A value that
    is a term of several sums is dropped in each by itself. Zero gates are no terms. Of two that are nested the
    inner one counts, and with probability 0 nothing is drawn.

    >>> from bayesnas_graph.runtime import gated_sum
    >>> with dropping(0.5, torch.Generator().manual_seed(0)):
    ...     gated_sum([torch.ones(6)], torch.ones(1))
    tensor([0., 2., 0., 0., 0., 2.])
    """
    if not 0 <= probability < 1:
        raise ValueError(f"the probability to drop a term is at least 0 and less than 1, and this is {probability}")
    before = _dropping.probability, _dropping.generator
    _dropping.probability, _dropping.generator = probability, generator
    try:
        yield
    finally:
        _dropping.probability, _dropping.generator = before


def dropped(value: Tensor) -> Tensor:
    """A term of a sum without gates, which is dropped where gated sums drop theirs.

    >>> with dropping(0.5, torch.Generator().manual_seed(0)):
    ...     dropped(torch.ones(6))
    tensor([0., 2., 0., 0., 0., 2.])
    """
    factors = drawn([value])
    return value if factors is None else value * factors[0].view(-1, *[1] * (value.ndim - 1)).to(value.dtype)


def drawn(values: Sequence[Tensor]) -> Tensor | None:
    """The factors of the terms of a sum, a row for each term with a column for each sample; None if all are kept."""
    probability, generator = _dropping.probability, _dropping.generator
    if not probability:
        return None
    device = values[0].device
    where = device if generator is None else generator.device
    numbers = torch.rand(len(values), len(values[0]), generator=generator, device=where)
    return (numbers >= probability).to(device).float() / (1 - probability)
