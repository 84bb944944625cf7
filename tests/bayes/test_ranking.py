"""The ranking of switches."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.bayes import Switches, magnitude, posterior_variance, relevance, removal, score, update
from tests.bayes.numbers import DTYPES, cell_used, extreme, lonely, tensors


def test_relevance_is_signal_to_noise() -> None:
    switches = Switches.of(lonely(3))
    gamma, h, w = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 0.5, 0.0]), torch.tensor([1.0, -2.0, 3.0])
    expected = w.square() / posterior_variance(gamma, h / 0.1)
    torch.testing.assert_close(relevance(switches, gamma, h, w, torch.full((3,), 0.1)), expected)


def test_removal_is_the_change_of_a_parabola() -> None:
    switches = Switches.of(lonely(2))
    h, w, g = torch.tensor([3.0, 1.0]), torch.tensor([2.0, -1.0]), torch.tensor([0.5, 0.25])
    # loss(w + d) = loss(w) + g d + h d^2 / 2, at d = -w
    torch.testing.assert_close(removal(switches, h, w, g), -w * g + h * w**2 / 2)


def test_groups_add_up() -> None:
    switches = Switches.of(cell_used(2))
    ones, eight = torch.ones(4), torch.ones(8)
    assert relevance(switches, ones, eight, eight, ones).tolist() == [4] * 4
    assert removal(switches, eight, eight, torch.zeros(8)).tolist() == [1] * 4


def test_gamma_prefers_what_matters_least() -> None:
    """Of two equal gates, gamma ranks the one with little effect on the loss first; the other rankings do not."""
    switches = Switches.of(lonely(2))
    h, w, lambda_w = torch.tensor([0.01, 1.0]), torch.ones(2), torch.full((2,), 0.05)
    gamma = update(switches, torch.ones(2), h, w, lambda_w).gamma
    best = {
        ranking: score(ranking, switches, gamma, h, w, torch.zeros(2), lambda_w).argmax().item()
        for ranking in ("gamma", "relevance", "removal")
    }
    assert best == {"gamma": 0, "relevance": 1, "removal": 1}


def test_magnitude_sees_gates_alone() -> None:
    switches = Switches.of(cell_used(2))
    w = torch.arange(8.0)
    expected = [w[switches.group == group].square().mean().sqrt().item() for group in range(4)]
    assert magnitude(switches, w).tolist() == pytest.approx(expected)
    ones, nothing = torch.ones(4), torch.zeros(8)
    assert torch.equal(score("magnitude", switches, ones, nothing, -w, nothing, ones), magnitude(switches, w))


@pytest.mark.parametrize("dtype", DTYPES)
def test_relevance_is_a_number(dtype: torch.dtype) -> None:
    @given(data=st.data())
    def finite(data: st.DataObject) -> None:
        switches = Switches.of(cell_used(2))
        gamma = data.draw(tensors(extreme, 4, dtype))
        h, w = (data.draw(tensors(extreme, 8, dtype)) for _ in range(2))
        found = relevance(switches, gamma, h, w, switches.by_kind(0.05, 0.02))
        assert found.isfinite().all()
        assert (found >= 0).all()

    finite()
