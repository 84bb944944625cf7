"""Learners: after pruning, a learner computes and continues as before."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from bayesnas_graph.bayes import Switches, in_gauge, rescale
from bayesnas_graph.codegen.emit.weights import by_node
from bayesnas_graph.passes import Disconnected
from bayesnas_graph.runtime import Watch, watched
from bayesnas_graph.search.learner import SearchLearner, new_learner, weights, without
from bayesnas_graph.search.measure import sizes
from bayesnas_graph.search.start import equalise
from bayesnas_graph.search.step import train_step
from bayesnas_graph.search.strategies.bayesnas import moved
from bayesnas_graph.search.strategy import Rates
from tests.bayes.numbers import grouped_graphs, ordinary, tensors
from tests.search.spaces import PLAIN, TINY, device, problem

STILL = Rates(weights=0.05, gates=0.0, intensities=(0.1, 0.1))


def begun(text: str = TINY, **chosen: Any) -> SearchLearner:
    """A learner in double precision that has taken a few steps, so that its optimiser remembers something."""
    given = problem(text, **chosen)
    torch.manual_seed(0)
    learner = new_learner(given.graph, given.config, device(given.config))
    learner.supernet.module.double()
    learner.supernet.set_gates(torch.rand_like(learner.supernet.gates) + 0.5)
    for _ in range(3):
        train_step(learner, batch(), STILL)
    return learner


def batch() -> tuple[Tensor, Tensor]:
    return torch.rand(12, 1, 8, 8, dtype=torch.float64), torch.arange(12) % 10


def without_precisely(learner: SearchLearner, off: set[str]) -> SearchLearner:
    """`without`, in double precision, which searches do not have."""
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        return without(learner, off)
    finally:
        torch.set_default_dtype(default)


def closed(learner: SearchLearner, off: set[str]) -> None:
    """Set the gates of some groups to zero."""
    group_of = {gate.name: gate.group for gate in learner.graph.gates}
    kept = torch.tensor([group_of[name] not in off for name in learner.supernet.names])
    learner.supernet.set_gates(learner.supernet.gates * kept)


def assert_same_weights(smaller: SearchLearner, larger: SearchLearner, atol: float = 1e-12) -> None:
    """Every tensor that the smaller one has, node by node, and what its optimiser remembers of it."""
    kept = [
        {"weights": dict(learner.supernet.module.state_dict()), **learner.memory()} for learner in (smaller, larger)
    ]
    assert kept[0].keys() == kept[1].keys()
    for kind, state in kept[0].items():
        mine, theirs = by_node(state, smaller.supernet.program), by_node(kept[1][kind], larger.supernet.program)
        assert mine
        for node, found in mine.items():
            for name, value in found.items():
                torch.testing.assert_close(value, theirs[node][name], rtol=1e-9, atol=atol)


GROUPS = ["block:h.x.twice", "block:h.x.conv", "block:h.x.max_pool", "block:h.x_2.twice", "block:h.x_2.identity"]


@settings(max_examples=12)
@given(
    off=st.sets(st.sampled_from(GROUPS), min_size=1, max_size=4),
    optimiser=st.sampled_from(["sgd", "adamw"]),
    fuse=st.booleans(),
)
def test_closing_switches_keeps_the_function(off: set[str], optimiser: str, fuse: bool) -> None:
    """Outputs in evaluation and training mode, and the next training steps, equal those of the masked network."""
    larger = begun(optimiser=optimiser, fuse=fuse, weight_decay=0.0, clip=0.0)
    closed(larger, off)
    smaller = without_precisely(larger, off)
    assert_same_weights(smaller, larger)
    x, y = batch()
    for at_rest in (True, False):
        outputs = []
        for learner in (smaller, larger):
            learner.supernet.module.train(not at_rest)
            with torch.no_grad():
                outputs.append(learner.supernet.module(x))
        torch.testing.assert_close(*outputs, rtol=1e-9, atol=1e-12)
    for _ in range(2):
        losses = [float(train_step(learner, (x, y), STILL)[0]) for learner in (smaller, larger)]
        assert losses[0] == pytest.approx(losses[1], rel=1e-9)
    # Of a weight that the loss does not see, AdamW makes steps of the rounding in its slope.
    assert_same_weights(smaller, larger, 1e-3 if optimiser == "adamw" else 1e-12)


def test_what_is_known_about_the_switches_moves_along() -> None:
    larger = begun()
    numbers = torch.arange(len(larger.switches.groups), dtype=torch.float64)
    prior = replace(larger.prior, gamma=numbers, omega=numbers + 100, s=numbers + 200)
    units = torch.arange(len(larger.switches.gates), dtype=torch.float64)
    smaller = without(larger.with_prior(prior, units), {"block:h.x.twice"})
    assert "block:h.x.twice" not in smaller.switches.groups
    for number, group in enumerate(smaller.switches.groups):
        before = larger.switches.groups.index(group)
        assert smaller.prior.gamma[number] == before
        assert smaller.prior.omega[number] == before + 100
        assert smaller.prior.s[number] == before + 200
    assert [larger.supernet.names[int(unit)] for unit in smaller.units] == list(smaller.supernet.names)


def test_at_once_is_as_one_by_one() -> None:
    one_by_one = at_once = begun()
    for group in GROUPS[:3]:
        one_by_one = without_precisely(one_by_one, {group})
    at_once = without_precisely(at_once, set(GROUPS[:3]))
    assert one_by_one.supernet.program == at_once.supernet.program
    assert_same_weights(one_by_one, at_once)


def test_gates_are_not_weights() -> None:
    learner = begun(PLAIN)
    names = {name for name, _ in weights(learner.supernet)}
    assert names
    assert not any("gates" in name for name in names)
    held = {id(parameter) for group in learner.optimiser.param_groups for parameter in group["params"]}
    assert held == {id(parameter) for _, parameter in weights(learner.supernet)}


# ------------------------------------------------------------------------------------- gates that move


@given(made=grouped_graphs(), data=st.data())
def test_a_new_unit_leaves_the_gauge_alone(made: Any, data: st.DataObject) -> None:
    switches = Switches.of(made)
    w = data.draw(tensors(ordinary, len(switches.gates), torch.float64))
    r = data.draw(tensors(st.one_of(st.just(0.0), ordinary), len(switches.gates), torch.float64))
    units = in_gauge(switches.gauge, w, r)
    assert (units > 0).all()
    torch.testing.assert_close(rescale(switches.gauge, w * units), w * units)
    torch.testing.assert_close(rescale(switches.gauge, w, units), w)


@settings(max_examples=20)
@given(data=st.data(), gauge=st.sampled_from(["node", "none"]))
def test_the_scale_of_an_output_does_not_matter(data: st.DataObject, gauge: str) -> None:
    """With a candidate's output times `c` and its gate divided by `c`, their product moves as before."""
    given = problem(strategy="bayesnas", gauge=gauge)
    learner = new_learner(given.graph, given.config, device(given.config))
    learner.supernet.module.double()
    count = len(learner.supernet.names)
    w, slopes, units, c = (data.draw(tensors(ordinary, count, torch.float64)) for _ in range(4))
    rates = Rates(weights=0.0, gates=0.1, intensities=(0.3, 0.2))
    learner.supernet.set_gates(w)
    plain = moved(learner.with_prior(learner.prior, units), slopes, rates)
    learner.supernet.set_gates(w / c)
    scaled = moved(learner.with_prior(learner.prior, units * c), slopes * c, rates)
    torch.testing.assert_close(scaled * c, plain, rtol=1e-6, atol=1e-9)


