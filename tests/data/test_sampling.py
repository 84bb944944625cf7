"""Splits and orders depend only on their arguments."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.data import shuffled, split
from bayesnas_graph.data.sampling import chunks, generator


@given(st.integers(0, 200), st.floats(0, 1), st.integers(0, 2**40))
def test_split(count: int, held_out: float, seed: int) -> None:
    train, held = split(count, held_out, seed)
    assert sorted([*train.tolist(), *held.tolist()]) == list(range(count))
    assert abs(len(held) - count * held_out) <= 0.5
    again = split(count, held_out, seed)
    assert torch.equal(train, again[0])
    assert torch.equal(held, again[1])


def test_split_depends_on_the_seed() -> None:
    assert not torch.equal(split(100, 0.5, 0)[0], split(100, 0.5, 1)[0])
    with pytest.raises(ValueError, match="between 0 and 1"):
        split(10, 1.5, 0)


def test_order() -> None:
    indices = torch.arange(50, 150)
    orders = {tuple(shuffled(indices, seed, epoch).tolist()) for seed in range(3) for epoch in range(3)}
    assert len(orders) == 9
    assert all(sorted(one) == indices.tolist() for one in orders)
    before = shuffled(indices, 1, 2)
    torch.manual_seed(7)
    torch.rand(3)
    assert torch.equal(shuffled(indices, 1, 2), before)


def test_generators_of_other_purposes_differ() -> None:
    def first(*what: str | int) -> float:
        purpose, *numbers = what
        return float(torch.rand(1, generator=generator(str(purpose), *map(int, numbers))))

    drawn = [
        first("a"),
        first("a", 0),
        first("a", 0, 0),
        first("b"),
        first("a", 1, 23),
        first("a", 12, 3),
        first("a", -1),
    ]
    assert len(set(drawn)) == len(drawn)


def test_seeds_never_change() -> None:
    """A run that is resumed in another process, or after an upgrade, sees the same data."""
    assert generator("order", 0, 0).initial_seed() == 16210311066531486343


def test_pieces() -> None:
    assert [piece.tolist() for piece in chunks(torch.arange(5), 2)] == [[0, 1], [2, 3], [4]]
    assert chunks(torch.arange(0), 2) == []
