"""Finalists: proposed by the odds of a strategy, trained from scratch, compared, and the best one is kept."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from math import e, pi
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bayesnas_graph.bayes import Decision, Verdict, Why, enforce_limits, reconnect
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes import prune, verify
from bayesnas_graph.passes.analysis import choices, cost, violated
from bayesnas_graph.runs.loop import Interrupted
from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.runs.reading.run import read_run_record
from bayesnas_graph.runs.strategies import STRATEGIES
from bayesnas_graph.search import finalists
from bayesnas_graph.search.checkpoint import SearchCheckpoints
from bayesnas_graph.search.finalists import Finalist, best_of, chosen, propose
from bayesnas_graph.search.loop import SearchOutcome
from bayesnas_graph.search.measure import loss_and_metric
from bayesnas_graph.search.problem import Problem
from bayesnas_graph.search.progress import SearchProgress
from bayesnas_graph.search.strategies import strategy_of
from tests.conftest import LONG
from tests.helpers import check
from tests.search.launcher import Launcher
from tests.search.runs import assert_same_run, checkpoints
from tests.search.spaces import Notes, asked_often, config, device, problem, search, tiny_data
from tests.search.test_variants import random_space

ONE = """
cell block {
    in x
    node h
    x -> h : choose 1 { conv(), conv(k = 1), max_pool(3), identity }
    x -> h : choose 1 { conv(), conv(k = 1), max_pool(3), identity }
    h -> out : bn > relu
}

