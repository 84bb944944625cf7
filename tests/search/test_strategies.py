"""Every strategy: gates, gradients and decisions as in its paper, and a complete run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from bayesnas_graph.bayes import CrossEntropy, Why, soft_threshold
from bayesnas_graph.derive import Rule, derive
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.passes import prune
from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.runs.settings import configured, option
from bayesnas_graph.runs.strategies import STRATEGIES
from bayesnas_graph.search.learner import SearchLearner, new_learner
from bayesnas_graph.search.relaxation import Relaxation
from bayesnas_graph.search.strategies import strategy_of
from bayesnas_graph.search.strategies.dso import MOMENTUM
from bayesnas_graph.search.strategies.random import Random
from bayesnas_graph.search.strategy import Draw, Rates, Strategy
from tests.conftest import ROOT
from tests.search.launcher import Launcher
from tests.search.spaces import TINY, Notes, config, device, problem, search, searched
from tests.search.test_processes import assert_close_run, ended
from tests.search.test_variants import FEW, MIXED, assert_sound

OTHERS = [name for name, info in STRATEGIES.items() if info.measure == "strength"]  # without a prior
RATES = Rates(weights=0.05, gates=0.1, intensities=(0.5, 0.5))


def started(name: str, text: str = MIXED, **settings: Any) -> tuple[SearchLearner, Strategy]:
    """A learner that has begun."""
    given = problem(text, strategy=name, **settings)
    torch.manual_seed(0)
    learner = new_learner(given.graph, given.config, device(given.config))
    strategy = strategy_of(given.config)
    return strategy.start(learner, next(given.batches(learner.device, 0))), strategy


def drawn(learner: SearchLearner, strategy: Strategy, rates: Rates = RATES, part: Any = "gates") -> Draw:
    found = strategy.draw(learner, rates, part)
    assert found is not None
    return found


def of_groups(learner: SearchLearner, draw: Draw) -> Tensor:
    """The gates of all groups; those of one group are equal."""
    found = torch.zeros(len(learner.switches.groups), dtype=torch.float64)
    found[learner.switches.group] = draw.gates.detach()
    assert torch.equal(found[learner.switches.group], draw.gates.detach())
    return found


def set_logits(learner: SearchLearner, seed: int = 0) -> None:
    logits = learner.beliefs["logits"]
    logits.copy_(torch.randn(len(logits), generator=torch.Generator().manual_seed(seed), dtype=torch.float64))


# ------------------------------------------------------------------------------------ all of them


@pytest.mark.parametrize("name", OTHERS)
def test_runs_to_an_end(name: str, tmp_path: Path) -> None:
    for text in (TINY, MIXED):
        given = problem(text, strategy=name, samples=3, **FEW)
        notes = Notes()
        outcome = search(given, tmp_path / str(len(text)), notes).run()
        assert_sound(outcome, given)
        assert all(verdict.entropy is None for verdict in outcome.decision.verdicts)
        for found in notes.iterations:
            assert found.shrink is None
            assert derive(given.graph, found.architecture).graph == found.graph


@pytest.mark.parametrize("name", OTHERS)
def test_the_target_size_is_respected(name: str, tmp_path: Path) -> None:
    """Switches are closed as long as the network stays connected."""
    given = problem(TINY, strategy=name, samples=3, target_params=150, **FEW | {"iterations": 1})
    outcome = search(given, tmp_path).run()
    if name != "dso":  # which gets there by its penalty, if at all
        assert outcome.cost.parameters <= 150 < cost(given.graph).parameters
    assert_sound(outcome, given)


@pytest.mark.parametrize("name", OTHERS)
def test_fewer_edges_and_budgets_are_derived_from_strengths(name: str, tmp_path: Path) -> None:
    given = problem(MIXED, strategy=name, samples=3, **FEW)
    decision = search(given, tmp_path).run().decision
    strengths = {verdict.name: verdict.gamma for verdict in decision.verdicts}
    one = derive(given.graph, decision, Rule(per_edge=1, per_node=1))
    kept = {gate.group for gate in one.graph.gates}
    for verdict in one.decision.verdicts:
        if verdict.why == Why.LIMIT:  # then a stronger one of its choice is there
            choice = verdict.name.rpartition(".")[0]
            rivals = [n for n in kept if n.rpartition(".")[0] == choice and not n.endswith(".zero")]
            assert all(strengths[rival] >= strengths[verdict.name] for rival in rivals)
    assert len(derive(given.graph, decision, Rule(params=200)).graph) <= len(given.graph)


@pytest.mark.parametrize("name", [name for name in OTHERS if name != "random"])
def test_slopes_follow_the_loss(name: str) -> None:
    """A strategy's gradients are derivatives of the loss: checked by finite differences where gates are smooth."""
    learner, strategy = started(name, gates_on="train")
    learner.supernet.module.double().eval()
    images, labels = torch.rand(6, 1, 8, 8, dtype=torch.float64), torch.arange(6)

    def loss(gates: Tensor) -> Tensor:
        learner.supernet.set_gates(gates.detach())
        value: Tensor = CrossEntropy()(learner.supernet.module(images), labels)
        return value

    draw = drawn(learner, strategy)
    value = loss(draw.gates)
    found = torch.autograd.grad(value, learner.supernet.gate_parameters(), allow_unused=True, materialize_grads=True)
    slopes = learner.supernet.in_order(list(found))
    (gradient,) = torch.autograd.grad(draw.gates, draw.numbers, slopes, retain_graph=True)
    jacobian = torch.stack([torch.autograd.grad(gate, draw.numbers, retain_graph=True)[0] for gate in draw.gates])
    torch.testing.assert_close(gradient, slopes @ jacobian)
    step = 1e-5
    for number in range(0, len(draw.numbers), 3):
        way = jacobian[:, number]
        ahead, behind = (float(loss(draw.gates + sign * step * way).detach()) for sign in (1, -1))
        assert float(gradient[number]) == pytest.approx((ahead - behind) / (2 * step), rel=1e-3, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "more"), [("gdas", ()), ("proxyless", ("-s", "accumulate=2")), ("random", ("-s", "samples=2"))]
)
def test_two_processes_draw_the_same(name: str, more: tuple[str, ...], programs: Launcher) -> None:
    """Weights that are not drawn have no gradient in either."""
    begin = ("search", "tiny.nas", "--config", "short.toml", "--allow-python", "--strategy", name, "--iterations", 1)
    assert programs.run(*begin, *more, "-o", f"{name}_alone")[0] == 0
    ended(programs.start_together(*begin, *more, "-o", f"{name}_together"))
    assert_close_run(programs.folder / f"{name}_alone", programs.folder / f"{name}_together")


