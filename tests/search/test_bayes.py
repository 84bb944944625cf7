"""The default strategy: gates stay at a standard point, slopes are averaged, and only what is sure is closed."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from statistics import NormalDist, geometric_mean
from typing import Any

import pytest
import torch
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from torch import Tensor

from bayesnas_graph.bayes import CrossEntropy, Decision, Looks, Verdict, Why, Worth, no_looks, off_below
from bayesnas_graph.derive import derive
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes import prune, verify
from bayesnas_graph.passes.analysis import cost, limits
from bayesnas_graph.runs.loop import Interrupted
from bayesnas_graph.runtime import Watch, watched
from bayesnas_graph.search.baseline import fitting
from bayesnas_graph.search.checkpoint import SearchCheckpoints
from bayesnas_graph.search.iteration import Iteration
from bayesnas_graph.search.learner import SearchLearner, new_learner, without
from bayesnas_graph.search.loop import Search
from bayesnas_graph.search.measure import measure, sizes
from bayesnas_graph.search.problem import Batch, Problem
from bayesnas_graph.search.progress import SearchProgress
from bayesnas_graph.search.start import RANGE, set_standard_point
from bayesnas_graph.search.step import train_step
from bayesnas_graph.search.strategies.bayes import SHARE, STRATEGY, SURE, clearest
from bayesnas_graph.search.strategy import Rates
from tests.helpers import check
from tests.search.runs import checkpoints
from tests.search.spaces import PLAIN, TINY, Notes, asked_often, config, device, problem, search, searched, tiny_data
from tests.search.test_variants import FEW, MIXED, assert_sound, random_space

RATES = Rates(weights=0.05, gates=0.1, intensities=(0.5, 0.5))
STEADY = MIXED.replace("dropout(0.2) > ", "")
MANY = "\n".join(
    f"    x -> h : choose {{ conv(k = 1) > {after}, conv() > {after}, {after} }}"
    for after in (
        "relu",
        "tanh",
        "sigmoid",
        "max_pool(3)",
        "avg_pool(3)",
        "max_pool(5)",
        "avg_pool(5)",
        "identity",
        "bn",
        "relu > bn",
        "tanh > bn",
    )
)
WIDE = f"""
network net : image(1, 8, 8) -> classes(10) {{
    in x
    node h
{MANY}
    h -> out : global_avg_pool > linear(10)
}}
"""


def limited(count: int) -> str:
    """A choice that keeps some of four candidates."""
    body = f"in x x -> out : choose {count} {{ relu, tanh, sigmoid, conv() }} > global_avg_pool > linear(10)"
    return f"network net : image(1, 8, 8) -> classes(10) {{ {body} }}"


def intensity(value: float) -> dict[str, Any]:
    """The setting `lambda`, which is not a name in Python."""
    return {"lambda": value}


def started(text: str = MIXED, **settings: Any) -> tuple[Problem, SearchLearner]:
    """A learner that has begun."""
    given = problem(text, **settings)
    torch.manual_seed(0)
    learner = new_learner(given.graph, given.config, device(given.config))
    return given, STRATEGY.start(learner, batch_of(given, learner))


def batch_of(given: Problem, learner: SearchLearner, step: int = 0) -> Batch:
    return next(given.batches(learner.device, step))


def contributions(learner: SearchLearner, batch: Batch) -> Tensor:
    """The magnitude of what every gate lets through, in a pass of training."""
    learner.network.train()
    with torch.no_grad(), watched(Watch()) as watch:
        learner.supernet.module(batch[0])
    return sizes(learner, learner.supernet.moments(watch), len(batch[0])) * learner.supernet.gates


def is_zero(learner: SearchLearner) -> Tensor:
    """Which gates belong to zero switches."""
    return learner.switches.is_zero[learner.switches.group]


# ---------------------------------------------------------------------------------- the standard point


def by_node(learner: SearchLearner) -> dict[str, list[int]]:
    """The numbers of the candidate gates into every node that has any."""
    number = {name: i for i, name in enumerate(learner.supernet.names)}
    inputs = {node.name: [edge.gate for edge in learner.graph.inputs(node.name)] for node in learner.graph}
    found = {node: [number[gate.name] for gate in gates if gate and not gate.is_zero] for node, gates in inputs.items()}
    return {node: gates for node, gates in found.items() if gates}


def assert_standard(gates: Tensor, size: Tensor, learner: SearchLearner, rel: float) -> None:
    """Assert that candidates of these sizes contribute equally, and together as much as a typical one alone."""
    for candidates in by_node(learner).values():
        own = size[candidates].tolist()
        typical = geometric_mean(own)
        expected = [typical / len(own)] * len(own)
        assert (gates[candidates].double() * size[candidates]).tolist() == pytest.approx(expected, rel=rel)


@pytest.mark.parametrize("text", [TINY, PLAIN, STEADY])
def test_all_candidates_contribute_equally_at_the_start(text: str) -> None:
    given, learner = started(text)
    zeros, gates = is_zero(learner), learner.supernet.gates
    assert_standard(gates, contributions(learner, batch_of(given, learner)) / gates, learner, rel=0.02)
    assert gates[zeros].tolist() == [1.0] * int(zeros.sum())
    assert bool((gates[~zeros] != 1).any())


def test_values_grow_neither_with_depth_nor_with_the_number_of_candidates() -> None:
    """Many candidates that are nearly equal, one after another, without norms."""
    choice = "choose { tanh, tanh > tanh, identity, tanh > identity }"
    body = f"in x x -> out : {' > '.join([choice] * 12)} > flatten > linear(10)"
    text = f"network net : image(1, 8, 8) -> classes(10) {{ {body} }}"
    given, learner = started(text)
    x, _ = batch_of(given, learner)
    with torch.no_grad(), watched(Watch()) as watch:
        learner.supernet.module(x)
    found = sizes(learner, learner.supernet.moments(watch), len(x))
    assert float(found.min()) > 0.2 * float(x.std())
    assert float(found.max()) < 2 * float(x.std())


def test_a_candidate_that_has_died_is_not_amplified() -> None:
    _, learner = started(TINY)
    candidates = next(gates for gates in by_node(learner).values() if len(gates) > 1)
    size = torch.ones_like(learner.units)
    size[candidates[0]] = 1e-12
    set_standard_point(learner, size)
    gates = learner.supernet.gates[candidates]
    assert float(gates[0] / gates[1]) == pytest.approx(RANGE)


def test_in_the_unit_of_a_gate_all_gates_are_one() -> None:
    _, learner = started(unit="gate")
    assert set(learner.supernet.gates.tolist()) == {1.0}


def test_after_an_update_candidates_contribute_equally_again() -> None:
    given, learner = started(TINY)
    for step in range(5):
        train_step(learner, batch_of(given, learner, step), RATES)
    inputs = measure(learner, given.measured_batches(learner.device, 1), 1).units
    before = learner.supernet.gates
    slopes = torch.ones(len(learner.switches.groups), dtype=torch.float64)
    slopes[0] = -10
    left, _, _ = updated(given, replace(learner, beliefs=looks_at(slopes)))
    assert len(left.supernet.names) < len(before), "something closes"
    names = [learner.supernet.names.index(name) for name in left.supernet.names]
    zeros = is_zero(left)
    assert_standard(left.supernet.gates, inputs[names], left, rel=1e-5)
    assert left.supernet.gates[zeros].tolist() == [1.0] * int(zeros.sum())
    assert not torch.equal(left.supernet.gates, before[names])


def test_the_architecture_that_is_left_is_at_its_own_standard_point(tmp_path: Path) -> None:
    """Alone in its choice, a candidate counts as it is."""
    outcome = searched(tmp_path, TINY.replace("choose {", "choose 1 {"), warmup=2, steps=5, iterations=2, finish=1)
    assert all(len(gates) == 1 for gates in by_node(outcome.learner).values())
    assert set(outcome.learner.supernet.gates.tolist()) == {1.0}


@dataclass
class Recorded(Search):
    """A search that records the gates and the number of looks before and after every step."""

    gates: list[tuple[Tensor, Tensor]] = field(default_factory=list)
    looks: list[tuple[float, float]] = field(default_factory=list)

    def take_step(self, learner: SearchLearner, progress: SearchProgress, step: int) -> tuple[Tensor, Tensor]:
        before, seen = learner.supernet.gates.clone(), _most(learner.beliefs)
        found = super().take_step(learner, progress, step)
        self.gates.append((before, learner.supernet.gates.clone()))
        self.looks.append((seen, _most(learner.beliefs)))
        return found


def _most(looks: Looks) -> float:
    counts = looks["weight"] + looks["new"]
    return float(counts.max()) if len(counts) else 0.0


def test_steps_do_not_move_gates_and_look_only_after_the_warm_up(tmp_path: Path) -> None:
    given = problem(warmup=3, steps=5, iterations=2, finish=4)
    recorded = Recorded(given, device(given.config), SearchCheckpoints(tmp_path), Notes())
    recorded.run()
    assert len(recorded.gates) == 3 + 10 + 4
    assert all(torch.equal(before, after) for before, after in recorded.gates)
    assert [after - before for before, after in recorded.looks] == pytest.approx([0] * 3 + [1] * 10 + [0] * 4)
    assert recorded.looks[3] == (0, 1)


# ---------------------------------------------------------------------------------------------- slopes


def slopes_of(learner: SearchLearner, batch: Batch) -> Tensor:
    """The slopes that a step on a batch adds."""
    before = {name: values.clone() for name, values in learner.beliefs.items()}
    train_step(learner, batch, RATES)
    added = {name: values - before[name] for name, values in learner.beliefs.items()}
    assert set(added["new"].tolist()) == {1.0}
    torch.testing.assert_close(added["new_slope_squared"], added["new_slope"].square())
    return added["new_slope"]


@pytest.mark.parametrize("text", [TINY, STEADY])
def test_slopes_are_those_of_autograd(text: str) -> None:
    given, learner = started(text)
    for step in range(2):
        batch = batch_of(given, learner, step)
        supernet = deepcopy(learner.supernet)
        value = CrossEntropy()(supernet.module.train()(batch[0]), batch[1])
        found = torch.autograd.grad(value, supernet.gate_parameters(), allow_unused=True, materialize_grads=True)
        expected = torch.zeros(len(learner.switches.groups), dtype=torch.float64)
        gates = zip(learner.switches.group.tolist(), supernet.gates, supernet.in_order(list(found)), strict=True)
        for group, gate, slope in gates:
            expected[group] -= float(gate) * float(slope)
        torch.testing.assert_close(slopes_of(learner, batch), expected, rtol=1e-4, atol=1e-7)
        assert bool(expected.all())


def test_a_slope_is_what_a_larger_contribution_saves() -> None:
    """By finite differences: all gates of a switch become larger by a small fraction."""
    given, learner = started(PLAIN)
    learner.supernet.module.double()
    images, labels = batch_of(given, learner)
    batch = images.double(), labels
    gates, step = learner.supernet.gates.clone(), 1e-6

    def loss(group: int, factor: float) -> float:
        learner.supernet.set_gates(torch.where(learner.switches.group == group, gates * factor, gates))
        with torch.no_grad():
            return float(CrossEntropy()(learner.supernet.module(batch[0]), batch[1]))

    groups = range(len(learner.switches.groups))
    saved = [(loss(group, 1 - step) - loss(group, 1 + step)) / (2 * step) for group in groups]
    learner.supernet.set_gates(gates)
    assert slopes_of(learner, batch).tolist() == pytest.approx(saved, rel=1e-4, abs=1e-8)


# -------------------------------------------------------------------------------------------- the clearest


def made_up(learner: SearchLearner, mean: dict[str, float] | list[float], error: float | list[float]) -> Worth:
    """A worth of every switch; those that are not named are worth 1."""
    names = learner.switches.groups
    means = [mean.get(name.rpartition(".")[2], 1.0) for name in names] if isinstance(mean, dict) else mean
    errors = [error] * len(names) if isinstance(error, float) else error
    return Worth(torch.tensor(means, dtype=torch.float64), torch.tensor(errors, dtype=torch.float64))


@pytest.fixture(scope="module")
def wide() -> SearchLearner:
    return started(WIDE)[1]


def penalties(learner: SearchLearner) -> Tensor:
    return torch.full((len(learner.switches.groups),), 0.05, dtype=torch.float64)


@settings(max_examples=50)
@given(seed=st.integers(0, 2**32))
def test_not_too_many_and_the_furthest_behind_first(wide: SearchLearner, seed: int) -> None:
    names, random = wide.switches.groups, Random(seed)
    means = [round(random.uniform(-3, 3), 1) for _ in names]  # some are equal
    errors = [random.uniform(0.01, 2) for _ in names]
    off = {name for name in names if random.random() < 0.5}
    lambda_w = penalties(wide)
    closed = clearest(wide, made_up(wide, means, errors), lambda_w, off)
    bound = float(off_below(lambda_w)[0])
    known = {name: (m, (bound - m) / e) for name, m, e in zip(names, means, errors, strict=True)}
    sure = sorted((known[name][0], name) for name in off if NormalDist().cdf(known[name][1]) >= SURE)
    assert closed == [name for _, name in sure[: most_of(wide)]]


def most_of(learner: SearchLearner) -> int:
    """How many switches may close at once."""
    most = int((~learner.switches.is_zero).sum()) // SHARE
    assert most > 1, "so that their order matters"
    return most


def test_what_is_very_sure_is_still_ranked(wide: SearchLearner) -> None:
    """Probabilities would all be 1 here."""
    count = len(wide.switches.groups)
    means = [-1.0 - i % 7 / 10 - i / 1000 for i in range(count)]
    closed = clearest(wide, made_up(wide, means, 0.01), penalties(wide), wide.switches.groups)
    assert (
        closed
        == sorted(wide.switches.groups, key=lambda name: means[wide.switches.groups.index(name)])[: most_of(wide)]
    )


def test_nothing_is_closed_that_is_not_sure(wide: SearchLearner) -> None:
    """The 95 % are counted on the side of keeping: this is 1.6 standard errors below the bound."""
    names, lambda_w = wide.switches.groups, penalties(wide)
    bound = float(off_below(lambda_w)[0])
    for errors, count in ((1.64, 0), (1.65, most_of(wide))):
        worth = made_up(wide, [bound - errors * 0.2] * len(names), 0.2)
        assert len(clearest(wide, worth, lambda_w, names)) == count
        assert clearest(wide, worth, lambda_w, ()) == []


def test_one_switch_can_always_close() -> None:
    _, learner = started(TINY)
    assert int((~learner.switches.is_zero).sum()) < SHARE
    worth = made_up(learner, [-1.0] * len(learner.switches.groups), 0.1)
    assert len(clearest(learner, worth, penalties(learner), learner.switches.groups)) == 1


def only(learner: SearchLearner, worth: Worth) -> list[str]:
    """The last part of the name of what is closed, if everything may close."""
    found = clearest(learner, worth, penalties(learner), learner.switches.groups)
    return [name.rpartition(".")[2] for name in found]


def test_a_candidate_of_one_closes_because_another_is_better() -> None:
    """Not because it is worth little: whether any stays is up to the zero switch."""
    _, learner = started(limited(1))
    assert only(learner, made_up(learner, {"relu": 9.0, "tanh": 5.0, "sigmoid": 8.9, "conv": 9.0}, 0.2)) == ["tanh"]
    assert only(learner, made_up(learner, dict.fromkeys(("relu", "tanh", "sigmoid", "conv"), -5.0), 0.2)) == []
    low = {"relu": -5.0, "tanh": -5.1, "sigmoid": -5.2, "conv": -5.3}
    assert only(learner, made_up(learner, low, 0.2)) == []
    assert only(learner, made_up(learner, low | {"zero": -5.0}, 0.2)) == ["zero"]


def test_the_difference_of_two_has_the_error_of_both() -> None:
    """A difference of 2 standard errors of one candidate is only 1.4 of the difference."""
    _, learner = started(limited(1))
    means = {"relu": 5.0, "tanh": 5.0, "sigmoid": 5.0}
    for distance, closed in ((2.3, []), (2.4, ["conv"])):
        assert only(learner, made_up(learner, means | {"conv": 5.0 - distance * 0.2}, 0.2)) == closed


def test_two_may_stay() -> None:
    _, learner = started(limited(2))
    worth = {"relu": 9.0, "tanh": 5.0, "sigmoid": 4.0, "conv": 4.9}
    assert only(learner, made_up(learner, worth, 0.2)) == ["sigmoid"]
    left = without(learner, [name for name in learner.switches.groups if name.endswith(("sigmoid", "conv"))])
    assert only(left, made_up(left, {"relu": 9.0, "tanh": -9.0}, 0.2)) == []
    left = without(left, [name for name in left.switches.groups if name.endswith("tanh")])
    assert only(left, made_up(left, {"relu": -9.0}, 0.2)) == []


# ----------------------------------------------------------------------------------------------- updates


def updated(given: Problem, learner: SearchLearner, number: int = 1) -> tuple[SearchLearner, SearchProgress, Iteration]:
    progress = SearchProgress(iteration=number - 1, measured=True)
    return STRATEGY.iterate(given, learner, progress, given.measured_batches(learner.device, number))


def believed(learner: SearchLearner, random: Random) -> SearchLearner:
    """The learner with random looks, some of them clear and some not."""
    groups = len(learner.switches.groups)
    slopes = torch.tensor([random.gauss(0, 1) for _ in range(groups)], dtype=torch.float64)
    spread = torch.tensor([10 ** random.uniform(-2, 1) for _ in range(groups)], dtype=torch.float64)
    return replace(learner, beliefs=looks_at(slopes, random.randint(0, 50), spread))


def assert_consistent(given: Problem, before: SearchLearner, left: SearchLearner, found: Iteration) -> None:
    """What an update leaves is a whole network, and contains the architecture, which is one too."""
    verify(left.graph)
    assert left.graph.outputs == given.graph.outputs
    assert derive(given.graph, found.architecture).graph == found.graph
    assert found.decision.off <= found.architecture.off
    assert {gate.group for gate in left.graph.gates} == {v.name for v in found.decision.verdicts if v.keep}
    followed = {v.name for v in found.decision.verdicts if v.why == Why.DEAD_END}
    candidates = int((~before.switches.is_zero).sum())
    assert len(found.decision.off - followed) <= max(1, candidates // SHARE)
    for kept, _, limit in limits(found.graph):
        assert len(kept) <= limit or given.config.mode != "proxyless"
    assert {len(values) for values in left.beliefs.values()} == {len(left.switches.groups)}


@settings(max_examples=15, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(random=st.randoms(use_true_random=False), data=st.data(), seed=st.integers(0, 2**32))
def test_any_beliefs_leave_a_network(random: Random, data: st.DataObject, seed: int) -> None:
    """How many beliefs are drawn depends on what the update left, so a plain generator draws them."""
    text = data.draw(st.sampled_from([TINY, MIXED, WIDE, None]))
    space, diagnostics = check(random_space(random) if text is None else text)
    assume(not any(diagnostic.severity == "error" for diagnostic in diagnostics))
    chosen = {
        "mode": data.draw(st.sampled_from(["written", "proxyless", "proxy"])),
        "zero": data.draw(st.sampled_from(["before", "after"])),
        "dependency": data.draw(st.sampled_from(["none", "one_hop", "whole_path"])),
        "lambda": data.draw(st.sampled_from([0.01, 0.5, 5.0])),
        "target_params": data.draw(st.sampled_from([None, 1, 150])),
    }
    given = Problem.of(space.networks[-1], tiny_data(), config(**FEW, **chosen))
    assume(given.graph.gates)
    learner = new_learner(given.graph, given.config, device(given.config))
    progress = SearchProgress(measured=True)
    beliefs = Random(seed)
    for number in (1, 2, 3):
        if not learner.graph.gates:
            break
        before = believed(learner, beliefs)
        batches = given.measured_batches(before.device, number)
        learner, progress, found = STRATEGY.iterate(given, before, progress, batches)
        assert_consistent(given, before, learner, found)


def looks_at(slopes: Tensor, count: float = 40.0, spread: float | Tensor = 1e-3) -> Looks:
    """Sums over some looks with these mean slopes."""
    squares = count * (slopes.square() + torch.as_tensor(spread).square())
    new = {"new": torch.full_like(slopes, count), "new_slope": count * slopes, "new_slope_squared": squares}
    return {**no_looks(len(slopes)), **new}


def test_switches_are_closed_a_few_at_a_time() -> None:
    """The architecture is what would be left if the search ended here; the supernet keeps more."""
    given, learner = started(WIDE, **intensity(0.05))
    groups = len(learner.switches.groups)
    slope = torch.linspace(-1, 1, groups, dtype=torch.float64)[torch.arange(groups) * 5 % groups]
    slope[learner.switches.is_zero] = 1
    left, progress, found = updated(given, replace(learner, beliefs=looks_at(slope)))
    most = most_of(learner)
    assert len(found.decision.off) == len(progress.closed) == most
    assert len(found.architecture.off) > most
    assert len(left.switches.groups) == groups - most
    worth = {v.name: v.worth for v in found.decision.verdicts}
    assert all(v.error > 0 for v in found.decision.verdicts)
    own = sorted((name for name in worth if not name.endswith(".zero")), key=worth.__getitem__)
    assert found.decision.off == set(own[:most])


def test_earlier_looks_count_less() -> None:
    given, learner = started(WIDE)
    slopes = torch.ones(len(learner.switches.groups), dtype=torch.float64)
    slopes[0] = -1
    left, _, found = updated(given, replace(learner, beliefs=looks_at(slopes, spread=100.0)))
    assert not found.decision.off
    assert left.beliefs["weight"].tolist() == [30.0] * len(slopes)
    own = ~left.switches.is_zero
    assert left.beliefs["slope"][own].tolist() == pytest.approx([-30.0] + [30.0] * (int(own.sum()) - 1))
    left, _, found = updated(given, replace(learner, beliefs=looks_at(slopes)))
    assert found.decision.off == {learner.switches.groups[0]}
    assert left.beliefs["weight"].tolist() == pytest.approx([30.0] * (len(slopes) - 1))
    own = ~left.switches.is_zero
    assert left.beliefs["slope"][own].tolist() == pytest.approx([30.0] * int(own.sum()))


def test_one_look_is_not_enough() -> None:
    """A single sample has no spread, which does not make it sure."""
    given, learner = started(WIDE, **intensity(0.5))
    train_step(learner, batch_of(given, learner), RATES)
    assert set(learner.beliefs["new"].tolist()) == {1.0}
    _, _, found = updated(given, learner)
    assert not found.decision.off
    for step in range(1, 30):
        train_step(learner, batch_of(given, learner, step), RATES)
    _, _, found = updated(given, learner)
    assert found.decision.off


# ---------------------------------------------------------------------------------------------- searches


def test_noise_is_closed(tmp_path: Path) -> None:
    """Of two candidates, one passes on the image and the other one almost nothing of it."""
    body = "in x x -> out : flatten > choose { relu, dropout(0.95) } > linear(10)"
    text = f"network net : image(1, 8, 8) -> classes(10) {{ {body} }}"
    outcome = searched(tmp_path, text, warmup=20, steps=40, iterations=3, finish=1, **intensity(0.05))
    kept = {verdict.name.rpartition(".")[2]: verdict.keep for verdict in outcome.decision.verdicts}
    assert kept == {"relu": True, "dropout": False, "zero": True}


@pytest.mark.parametrize("asked", ["target", "require", "flops"])
def test_a_size_is_met_at_the_last_update_and_nothing_ends_early(asked: str, tmp_path: Path) -> None:
    text, chosen = TINY, dict[str, Any]()
    match asked:
        case "target":
            chosen = {"target_params": 150}
        case "flops":
            chosen = {"target_flops": 1500}
        case "require":
            text = TINY.replace("linear(10)\n", "linear(10)\n    require params <= 150\n")
    given = problem(text, **FEW | {"iterations": 3}, stable=0, **intensity(0.001), **chosen)
    notes = Notes()
    outcome = search(given, tmp_path, notes).run()
    assert_sound(outcome, given)
    assert len(notes.iterations) == 3
    assert outcome.why == "all iterations are done"
    for found in notes.iterations:
        assert found.intensities == (0.001, 0.001)
    assert given.fits(notes.iterations[-1].graph)
    assert not given.unmet(notes.iterations[-1].cost)
    if asked == "flops":
        assert outcome.cost.flops <= 1500 < cost(given.graph).flops
    else:
        assert outcome.cost.parameters <= 150 < cost(given.graph).parameters
    assert notes.ends[-1].growth == 1
    assert any(verdict.why == Why.SIZE for verdict in outcome.decision.verdicts)


def test_a_size_that_cannot_be_met_does_not_raise_lambda(tmp_path: Path) -> None:
    notes = Notes()
    outcome = searched(tmp_path, TINY, notes, target_params=1, **FEW)
    assert outcome.cost.parameters > 1
    assert notes.ends[-1].growth == 1


def test_a_size_keeps_what_is_small_if_nothing_is_worth_anything() -> None:
    """The output needs one of two. The better one is too large."""
    body = "in x x -> out : choose { conv(8, 5), conv(8, 1) } > global_avg_pool > linear(10)"
    given = problem(f"network net : image(1, 8, 8) -> classes(10) {{ {body} }}")
    large, small, zero = (gate.group for gate in given.graph.gates)
    smallest = cost(prune(given.graph, {large})).parameters

    def fits(graph: Graph) -> bool:
        return cost(graph).parameters <= smallest

    for scores in ({large: -1.0, small: -2.0}, {large: 2.0, small: 1.0}, {large: 0.0, small: -1.0}):
        whole = Decision(
            tuple(Verdict(name, True, Why.KEPT, 1, 1, 1, None, (), (), (), ()) for name in (*scores, zero))
        )
        found = fitting(given.graph, whole, scores | {zero: scores[large]}, fits)
        assert found.off == {large}


def test_a_search_goes_on_while_switches_are_open(tmp_path: Path) -> None:
    """Though the architecture has none of them."""
    optional = " ".join(f"x -> h : optional conv(4, {size})" for size in (1, 3, 5))
    text = f"""network net : image(1, 8, 8) -> classes(10) {{
        in x node h x -> h : conv(4) {optional} h -> out : global_avg_pool > linear(10)
    }}"""
    notes = Notes()
    outcome = searched(tmp_path, text, notes, stable=0, **FEW, **intensity(500.0))
    assert not outcome.graph.gates
    assert [len(found.graph.gates) for found in notes.iterations] == [0, 0]
    assert [len(found.decision.off) for found in notes.iterations] == [1, 1]
    assert outcome.why == "all iterations are done"


# --------------------------------------------------------------------------------------- old checkpoints


@pytest.mark.parametrize("steps", [3, 7, 13])
def test_a_search_of_an_older_version_is_resumed(steps: int, tmp_path: Path) -> None:
    """Its gates were moved, by what is now `bayesnas`, and there were no beliefs."""
    with pytest.raises(Interrupted):
        search(problem(strategy="bayesnas", **intensity(0.01)), tmp_path, stop=asked_often(steps)).run()
    (_, last) = max(checkpoints(tmp_path).items())
    assert not last["beliefs"]
    given, notes = problem(**intensity(0.01)), Notes()
    recorded = Recorded(given, device(given.config), SearchCheckpoints(tmp_path), notes)
    assert_sound(recorded.run(), given)
    assert "an older version began this search: what strategy `bayes` learns is learnt from here on" in notes.messages
    assert all(torch.equal(before, after) for before, after in recorded.gates)
    assert recorded.looks[0][0] == 0
    assert max(after for _, after in recorded.looks) > 1


def test_beliefs_of_an_older_version_are_learnt_again(tmp_path: Path) -> None:
    """Its sums were not divided into phases."""
    with pytest.raises(Interrupted):
        search(problem(), tmp_path, stop=asked_often(13)).run()
    name, last = max(checkpoints(tmp_path).items())
    kept = {name: values for name, values in last["beliefs"].items() if not name.startswith("new")}
    torch.save({**last, "beliefs": kept}, tmp_path / name)
    notes = Notes()
    Recorded(problem(), device(problem().config), SearchCheckpoints(tmp_path), notes).run()
    assert any(message.startswith("an older version began this search") for message in notes.messages)


def test_a_search_that_has_ended_needs_no_beliefs(tmp_path: Path) -> None:
    with pytest.raises(Interrupted):
        search(problem(strategy="bayesnas"), tmp_path, stop=asked_often(47)).run()
    expected = max(checkpoints(tmp_path).items())[1]
    assert expected["progress"]["ended"]
    notes = Notes()
    assert searched(tmp_path, watcher=notes).decision == Decision.from_plain(expected["progress"]["architecture"])
    assert notes.messages == []


def test_a_resumed_search_has_no_message(tmp_path: Path) -> None:
    with pytest.raises(Interrupted):
        search(problem(), tmp_path, stop=asked_often(7)).run()
    notes = Notes()
    searched(tmp_path, watcher=notes)
    assert not [text for text in notes.messages if "older version" in text]