network net(width = 4) : image(1, 8, 8) -> classes(10) {
    in x
    x -> out : conv(width, stride = 2) > bn > block > block > global_avg_pool > linear(10)
}
"""
ANY = ONE.replace("choose 1", "choose")
FEW: dict[str, Any] = {"finalists": 4, "finalist_steps": 6}


@dataclass
class Compared(Notes):
    """Also remembers the finalists."""

    finalists: list[Finalist] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    selections: list[SearchProgress] = field(default_factory=list)

    def compared(self, finalist: Finalist, number: int) -> None:
        self.finalists.append(finalist)
        self.numbers.append(number)

    def selected(self, progress: SearchProgress) -> None:
        self.selections.append(progress)


def searched(folder: Path, text: str = ONE, **settings: Any) -> tuple[SearchOutcome, Compared]:
    """A search with a few finalists."""
    watcher = Compared()
    return search(problem(text, **(FEW | settings)), folder, watcher).run(), watcher


def decision(graph: Graph, off: frozenset[str] = frozenset()) -> Decision:
    """A decision without numbers."""
    names = dict.fromkeys(gate.group for gate in graph.gates)
    reasons = {name: Why.OWN if name in off else Why.KEPT for name in names}
    verdicts = (Verdict(n, why.keep, why, 1.0, 1.0, 1.0, None, (), (), (), ()) for n, why in reasons.items())
    return Decision(tuple(verdicts))


# ------------------------------------------------------------------------------------------ searches


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_best_finalist_is_the_result(strategy: str, tmp_path: Path) -> None:
    outcome, watcher = searched(tmp_path, strategy=strategy)
    assert watcher.numbers == list(range(1, len(watcher.finalists) + 1))
    assert 2 <= len(watcher.finalists) <= 4
    assert len({finalist.off for finalist in watcher.finalists}) == len(watcher.finalists), "none is trained twice"
    best = min(watcher.finalists, key=lambda finalist: finalist.loss)
    assert outcome.decision.off == frozenset(best.off)
    assert outcome.cost.parameters == best.parameters
    assert outcome.cost.flops == best.flops
    assert not outcome.decision.lost
    verify(outcome.graph)


def test_the_first_finalist_is_what_was_decided(tmp_path: Path) -> None:
    outcome, watcher = searched(tmp_path)
    decided = watcher.ends[0].architecture
    assert decided is not None
    assert watcher.finalists[0].off == tuple(sorted(decided.off))
    for verdict in outcome.decision.verdicts:
        before = next(v for v in decided.verdicts if v.name == verdict.name)
        expected = before.why if before.keep == verdict.keep else Why.WON if verdict.keep else Why.LOST
        assert verdict.why == expected


def test_the_weights_are_those_of_the_best_finalist(tmp_path: Path) -> None:
    """Without steps to finish, its network has the loss that was measured."""
    outcome, watcher = searched(tmp_path, finish=0)
    best = watcher.finalists[best_of(watcher.finalists)]
    given = problem(ONE, **FEW)
    found = loss_and_metric(outcome.learner, given.validation_batches(device(given.config)))
    assert found == pytest.approx((best.loss, best.accuracy), rel=1e-6)


def test_finalists_are_trained_alike(tmp_path: Path) -> None:
    """Each from new weights, with a learning rate that falls to zero, on the same samples."""
    _, watcher = searched(tmp_path, log_steps=1)
    first = watcher.ends[0].decided_at
    rows = [row for row in watcher.rows if first < row.step <= first + 6 * len(watcher.finalists)]
    rates = [[row.rate for row in rows[i : i + 6]] for i in range(0, len(rows), 6)]
    assert len(rates) == len(watcher.finalists)
    assert all(some == rates[0] for some in rates)
    assert rates[0][0] == pytest.approx(0.05)
    assert rates[0][-1] < 0.1 * rates[0][0]
    assert all(row.penalty == 0 for row in rows)


def test_an_interrupted_comparison_is_resumed(tmp_path: Path) -> None:
    """After every step: the result is the same to the last bit."""
    whole, _ = searched(tmp_path / "whole", checkpoint_steps=1)
    for _ in range(200):
        try:
            resumed = search(
                problem(ONE, **FEW, checkpoint_steps=1), tmp_path / "parts", Compared(), asked_often(9)
            ).run()
            break
        except Interrupted:
            continue
    assert resumed.decision == whole.decision
    assert resumed.accuracy == whole.accuracy
    one, other = (checkpoints(tmp_path / name) for name in ("whole", "parts"))
    last = max(one)
    for name, value in one[last]["weights"].items():
        assert torch.equal(value, other[last]["weights"][name])


def test_a_killed_comparison_has_the_same_tables(programs: Launcher) -> None:
    """Through the command line, with a signal in the middle of it."""
    (programs.folder / "one.nas").write_text(ONE)
    begin = (
        "search",
        "one.nas",
        "--config",
        "short.toml",
        "--allow-python",
        "--finalists",
        "3",
        "-s",
        "finalist_steps=8",
    )
    assert programs.run(*begin, "-o", "finalists-whole")[0] == 0
    program = programs.start(*begin, "-o", "finalists-killed")
    assert program.until(lambda line: line.startswith("finalist 2/3"))
    program.signal(9)
    program.ended()
    code, printed = programs.run("search", "--resume", "finalists-killed", "--allow-python")
    assert code == 0, printed
    one, other = (programs.folder / f"finalists-{name}" for name in ("whole", "killed"))
    assert_same_run(one, other, ("metrics", "updates", "switches", "finalists"))
    record = read_run_record(RunPaths(one))
    kept = {
        verdict["name"] for verdict in json.loads((one / "decision.json").read_text())["verdicts"] if verdict["keep"]
    }
    assert record.alive == kept
    assert record.outline is not None
    assert record.step == record.outline.total_steps == 4 + 3 * 8 + 3 * 8 + 8
    phases = [record.outline.phase(step) for step in (4, 28, 29, 36, 52, 53)]
    assert phases == ["warm-up", "iteration 3/3", "finalist 1/3", "finalist 1/3", "finalist 3/3", "finish"]


def test_a_switch_that_was_closed_may_return(tmp_path: Path) -> None:
    """Closed by an update, and in the best finalist: then it is open, in files and in displays."""
    (tmp_path / "run.json").write_text('{"space": "a", "network": "b", "begun": "", "config": {}}')
    (tmp_path / "switches.csv").write_text("iteration,switch,keep\n1,one,0\n1,two,1\n")
    assert read_run_record(RunPaths(tmp_path)).closed == {"one"}
    (tmp_path / "decision.json").write_text(
        '{"verdicts": [{"name": "one", "keep": true}, {"name": "two", "keep": false}]}'
    )
    assert read_run_record(RunPaths(tmp_path)).closed == {"two"}


def test_none_or_several(tmp_path: Path) -> None:
    for count in (0, 1):
        outcome, watcher = searched(tmp_path / str(count), finalists=count)
        assert not watcher.finalists
        assert outcome.decision.off == watcher.iterations[-1].architecture.off


def test_as_many_as_there_are_architectures(tmp_path: Path) -> None:
    """A choice of two has two architectures, however many finalists were asked for."""
    text = """
    network net : image(1, 8, 8) -> classes(10) {
        in x
        x -> out : choose 1 { conv(4), conv(4, k = 1) } > relu > global_avg_pool > linear(10)
    }
    """
    _, watcher = searched(tmp_path, text, finalists=9)
    assert len(watcher.finalists) == 2


def test_nothing_to_compare(tmp_path: Path) -> None:
    """All candidates are kept, or only one is there: only the architecture itself is trained."""
    text = """
    network net : image(1, 8, 8) -> classes(10) {
        in x
        x -> out : choose 1 { conv(4) } > relu > global_avg_pool > linear(10)
    }
    """
    _, watcher = searched(tmp_path, text)
    assert len(watcher.finalists) == 1


def test_finalists_meet_what_is_required(tmp_path: Path) -> None:
    smaller = ONE.replace("    x -> out : conv(width", "    require params < 300\n    x -> out : conv(width")
    outcome, watcher = searched(tmp_path, smaller, finalists=6)
    assert outcome.cost.parameters < 300
    assert all(finalist.parameters < 300 for finalist in watcher.finalists)


def test_an_older_checkpoint_has_no_finalists(tmp_path: Path) -> None:
    """It lacks the fields, and is read all the same."""
    with pytest.raises(Interrupted):
        search(problem(ONE), tmp_path, stop=asked_often(9)).run()
    path = max(tmp_path.glob("step-*.pt"))
    content = torch.load(path, weights_only=True)
    for name in ("finalists", "trying", "decided_at"):
        del content["progress"][name]
    del content["best"]
    given = problem(ONE)
    SearchCheckpoints(tmp_path, given.config.keep).write(content["progress"]["step"], content)
    learner, progress = SearchCheckpoints(tmp_path, given.config.keep).last(given, device(given.config)) or (None, None)
    assert learner is not None
    assert progress is not None
    assert progress.finalists == ()
    assert progress.trying is None
    assert learner.best == {}


# ------------------------------------------------------------------------------------------ defaults


def test_usual_numbers() -> None:
    long = problem(ONE, steps=1000, iterations=10, warmup=0)
    assert long.finalists == 0
    assert long.finalist_steps == 2500
    assert problem(ONE, finalists=2).finalists == 2
    fixed = "network net : image(1, 8, 8) -> classes(10) { in x x -> out : global_avg_pool > linear(10) }"
    assert problem(fixed, finalists=2).finalists == 0


def test_settings_of_finalists() -> None:
    """Nothing but the momentum and the end of the schedule differs from the search."""
    some = problem(ONE, **FEW, crop=1)
    assert some.of_finalists.config.model_copy(update={"nesterov": False, "final_rate": 0.05}) == some.config
    assert some.of_finalists.config.nesterov
    assert some.of_finalists.graph is some.graph


# ------------------------------------------------------------------------------------------ proposals


def finalist(graph: Graph, off: frozenset[str], loss: float) -> Finalist:
    size = cost(prune(graph, off))
    return Finalist(tuple(sorted(off)), size.parameters, size.flops, loss, 0.5)


def best_candidates(graph: Graph) -> frozenset[str]:
    """The switches to close so that the first candidate of every choice stays."""
    return frozenset(name for choice in choices(graph) for name in choice.candidates[1:])


def test_odds_decide_what_is_proposed() -> None:
    graph = problem(ONE).graph
    off = best_candidates(graph)
    decided = decision(graph, off)
    likely = {choice.candidates[2] for choice in choices(graph)}
    odds = {v.name: 0.0 if v.name in likely else -9.0 for v in decided.verdicts}
    seen: Counter[str] = Counter()
    for seed in range(20):
        numbers = torch.Generator().manual_seed(seed)
        proposed = propose(graph, decided, [finalist(graph, off, 1.0)], odds, lambda graph: True, numbers)
        assert proposed is not None
        seen.update(off - set(proposed))
    assert seen.total() == sum(seen[name] for name in likely)


def test_candidates_change_places_where_choices_keep_any_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those with low odds leave, others enter, and a choice of which nothing was left is opened for them."""
    monkeypatch.setattr(finalists, "MOST_CHANGES", 1)
    graph = problem(ANY).graph
    first, second = choices(graph)
    off = frozenset([*first.candidates[1:], *second.candidates, str(second.zero)])
    decided = decision(graph, off)
    last = second.candidates[-1]
    odds = {v.name: 9.0 if v.name in (last, first.candidates[1]) else -9.0 for v in decided.verdicts}
    seen: Counter[str] = Counter()
    for seed in range(20):
        numbers = torch.Generator().manual_seed(seed)
        proposed = propose(graph, decided, [finalist(graph, off, 1.0)], odds, lambda graph: True, numbers)
        assert proposed is not None
        opened = off - set(proposed)
        assert (last in opened) == (second.zero in opened), "nothing else of this choice is likely"
        seen.update(opened)
    assert seen[last] > 0
    assert seen[first.candidates[1]] > 0
    assert seen.total() == seen[last] + seen[str(second.zero)] + seen[first.candidates[1]]