def test_a_strategy_is_a_file() -> None:
    folder = ROOT / "bayesnas_graph" / "search" / "strategies"
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == set(STRATEGIES)
    page = (ROOT / "docs" / "strategies.md").read_text()
    for name in STRATEGIES:
        assert isinstance(strategy_of(config(strategy=name)), Strategy)
        assert f"`{name}`" in page


def test_an_unknown_strategy() -> None:
    with pytest.raises(NasError) as caught:
        configured([option("--strategy", "strategy", "dart")])
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == (
        "NAS601",
        "`strategy` should be `bayes`, `bayesnas`, `darts`, `dso`, `gdas`, "
        "`magnitude`, `proxyless`, `random` or `snas`",
    )


# ---------------------------------------------------------------------------------- softmax and draws


def test_darts_mixes_by_a_softmax() -> None:
    learner, strategy = started("darts")
    set_logits(learner)
    contests = learner.contests
    gates = of_groups(learner, drawn(learner, strategy))
    parts = contests.softmax(contests.entered(learner.beliefs["logits"]))[: contests.groups]
    zero = contests.is_none[: contests.groups]
    assert torch.equal(gates[zero], torch.ones(int(zero.sum()), dtype=torch.float64))
    assert torch.equal(gates[~zero], parts[~zero])


