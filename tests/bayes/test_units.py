"""With gates measured by contribution, decisions do not depend on the scale of outputs."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.bayes import State, Switches, contributions, keep, rescale, update
from bayesnas_graph.bayes.units import unit
from bayesnas_graph.ir import Graph
from tests.bayes.numbers import DTYPES, cell_used, grouped_graphs, lonely, ordinary, tensors


@pytest.mark.parametrize("dtype", DTYPES)
def test_outputs_may_come_in_any_scale(dtype: torch.dtype) -> None:
    @given(made=grouped_graphs(), data=st.data())
    def the_same(made: Graph, data: st.DataObject) -> None:
        switches = Switches.of(made)
        gates = len(switches.gates)
        w, h, r = (data.draw(tensors(ordinary, gates, dtype)) for _ in range(3))
        # Powers of two, so that not a bit is lost and what is kept is the same even at the threshold.
        c = data.draw(tensors(st.integers(-20, 20).map(lambda n: 2.0**n), gates, dtype))
        states = []
        for h_, w_, r_ in ((h, w, r), (c.square() * h, w / c, r * c)):
            gamma = State.start(switches, dtype).gamma
            for _ in range(3):
                state = update(switches, gamma, *contributions(h_, w_, r_), switches.by_kind(0.05, 0.1))
                gamma = state.gamma
            states.append(state)
        assert torch.equal(states[0].gamma, states[1].gamma)
        assert torch.equal(keep(states[0].gamma), keep(states[1].gamma))
        assert torch.equal(states[0].omega, states[1].omega)
        torch.testing.assert_close(rescale(switches.gauge, w, r), rescale(switches.gauge, w / c, r * c) * c)

    the_same()


@given(c=st.floats(1e-4, 1e4))
def test_any_factor(c: float) -> None:
    switches = Switches.of(cell_used(2))
    torch.manual_seed(0)
    w, h, r = torch.rand(3, 8, dtype=torch.float64) + 0.1
    factor = torch.where(torch.arange(8) == 2, c, 1.0).double()
    ones = State.start(switches).gamma
    one = update(switches, ones, *contributions(h, w, r), ones)
    two = update(switches, ones, *contributions(h * factor**2, w / factor, r * factor), ones)
    torch.testing.assert_close(one.gamma, two.gamma)


def test_without_units_a_gate_depends_on_the_scale() -> None:
    """In the unit of gates, rescaling the same network changes the decision."""
    switches = Switches.of(lonely(1))
    one, intensity = torch.ones(1), torch.full((1,), 0.05)
    kept = [keep(update(switches, one, h * one, w * one, intensity).gamma).item() for w, h in ((1, 0.1), (0.01, 1000))]
    assert kept == [True, False]


def test_outputs_of_size_one_change_nothing() -> None:
    w, h = torch.rand(5), torch.rand(5)
    assert all(map(torch.equal, contributions(h, w, torch.ones(5)), (h, w)))


def test_an_output_that_is_always_zero() -> None:
    assert unit(torch.tensor([0.0, 2.0])).tolist() == [1, 2]
    h, w = contributions(torch.zeros(1), torch.ones(1), torch.zeros(1))
    state = update(Switches.of(lonely(1)), torch.ones(1), h, w, torch.ones(1))
    assert state.undetermined.tolist() == [0]