def test_nothing_to_exchange() -> None:
    """If lambda and size limits have closed nothing, finalists do not either."""
    graph = problem(ANY).graph
    decided, odds = decision(graph), dict.fromkeys(graph.switches, 0.0)
    first = finalist(graph, frozenset(), 1.0)
    assert propose(graph, decided, [first], odds, lambda graph: True, torch.Generator()) is None


@settings(max_examples=6 * LONG)
@given(random=st.randoms(use_true_random=False), seed=st.integers(0, 10_000))
def test_proposals_are_sound(random: Random, seed: int) -> None:
    """In any space: connected, new, and within limits. A choice with a limit keeps no more than before."""
    space, diagnostics = check(random_space(random))
    assume(not any(diagnostic.severity == "error" for diagnostic in diagnostics))
    graph = Problem.of(space.networks[-1], tiny_data(), config()).graph
    assume(graph.gates)
    odds = {name: random.uniform(-3, 3) for name in graph.switches}
    closed = frozenset(name for name in graph.switches if random.random() < 0.3)
    decided = enforce_limits(graph, reconnect(graph, decision(graph, closed), odds), odds)
    assume(not violated(graph, decided.off))
    tried = [finalist(graph, decided.off, 1.0)]
    for number in range(4):
        numbers = torch.Generator().manual_seed(seed + number)
        proposed = propose(graph, decided, tried, odds, lambda graph: True, numbers)
        if proposed is None:
            break
        off = frozenset(proposed)
        assert proposed not in [one.off for one in tried]
        smaller = prune(graph, off)
        verify(smaller)
        assert {gate.group for gate in smaller.gates} == {v.name for v in decided.verdicts} - off, "no dead ends"
        assert not violated(graph, off)
        before = frozenset(tried[best_of(tried)].off)
        for choice in choices(graph):
            limit = max(choice.least, len(set(choice.candidates) - before))
            may_grow = choice.most is None or graph.constraints
            assert may_grow or len(set(choice.candidates) - off) <= limit
        tried.append(finalist(graph, off, 1.0 - 0.1 * number))