def test_gates_stand_still_before_they_move() -> None:
    learner = begun(strategy="bayesnas")
    before = learner.supernet.gates
    train_step(learner, batch(), STILL)
    assert torch.equal(learner.supernet.gates, before)
    train_step(learner, batch(), replace(STILL, gates=0.1))
    assert not torch.equal(learner.supernet.gates, before)


def test_a_penalty_closes_gates_exactly() -> None:
    learner = begun(strategy="bayesnas", gauge="none")
    for _ in range(30):
        train_step(learner, batch(), Rates(weights=0.0, gates=0.1, intensities=(5.0, 5.0)))
    assert (learner.supernet.gates == 0).all()


def test_an_empty_network_is_rejected() -> None:
    learner = begun()
    with pytest.raises(Disconnected):
        without(learner, set(learner.switches.groups))


@pytest.mark.parametrize("unit", ["contribution", "rms"])
def test_gates_start_where_all_contribute_the_same(unit: str) -> None:
    learner, (x, y) = begun(unit=unit), batch()
    equalise(learner, (x, y))
    learner.network.train()
    with torch.no_grad(), watched(Watch()) as watch:
        learner.supernet.module(x)
    moments = learner.supernet.moments(watch)
    expected = moments.spreads if unit == "contribution" else moments.squares
    assert not torch.allclose(moments.spreads, moments.squares, rtol=0.01)
    torch.testing.assert_close(sizes(learner, moments, len(x)), expected.sqrt())
    contributed = learner.supernet.gates * expected.sqrt()
    torch.testing.assert_close(contributed, torch.ones_like(contributed), rtol=0.02, atol=0)
