"""What a run recorded about its switches, from its files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bayesnas_graph.diagnostics.source import Source, Span
from bayesnas_graph.language.elaborate.wiring import Budget
from bayesnas_graph.passes.analysis import cost_by_switch
from bayesnas_graph.report.reasons import SwitchRecord
from bayesnas_graph.report.reported_run import ReportedRun, read_reported_run
from bayesnas_graph.report.switch_records import evidence_of, intensities, size_limits, switch_records
from bayesnas_graph.runs.reading.decision import Final
from bayesnas_graph.runs.strategies import STRATEGIES
from tests.report.fake_runs import traced
from tests.report.runs import searched

NOWHERE = Span(Source("x.nas", ""), 0, 0)
UPDATES = ({"iteration": 1.0, "lambda": 0.2}, {"iteration": 2.0, "lambda": 0.4})


def records(run: ReportedRun) -> dict[str, SwitchRecord]:
    assert run.graph is not None
    assert run.space is not None
    return switch_records(run.record, run.graph, run.history, run.final, run.space.network.budgets)


def test_records_are_those_of_the_files(quickstart: Path) -> None:
    run = read_reported_run(quickstart)
    assert run.graph is not None
    found = records(run)
    costs = cost_by_switch(run.graph)
    assert set(found) == set(run.history)
    for name, record in found.items():
        assert record.moments == run.history[name]
        assert record.final == run.final[name]
        assert record.parameters == costs[name].parameters
        assert record.lambdas == dict.fromkeys(range(1, 6), 0.3)
        assert record.is_zero == name.endswith(".zero")
        assert record.size_limits == ("less than 20,000 parameters",)


def test_the_best_candidate_of_a_choice(quickstart: Path) -> None:
    run = read_reported_run(quickstart)
    record = records(run)["block:h.0.identity"]
    candidates = {"relu_conv_bn", "sep_conv", "max_pool", "identity"}
    first = {one: run.history[f"block:h.0.{one}"][0].worth or 0 for one in candidates}
    name, moment = record.best[1]
    assert first[name] == moment.worth == max(first.values())


def test_candidates_under_a_closed_zero_switch(quickstart: Path) -> None:
    run = read_reported_run(quickstart)
    off = Final(False, "no room for it")
    zero = "block:h.1.entry.zero"
    others = [name for name in run.final if name.startswith("block:h.1.entry.") and name != zero]
    run = replace(run, history={}, final={**run.final, zero: off, **dict.fromkeys(others, Final(False, "dead end"))})
    found = records(run)
    assert {name for name, record in found.items() if record.under_zero} == set(others)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_has_evidence(strategy: str, tmp_path: Path) -> None:
    run = read_reported_run(searched(tmp_path / "run", strategy=strategy))
    expected = {"bayes": "worth", "bayesnas": "worth", "dso": "factor"}  # the made-up tables have a worth
    assert evidence_of(run.record, run.history) == expected.get(strategy, "strength")
    assert all(record.evidence == expected.get(strategy, "strength") for record in records(run).values())


def test_without_errors_there_is_no_worth(quickstart: Path) -> None:
    run = read_reported_run(quickstart)
    history = {name: [replace(one, error=0.0) for one in moments] for name, moments in run.history.items()}
    assert evidence_of(run.record, history) == "prior"


def test_zero_switches_may_have_a_penalty_of_their_own() -> None:
    run = traced(updates=UPDATES, **{"lambda": 0.2, "lambda_zero": 0.1})
    assert intensities(run, is_zero=False) == {1: 0.2, 2: 0.4}
    assert intensities(run, is_zero=True) == pytest.approx({1: 0.1, 2: 0.2})
    assert intensities(traced(updates=UPDATES, **{"lambda": 0.2}), is_zero=True) == {1: 0.2, 2: 0.4}


def test_limits_in_words() -> None:
    budgets = [
        Budget("params", "<", 20_000, NOWHERE),
        Budget("flops", ">=", 5, NOWHERE),
        Budget("memory", "<=", 9, NOWHERE),
    ]
    assert list(size_limits({"target_flops": 1_000}, budgets)) == [
        "less than 20,000 parameters",
        "at most 9 bytes of memory",
        "at most 1,000 multiply-adds",
    ]