def test_reasons() -> None:
    graph = problem(ONE).graph
    decided = decision(graph, best_candidates(graph))
    one = choices(graph)[0].candidates
    other = frozenset(decided.off - {one[1]}) | {one[0]}
    found = {v.name: v.why for v in chosen(decided, finalist(graph, other, 1.0)).verdicts}
    assert found[one[0]] == Why.LOST
    assert found[one[1]] == Why.WON
    assert found[one[2]] == Why.OWN


def test_candidates_are_compared_while_both_are_open(tmp_path: Path) -> None:
    """The best of a choice is not behind, and what was closed keeps what it was behind when it closed."""
    watcher = Compared()
    search(problem(ONE, **FEW, iterations=4), tmp_path, watcher).run()
    last: dict[str, float] = {}
    for iteration in watcher.iterations:
        behind = {verdict.name: verdict.behind for verdict in iteration.decision.verdicts}
        last |= behind
        for choice in choices(problem(ONE).graph):
            some = [behind[name] for name in choice.candidates if name in behind]
            assert min(some) == 0
            worths = {v.name: v.worth for v in iteration.decision.verdicts if v.name in choice.candidates}
            for name, worth in worths.items():
                assert behind[name] == pytest.approx(max(worths.values()) - worth)
    decided = watcher.ends[0].architecture
    assert decided is not None
    assert {verdict.name: verdict.behind for verdict in decided.verdicts} == last


def test_optional_operations_are_compared_with_nothing(tmp_path: Path) -> None:
    text = """
    network net : image(1, 8, 8) -> classes(10) {
        in x
        node h
        x -> h : optional conv(4)
        x -> h : conv(4, k = 1)
        h -> out : relu > global_avg_pool > linear(10)
    }
    """
    outcome, watcher = searched(tmp_path, text)
    for verdict in watcher.iterations[0].decision.verdicts:
        assert verdict.behind == pytest.approx((0.5 + 1 / (2 * pi * e)) ** 0.5 - verdict.worth)
    assert len(watcher.finalists) == 2, "with and without it"
    assert not outcome.decision.lost


def test_odds_of_strategies() -> None:
    verdict = replace(decision(problem(ONE).graph).verdicts[0], behind=1.0, relevance=0.5)
    by_strategy = {name: strategy_of(config(strategy=name)).odds(config(strategy=name), verdict) for name in STRATEGIES}
    assert by_strategy["random"] == 0
    assert by_strategy["darts"] == pytest.approx(-0.6931, abs=1e-4)
    better = replace(verdict, behind=0.5, relevance=0.9)
    for name in set(STRATEGIES) - {"random"}:
        assert strategy_of(config(strategy=name)).odds(config(strategy=name), better) > by_strategy[name]
