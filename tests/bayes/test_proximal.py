"""Proximal steps: what they minimise, and that zeros are exact."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from bayesnas_graph.bayes import (
    Switches,
    block_soft_threshold,
    can_close,
    penalty,
    proximal_step,
    shrink_budget,
    soft_threshold,
    weighted_soft_threshold,
)
from bayesnas_graph.bayes.groups import group_norms
from tests.bayes.numbers import DTYPES, cell_used, extreme, lonely, ordinary, tensors

signs = st.sampled_from([-1.0, 1.0])
groups_of_six = st.lists(st.integers(0, 2), min_size=6, max_size=6).map(torch.tensor)


def test_a_step_by_hand() -> None:
    switches = Switches.of(cell_used(2))
    w = torch.tensor([3.0, 1, 1, 1, 4, 1, 1, 1])
    omega = torch.tensor([2.5, 0, 100, 1])
    stepped = proximal_step(switches, w, omega, switches.by_kind(2, 1), rate=0.5)
    left = 1 - 0.5 / 2**0.5
    torch.testing.assert_close(stepped, torch.tensor([1.5, 1, 0, left, 2, 1, 0, left]))
    assert stepped[[2, 6]].tolist() == [0, 0]
    assert penalty(switches, w, omega, switches.by_kind(2, 1)).item() == pytest.approx(25 + 200 * 2**0.5 + 2**0.5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_block_of_one_is_the_plain_threshold(dtype: torch.dtype) -> None:
    @given(data=st.data())
    def equal(data: st.DataObject) -> None:
        v = data.draw(tensors(extreme, 5, dtype)) * data.draw(tensors(signs, 5, dtype))
        threshold = data.draw(tensors(extreme, 5, dtype))
        one = block_soft_threshold(v, threshold, torch.arange(5))
        plain = soft_threshold(v, threshold)
        torch.testing.assert_close(one, plain)
        assert torch.equal(one == 0, plain == 0)
        assert (plain[v.abs() <= threshold] == 0).all()

    equal()


@pytest.mark.parametrize("dtype", DTYPES)
def test_blocks(dtype: torch.dtype) -> None:
    @given(data=st.data(), group=groups_of_six)
    def obeyed(data: st.DataObject, group: Tensor) -> None:
        v = data.draw(tensors(extreme, 6, dtype)) * data.draw(tensors(signs, 6, dtype))
        threshold = data.draw(tensors(extreme, 3, dtype))
        w = block_soft_threshold(v, threshold, group)
        assert w.isfinite().all()
        assert ((w.abs() <= v.abs() * (1 + 1e-6)) & (w * v >= 0)).all()
        before, after = group_norms(v, group, 3), group_norms(w, group, 3)
        torch.testing.assert_close(after, (before - threshold).clamp(min=0), rtol=1e-5, atol=0)
        assert (w[(before <= threshold)[group]] == 0).all()

    obeyed()


def objective(w: Tensor, v: Tensor, threshold: Tensor, group: Tensor, r: Tensor) -> float:
    return float((w - v).square().sum() / 2 + (threshold * group_norms(w * r, group, len(threshold))).sum())


@given(data=st.data(), group=groups_of_six)
def test_with_units_it_is_the_best_step(data: st.DataObject, group: Tensor) -> None:
    """No nearby point is better: the gradient vanishes there, or the point is zero."""
    v = data.draw(tensors(ordinary, 6, torch.float64)) * data.draw(tensors(signs, 6, torch.float64))
    r, threshold = data.draw(tensors(ordinary, 6, torch.float64)), data.draw(tensors(ordinary, 3, torch.float64))
    w = weighted_soft_threshold(v, threshold, group, r)
    norms = group_norms(w * r, group, 3)[group]
    stays = group_norms(v / r, group, 3) > threshold
    assert torch.equal(norms > 0, stays[group])
    slope = w - v + threshold[group] * r.square() * w / norms
    torch.testing.assert_close(slope[norms > 0], torch.zeros_like(slope[norms > 0]), atol=1e-6, rtol=0)
    best = objective(w, v, threshold, group, r)
    for factor in (0.0, 0.99, 1.01):
        assert best <= objective(w * factor, v, threshold, group, r) * (1 + 1e-12)


@given(data=st.data(), group=groups_of_six, r=ordinary)
def test_equal_units_are_a_plain_block(data: st.DataObject, group: Tensor, r: float) -> None:
    v, threshold = data.draw(tensors(ordinary, 6, torch.float64)), data.draw(tensors(ordinary, 3, torch.float64))
    weighted = weighted_soft_threshold(v, threshold, group, torch.full_like(v, r))
    torch.testing.assert_close(weighted, block_soft_threshold(v, threshold * r, group), rtol=1e-6, atol=1e-9)


def test_units_in_a_step() -> None:
    switches = Switches.of(lonely(3))
    ones = torch.ones(3)
    stepped = proximal_step(switches, ones, ones, ones, rate=0.25, r=torch.tensor([1.0, 2.0, 0.0]))
    torch.testing.assert_close(stepped, torch.tensor([0.75, 0.5, 0.75]))
    contribution = penalty(switches, ones, ones, ones, torch.tensor([1.0, 2.0, 0.0]))
    assert contribution.item() == 1 + 2 + 1


def test_nothing_is_shrunk_without_a_threshold() -> None:
    v, r = torch.tensor([1.0, -2.0, 0.0]), torch.tensor([1.0, 3.0, 1.0])
    assert torch.equal(weighted_soft_threshold(v, torch.zeros(1), torch.zeros(3, dtype=torch.long), r), v)
    assert torch.equal(soft_threshold(v, torch.zeros(3)), v)


def test_the_budget_is_what_steps_can_do() -> None:
    """Gates with no loss gradient reach zero exactly when the budget predicts."""
    switches = Switches.of(cell_used(3))
    lambda_w, omega = switches.by_kind(0.5, 0.25), torch.tensor([1.0, 2.0, 4.0, 8.0], dtype=torch.float64)
    for steps, closed in ((5, [False, False, False, False]), (9, [False, False, True, True])):
        rates = torch.linspace(0.2, 0.1, steps, dtype=torch.float64)
        w = torch.ones(12, dtype=torch.float64)
        for rate in rates.tolist():
            w = proximal_step(switches, w, omega, lambda_w, rate)
        budget = shrink_budget(switches, rates, omega, lambda_w)
        assert can_close(budget).tolist() == closed
        torch.testing.assert_close(w[:4], (1 - budget).clamp(min=0))
        assert (w == 0).tolist() == closed * 3


def test_the_budget_of_contributions() -> None:
    switches = Switches.of(lonely(2))
    ones = torch.ones(2)
    budget = shrink_budget(switches, torch.full((10,), 0.1), ones, 0.5 * ones, r=torch.tensor([1.0, 4.0]))
    torch.testing.assert_close(budget, torch.tensor([0.5, 2.0]))
    assert can_close(budget).tolist() == [False, True]
