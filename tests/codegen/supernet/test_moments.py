"""The mean and variance of gate inputs."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from bayesnas_graph.codegen.supernet import Moments
from bayesnas_graph.runtime import Watch, gated_sum, watched


def seen(values: Tensor) -> Moments:
    """The moments of the input of one gate."""
    gates = torch.ones(1, dtype=torch.float64)
    with watched(Watch()) as watch:
        gated_sum([values], gates)
    squares = watch.powers(gates)
    assert squares is not None
    return Moments(squares, tuple(watch.means(gates)))


def images(samples: int) -> Tensor:
    return torch.randn(samples, 3, 4, 4, generator=torch.Generator().manual_seed(samples), dtype=torch.float64)


@given(st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3))
def test_what_is_the_same_everywhere_in_a_channel_does_not_vary(levels: list[float]) -> None:
    x = images(5)
    moved = x + torch.tensor(levels, dtype=torch.float64).view(1, 3, 1, 1)
    torch.testing.assert_close(seen(moved).spreads, seen(x).spreads)
    torch.testing.assert_close(seen(x).spreads, x.var((0, 2, 3), correction=0).mean()[None])


@given(st.integers(1, 8), st.integers(1, 8))
def test_however_samples_are_cut(first: int, second: int) -> None:
    x = images(first + second) + torch.arange(3.0).view(1, 3, 1, 1)
    parts = Moments.average([(first, seen(x[:first])), (second, seen(x[first:]))])
    whole = seen(x)
    torch.testing.assert_close(parts.squares, whole.squares)
    torch.testing.assert_close(parts.means, whole.means)
    torch.testing.assert_close(parts.spreads, whole.spreads)


def test_constants_have_no_spread_and_vectors_have_channels() -> None:
    assert seen(torch.full((4, 2, 3, 3), 7.0)).spreads.tolist() == [0.0]
    assert seen(torch.tensor([[1.0, 5.0], [3.0, 5.0]])).spreads.tolist() == [0.5]
    assert Moments(torch.zeros(0), ()).spreads.tolist() == []


def test_all_numbers_are_changed_as_one_vector() -> None:
    twice = Moments(torch.tensor([1.0, 2.0]), (torch.tensor([3.0]), torch.tensor([4.0, 5.0]))).mapped(lambda v: 2 * v)
    assert twice.squares.tolist() == [2, 4]
    assert [mean.tolist() for mean in twice.means] == [[6], [8, 10]]