def test_darts_takes_the_best_candidate_though_none_is_stronger() -> None:
    learner, strategy = started("darts", TINY)
    assert isinstance(strategy, Relaxation)
    logits, contests = learner.beliefs["logits"], learner.contests
    zero = contests.is_none[: contests.groups]
    logits.copy_(torch.where(zero, 5.0, torch.arange(len(logits)).double()))
    reasons = strategy.judge(learner, [], 1).reasons
    assert all(why.keep for why, is_zero in zip(reasons, zero.tolist(), strict=True) if is_zero)
    other, snas = started("snas", TINY)
    other.beliefs["logits"].copy_(torch.where(zero, 50.0, logits))
    assert isinstance(snas, Relaxation)
    assert set(snas.judge(other, [], 1).reasons) == {Why.OWN, Why.ZERO}


def test_snas_gets_closer_to_one_candidate() -> None:
    learner, strategy = started("snas")
    largest = []
    for passed in (0.0, 0.5, 1.0):
        gates = [
            of_groups(learner, drawn(learner, strategy, replace(RATES, step=step, passed=passed))) for step in range(20)
        ]
        zero = learner.contests.is_none[: learner.contests.groups]
        largest.append(float(torch.stack(gates)[:, ~zero].square().mean()))
    assert largest == sorted(largest)


@pytest.mark.parametrize("name", ["gdas", "proxyless", "random"])
def test_one_path_at_a_time(name: str) -> None:
    learner, strategy = started(name)
    seen = set()
    for step in range(40):
        gates = of_groups(learner, drawn(learner, strategy, replace(RATES, step=step), "weights"))
        assert set(gates.tolist()) <= {0.0, 1.0}
        contests = learner.contests
        open_ = torch.where(contests.is_none[: contests.groups], 0, gates)
        most = torch.zeros(contests.count, dtype=torch.float64).index_add(0, contests.contest[: contests.groups], open_)
        assert most.max() <= 1
        seen.add(tuple(gates.tolist()))
        again = of_groups(learner, drawn(learner, strategy, replace(RATES, step=step), "weights"))
        assert torch.equal(gates, again)
    assert len(seen) > 20


def test_gdas_learns_from_what_was_drawn() -> None:
    learner, strategy = started("gdas")
    draw = drawn(learner, strategy)
    closed = draw.gates.detach() == 0
    assert closed.any()
    (gradient,) = torch.autograd.grad(draw.gates[closed].sum(), draw.numbers, retain_graph=True)
    assert not gradient.any()
    (gradient,) = torch.autograd.grad(draw.gates[~closed].sum(), draw.numbers)
    assert gradient.any()


