"""Predicted losses and expected improvement, compared with dense Gaussian formulas and with sampling."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from bayesnas_graph.bayes import expected_improvement, predict, swaps
from bayesnas_graph.bayes.improvement import FLAT, NOISES, RANGES, Predictions

NAMES = "abcdefgh"
architectures = st.lists(st.frozensets(st.sampled_from(NAMES), min_size=1), min_size=2, max_size=12, unique=True)


def losses(count: int, seed: int) -> Tensor:
    numbers = torch.Generator().manual_seed(seed)
    return 1 + 0.1 * torch.randn(count, generator=numbers, dtype=torch.float64)


@given(architectures)
def test_swaps_are_a_distance(some: list[frozenset[str]]) -> None:
    distances = swaps(some)
    assert torch.equal(distances, distances.T)
    assert not distances.diagonal().any()
    through = distances[:, :, None] + distances[None]
    assert bool((distances[:, None] <= through.transpose(1, 2) + 1e-12).all())
    for i, one in enumerate(some):
        for j, other in enumerate(some):
            assert float(distances[i, j]) == len(one ^ other) / 2


@given(architectures, st.integers(0, 1000), st.data())
def test_predictions_are_those_of_a_dense_normal_distribution(
    some: list[frozenset[str]], seed: int, data: st.DataObject
) -> None:
    """The conditional distribution, by the textbook's inverse, for the most likely range and noise."""
    measured = data.draw(st.integers(1, len(some)))
    distances, y = swaps(some), losses(measured, seed)
    found = predict(distances, y)
    best: tuple[float, Tensor, Tensor] | None = None
    centred = y - y.mean()
    for reach in RANGES:
        for noise in NOISES:
            k = (-distances / reach).exp() + FLAT
            inside = k[:measured, :measured] + noise * torch.eye(measured, dtype=torch.float64)
            variance = (centred @ inside.inverse() @ centred / measured).clamp(min=1e-12)
            normal = torch.distributions.MultivariateNormal(torch.zeros(measured).double(), variance * inside)
            likelihood = float(normal.log_prob(centred))  # type: ignore[no-untyped-call]
            if best is None or likelihood > best[0] + 1e-6:
                across = k[measured:, :measured] @ inside.inverse()
                spread = k[measured:, measured:] - across @ k[:measured, measured:]
                best = likelihood, y.mean() + across @ centred, (variance * spread.diagonal()).sqrt()
    assert best is not None
    if float(centred.abs().max()) > 1e-9:  # otherwise all likelihoods are the same
        torch.testing.assert_close(found.mean[measured:], best[1], atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(found.deviation[measured:], best[2], atol=1e-4, rtol=1e-3)


def test_improvement_is_the_mean_of_what_is_gained() -> None:
    mean = torch.tensor([1.0, 1.2, 0.9, 1.0, 1.3], dtype=torch.float64)
    deviation = torch.tensor([0.1, 0.1, 0.2, 0.05, 0.3], dtype=torch.float64)
    found = expected_improvement(Predictions(mean, deviation), 2)
    draws = torch.randn(400_000, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    gained = (mean[:2].min() - (mean[2:, None] + deviation[2:, None] * draws)).clamp(min=0).mean(1)
    torch.testing.assert_close(found, gained, atol=2e-3, rtol=0)


@given(architectures, st.integers(0, 1000))
def test_all_numbers_are_finite(some: list[frozenset[str]], seed: int) -> None:
    for y in (losses(len(some) - 1, seed), torch.ones(len(some) - 1, dtype=torch.float64)):
        found = predict(swaps(some), y)
        assert bool(found.mean.isfinite().all())
        assert bool((found.deviation > 0).all())
        assert bool((expected_improvement(found, len(some) - 1) >= 0).all())


def test_neighbours_of_good_architectures_are_preferred() -> None:
    """A swap of the better half is expected to gain more than a swap of the worse one."""
    good, bad = frozenset("abc"), frozenset("fgh")
    some = [good, frozenset("abd"), bad, frozenset("fge"), frozenset("abe"), frozenset("fgd")]
    y = torch.tensor([0.50, 0.52, 0.90, 0.92], dtype=torch.float64)
    near_good, near_bad = expected_improvement(predict(swaps(some), y), 4).tolist()
    assert near_good > 2 * near_bad


@pytest.mark.parametrize("count", [1, 2])
def test_few_measurements(count: int) -> None:
    some = [frozenset(name) for name in "abcd"]
    assert expected_improvement(predict(swaps(some), losses(count, 0)), count).shape == (4 - count,)
