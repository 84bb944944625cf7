"""The worth of switches: means with standard errors, scale, zero switches, and what lambda does."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from bayesnas_graph.bayes import (
    THRESHOLD,
    Switches,
    Worth,
    add_look,
    entropy,
    errors_of,
    evidence,
    faded,
    for_size,
    in_units,
    no_looks,
    off_below,
    with_best_kept,
    worth,
)
from bayesnas_graph.bayes.worth import EARLIER, OF_PHASE, UNKNOWN
from tests.bayes.numbers import cell_used

NONE_ALONE = torch.zeros(3, dtype=torch.bool)
NO_CURVATURE = torch.zeros(3, dtype=torch.float64)
samples = st.lists(st.tuples(*[st.floats(-1, 1)] * 3), min_size=2, max_size=20)


@pytest.fixture
def switches() -> Switches:
    return Switches.of(cell_used(2))


def summed(rows: Tensor, factors: Tensor | None = None) -> dict[str, Tensor]:
    """The sums of samples, each with a weight."""
    weights = torch.ones(len(rows), dtype=torch.float64) if factors is None else factors
    columns = weights[:, None].expand_as(rows)
    parts = (columns, columns.square(), columns * rows, columns * rows.square())
    return {**no_looks(rows.shape[1]), **{name: part.sum(0) for name, part in zip(EARLIER, parts, strict=True)}}


def judged(rows: Tensor, is_alone: Tensor = NONE_ALONE, curvature: Tensor = NO_CURVATURE) -> Worth:
    """The worth after some samples of one phase."""
    parts = (torch.ones_like(rows), rows, rows.square())
    new = {name: part.sum(0) for name, part in zip(OF_PHASE, parts, strict=True)}
    return worth(in_units({**no_looks(rows.shape[1]), **new}, is_alone, curvature), is_alone)


def test_a_sample_is_the_loss_that_a_larger_gate_would_save(switches: Switches) -> None:
    gates = torch.arange(1.0, len(switches.gates) + 1)
    slopes = torch.linspace(-1, 1, len(switches.gates))
    looks = no_looks(len(switches.groups))
    add_look(looks, switches, gates, slopes)
    add_look(looks, switches, gates, slopes)
    expected = torch.zeros(len(switches.groups), dtype=torch.float64)
    for gate, group in enumerate(switches.group.tolist()):
        expected[group] -= gates[gate].double() * slopes[gate].double()
    torch.testing.assert_close(looks["new_slope"], 2 * expected)
    torch.testing.assert_close(looks["new_slope_squared"], 2 * expected.square())
    assert looks["new"].tolist() == [2] * len(switches.groups)


@given(samples)
def test_the_standard_error_is_that_of_a_mean(values: list[tuple[float, ...]]) -> None:
    rows = torch.tensor(values, dtype=torch.float64)
    found = judged(rows)
    mean, spread = rows.mean(0), rows.std(0, correction=0)
    scale = mean.square().mean().sqrt()
    if scale > 1e-6:
        torch.testing.assert_close(found.mean, 1 + mean / scale)
        torch.testing.assert_close(found.error, spread / math.sqrt(len(rows)) / scale, atol=1e-6, rtol=1e-6)


@given(samples, st.floats(0.1, 0.9))
def test_faded_samples_count_less(values: list[tuple[float, ...]], factor: float) -> None:
    """Fading twice gives the oldest samples the square of the factor, and counts them as fewer samples."""
    rows = torch.tensor(values, dtype=torch.float64)
    old, new = faded(summed(rows), factor), summed(rows)
    once = {name: old[name] + new[name] for name in new}
    factors = torch.tensor([factor] * len(rows) + [1.0] * len(rows), dtype=torch.float64)
    torch.testing.assert_close(once, summed(torch.cat([rows, rows]), factors))
    samples_left = once["weight"].square() / once["weight_squared"]
    assert bool((samples_left <= 2 * len(rows)).all())
    assert bool((samples_left >= len(rows)).all())


@given(samples, st.floats(1e-6, 1e6))
def test_the_scale_of_the_loss_does_not_matter(values: list[tuple[float, ...]], factor: float) -> None:
    rows = torch.tensor(values, dtype=torch.float64)
    if float(rows.mean(0).abs().max()) < 1e-3:
        return
    one, other = (judged(rows * by) for by in (1, factor))
    torch.testing.assert_close(one.mean, other.mean)
    torch.testing.assert_close(one.error, other.error, atol=1e-6, rtol=1e-4)


def test_a_zero_switch_is_not_measured_by_candidates() -> None:
    """An edge that should shrink a little is not closed because candidates should grow."""
    rows = torch.tensor([[0.5, -0.5, -0.1], [0.7, -0.9, -0.3]], dtype=torch.float64)
    is_zero, curvature = torch.tensor([False, False, True]), torch.tensor([9.0, 9.0, 2.0], dtype=torch.float64)
    found = judged(rows, is_zero, curvature)
    assert found.mean[2] == pytest.approx((1 - 0.2) ** 0.5)
    same = judged(rows, is_zero, curvature / 9)
    torch.testing.assert_close(found.mean[:2], same.mean[:2])


def test_the_best_candidate_of_a_choice_is_kept() -> None:
    """The first three are a choice with a zero switch, the others two optional operations."""
    w = torch.tensor([0.2, 0.1, -3.0, 0.3, -1.0])
    is_zero, choice = torch.tensor([False, False, True, False, False]), torch.tensor([0, 0, 0, 1, 2])
    torch.testing.assert_close(with_best_kept(w, is_zero, choice), torch.tensor([1.0, 0.1, -3.0, 0.3, -1.0]))


def test_the_best_candidate_is_worth_as_much_as_its_choice() -> None:
    """Two choices with a zero switch, the second worth more than its candidates, and an optional operation."""
    w = torch.tensor([0.2, 0.1, -3.0, -0.4, -0.6, 1.5, 0.3])
    is_zero = torch.tensor([False, False, True, False, False, True, False])
    expected = torch.tensor([1.0, 0.1, -3.0, 1.5, -0.6, 1.5, 0.3])
    torch.testing.assert_close(for_size(w, is_zero, torch.tensor([0, 0, 0, 1, 1, 1, 2])), expected)


@given(samples, st.floats(1e-3, 1e3))
def test_phases_count_equally_whatever_their_slopes(values: list[tuple[float, ...]], factor: float) -> None:
    """Slopes shrink while weights are trained. A later phase with the same slopes, but smaller, changes nothing."""
    rows = torch.tensor(values, dtype=torch.float64)
    if float(rows.mean(0).abs().max()) < 1e-2:
        return
    looks = no_looks(3)
    for by in (1.0, factor):
        parts = (torch.ones_like(rows), rows * by, (rows * by).square())
        looks |= {name: part.sum(0) for name, part in zip(OF_PHASE, parts, strict=True)}
        looks = in_units(looks, NONE_ALONE, NO_CURVATURE)
    torch.testing.assert_close(worth(looks, NONE_ALONE).mean, judged(rows).mean)
    assert looks["weight"].tolist() == [2 * len(rows)] * 3
    assert looks["new"].tolist() == [0] * 3


ALL_ALONE = torch.ones(3, dtype=torch.bool)


@given(samples, st.floats(1e-3, 1e3))
def test_what_nothing_replaces_is_worth_the_root_of_what_it_saves(
    values: list[tuple[float, ...]], factor: float
) -> None:
    """Closing one costs `b + h / 2`. A loss in another unit changes nothing."""
    rows, curvature = torch.tensor(values, dtype=torch.float64), torch.tensor([0.5, 2.0, 4.0], dtype=torch.float64)
    cost = (rows.mean(0) + curvature / 2) / (curvature.mean() / 2)
    error = (rows.var(0, correction=0) / len(rows)).sqrt() / (curvature.mean() / 2)
    found = judged(rows, ALL_ALONE, curvature)
    torch.testing.assert_close(found.mean.abs().square() * found.mean.sign(), cost)
    above = found.mean + found.error
    torch.testing.assert_close(above.square() * above.sign(), cost + error, rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(judged(rows * factor, ALL_ALONE, curvature * factor).mean, found.mean)


def test_what_matters_little_is_off_and_more_of_it_with_lambda() -> None:
    rows = torch.tensor([[0.01, -0.01, 0.0], [-0.01, 0.01, 0.0]], dtype=torch.float64)
    most = judged(rows, ALL_ALONE, torch.tensor([0.05, 0.3, 2.65], dtype=torch.float64)).at_most(0.95)
    off = [int((most <= off_below(torch.tensor(value))).sum()) for value in (0.05, 0.5, 4.0)]
    assert off == [1, 2, 3]


def test_nothing_was_seen_yet() -> None:
    """All switches are equal, and there is nothing to be sure about."""
    found = worth(in_units(no_looks(3), NONE_ALONE, NO_CURVATURE), NONE_ALONE)
    assert found.mean.tolist() == [1, 1, 1]
    assert found.error.tolist() == [UNKNOWN] * 3


def test_a_single_sample_does_not_tell_its_error() -> None:
    row = torch.tensor([[0.5, -0.5, 0.1]], dtype=torch.float64)
    found = judged(row)
    torch.testing.assert_close(found.error, UNKNOWN * found.mean.abs().clamp(min=1))
    assert judged(torch.cat([row, row])).error.max() < 1e-6
    assert worth(faded(summed(torch.cat([row, row])), 0.75), NONE_ALONE).error.max() < 1e-6


def test_probabilities() -> None:
    found = Worth(torch.tensor([0.0, 3.0], dtype=torch.float64), torch.tensor([1.0, 1.0], dtype=torch.float64))
    assert found.errors_below(torch.tensor(0.0)).tolist() == [0, -3]
    (worse,) = found.errors_worse(torch.tensor([0]), torch.tensor(1)).tolist()
    assert worse == pytest.approx(3 / math.sqrt(2))
    assert errors_of(0.95) == pytest.approx(1.64485, abs=1e-5)
    assert found.at_most(0.95).tolist() == pytest.approx([1.64485, 4.64485], abs=1e-5)


@given(st.lists(st.floats(-3, 3), min_size=4, max_size=4), st.floats(1e-3, 10), st.floats(1, 10))
def test_a_larger_lambda_closes_more(values: list[float], intensity: float, factor: float) -> None:
    switches = Switches.of(cell_used(2))
    w = torch.tensor(values, dtype=torch.float64)
    few, many = (
        entropy(evidence(switches, w, torch.full_like(w, value)).gamma) <= 0
        for value in (intensity, intensity * factor)
    )
    assert bool((many | ~few).all())


def test_the_threshold_is_that_of_the_entropy(switches: Switches) -> None:
    lambda_w = torch.full((len(switches.groups),), 0.05, dtype=torch.float64)
    state = evidence(switches, off_below(lambda_w), lambda_w)
    torch.testing.assert_close(state.s, torch.full_like(lambda_w, THRESHOLD))


def test_a_negative_worth_is_off(switches: Switches) -> None:
    w = torch.full((len(switches.groups),), -2.0, dtype=torch.float64)
    state = evidence(switches, w, torch.full_like(w, 0.05))
    assert not bool(state.s.any())
    assert not bool(state.gamma.any())