def test_proxyless_compares_two_and_leaves_the_others_alone() -> None:
    learner, strategy = started("proxyless", logit_rate=0.3)
    assert isinstance(strategy, Relaxation)
    set_logits(learner)
    contests, logits = learner.contests, learner.beliefs["logits"]
    before = contests.softmax(contests.entered(logits))
    draw = drawn(learner, strategy)
    slopes = torch.randn(len(draw.gates), generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    (gradient,) = torch.autograd.grad(draw.gates, draw.numbers, slopes, retain_graph=True)
    strategy.move(learner, slopes, draw, RATES)
    after = contests.softmax(contests.entered(logits))
    moved = contests.entered(gradient) != 0
    assert moved.any()
    for number in range(contests.count):
        own = contests.contest == number
        assert int((moved & own).sum()) <= 2
        if int((moved & own).sum()) == 2:
            torch.testing.assert_close(after[own & ~moved], before[own & ~moved])
            assert not torch.equal(after[own & moved], before[own & moved])


def test_adam_is_that_of_torch() -> None:
    learner, strategy = started("darts")
    assert isinstance(strategy, Relaxation)
    reference = learner.beliefs["logits"].clone().requires_grad_()
    optimiser = torch.optim.Adam([reference], 0.01, betas=strategy.betas, weight_decay=strategy.decay)
    for seed in range(5):
        gradient = torch.randn(len(reference), generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        reference.grad = gradient.clone()
        optimiser.step()
        strategy.learn(learner, gradient, 0.01)
    torch.testing.assert_close(learner.beliefs["logits"], reference.detach())


# ---------------------------------------------------------------------------------------- the others


def test_dso_takes_accelerated_proximal_steps() -> None:
    learner, strategy = started("dso")
    none = learner.contests.is_none[: learner.contests.groups]
    factors, velocity = torch.ones(len(none), dtype=torch.float64), torch.zeros(len(none), dtype=torch.float64)
    for seed in range(6):
        draw = drawn(learner, strategy)
        slopes = torch.randn(len(draw.gates), generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        strategy.move(learner, slopes, draw, RATES)
        ahead = factors + MOMENTUM * velocity
        gradient = torch.zeros_like(ahead).index_add(0, learner.switches.group, slopes)
        after = soft_threshold(ahead - 0.1 * gradient, torch.full_like(ahead, 0.1 * 0.5))
        after = torch.where(none, 1.0, after)
        factors, velocity = after, after - factors
    torch.testing.assert_close(learner.beliefs["factors"], factors)
    assert strategy.penalty(learner, (0.5, 0.5)) == pytest.approx(0.5 * float(factors[~none].abs().sum()))


def test_dso_closes_unused_switches(tmp_path: Path) -> None:
    notes = Notes()
    outcome = searched(tmp_path, TINY, notes, strategy="dso", steps=30, gate_rate=0.1, stop_at_budget=False)
    alive = [sum(verdict.keep for verdict in found.decision.verdicts) for found in notes.iterations]
    assert alive == sorted(alive, reverse=True)
    assert alive[-1] < len(outcome.decision.verdicts)
    assert any(verdict.why == Why.OWN for verdict in outcome.decision.verdicts)


def test_magnitude_keeps_the_largest(tmp_path: Path) -> None:
    outcome = searched(tmp_path, TINY, strategy="magnitude")
    by_choice: dict[str, list[tuple[float, bool]]] = {}
    for verdict in outcome.decision.verdicts:
        choice, _, candidate = verdict.name.rpartition(".")
        if candidate != "zero":
            by_choice.setdefault(choice, []).append((verdict.magnitude, verdict.keep))
    assert by_choice
    for found in by_choice.values():
        assert [keep for _, keep in sorted(found)] == [False] * (len(found) - 1) + [True]


def test_random_takes_the_best_of_some(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sampled architecture is connected, and the best one is selected."""
    learner, strategy = started("random", samples=12)
    assert isinstance(strategy, Random)
    seen: list[tuple[float, frozenset[str]]] = []

    def judge(given: SearchLearner, _batches: object) -> float:
        gates = given.supernet.gates.tolist()
        groups = given.switches.group.tolist()
        off = frozenset(given.switches.groups[group] for gate, group in zip(gates, groups, strict=True) if not gate)
        prune(given.graph, off)
        seen.append((hash(off) % 1000 / 1000, off))
        return seen[-1][0]

    monkeypatch.setattr("bayesnas_graph.search.strategies.random.metric", judge)
    found = strategy.judge(learner, [], 1)
    assert len(seen) == 12
    assert len({off for _, off in seen}) > 1
    best = max(seen, key=lambda one: one[0])[1]
    closed = {name for name, why in zip(learner.switches.groups, found.reasons, strict=True) if not why.keep}
    assert {name for name in closed if not name.endswith(".zero")} == best
