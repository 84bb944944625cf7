"""The shrink budget of the strategy `bayesnas`, and the warning if it is too small."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from bayesnas_graph.bayes import can_close
from bayesnas_graph.bayes.groups import group_norms
from bayesnas_graph.cli.display.search_lines import SearchLines
from bayesnas_graph.cli.display.search_view import SearchView
from bayesnas_graph.search.budget import LARGEST_GROWTH, Shrink, rates_left, shrink, too_weak
from bayesnas_graph.search.learner import SearchLearner, new_learner
from bayesnas_graph.search.problem import Problem
from bayesnas_graph.search.progress import SearchProgress
from bayesnas_graph.search.strategies.bayesnas import moved
from bayesnas_graph.search.strategy import Rates
from tests.search.spaces import Notes, device, problem, searched


def started(**settings: Any) -> tuple[Problem, SearchLearner]:
    asked = problem(strategy="bayesnas", **settings)
    return asked, new_learner(asked.graph, asked.config, device(asked.config))


def test_rates_that_are_left() -> None:
    asked = problem(strategy="bayesnas", steps=8, warmup=4, iterations=3, gate_rate=0.5)
    assert rates_left(asked, SearchProgress()) == [4, 4, 4]
    assert rates_left(asked, SearchProgress(step=4)) == [4, 4, 4]
    assert rates_left(asked, SearchProgress(step=6)) == [3, 4, 4]
    assert rates_left(asked, SearchProgress(step=20, iteration=2, slowdown=0.5)) == [2]
    assert rates_left(asked, SearchProgress(step=28, iteration=3)) == []
    assert rates_left(asked, SearchProgress(step=20, iteration=2, ended="it is found")) == []


def test_lambda_grows_on_the_way_to_a_target() -> None:
    asked = problem(strategy="bayesnas", steps=8, iterations=3, gate_rate=0.5, lambda_growth=2.0, target_params=10)
    assert rates_left(asked, SearchProgress()) == [4, 8, 16]
    assert rates_left(asked, SearchProgress(step=12, iteration=1, growth=2.0)) == [8, 16]
    endless = problem(strategy="bayesnas", steps=1, iterations=5000, gate_rate=1.0, lambda_growth=2.0, target_params=10)
    assert rates_left(endless, SearchProgress())[-1] == LARGEST_GROWTH


@pytest.mark.parametrize("intensity", [0.1, 0.3])
def test_gates_get_as_far_as_the_budget_says(intensity: float) -> None:
    """Without a loss and a gauge, only the penalty moves them."""
    asked, learner = started(**{"lambda": intensity, "lambda_zero": 0.2, "gauge": "none", "gate_rate": 0.3})
    switches, progress = learner.switches, SearchProgress(step=asked.warmup, measured=True)
    gates = learner.supernet.gates
    learner.supernet.set_gates(torch.rand(gates.shape, generator=torch.Generator().manual_seed(0)) + 0.5)
    size = group_norms(learner.supernet.gates.double(), switches.group, len(switches.groups))
    budget = shrink(asked, learner, progress)
    rates = Rates(weights=0.0, gates=asked.config.gate_rate, intensities=asked.config.intensities)
    for _ in range(asked.steps * asked.config.iterations):
        learner.supernet.set_gates(moved(learner, torch.zeros_like(gates), rates))
    after = group_norms(learner.supernet.gates.double(), switches.group, len(switches.groups))
    torch.testing.assert_close(after, (size * (1 - budget)).clamp(min=0), atol=1e-5, rtol=1e-5)
    assert (after == 0).tolist() == can_close(budget).tolist()
    assert 0 < can_close(budget).sum() < len(budget) or intensity == 0.3


def test_before_units_are_known_gates_are_taken_to_be_one() -> None:
    asked, learner = started()
    ones = shrink(asked, learner, SearchProgress())
    learner.supernet.set_gates(torch.full_like(learner.supernet.gates, 0.01))
    torch.testing.assert_close(shrink(asked, learner, SearchProgress()), ones)
    torch.testing.assert_close(shrink(asked, learner, SearchProgress(measured=True)), 100 * ones)


def test_a_gate_at_zero_can_be_closed_in_no_time() -> None:
    asked, learner = started()
    learner.supernet.set_gates(torch.zeros_like(learner.supernet.gates))
    ended = SearchProgress(step=asked.total_steps, iteration=3, measured=True)
    found = Shrink.of(shrink(asked, learner, ended))
    assert found.able == found.open == len(learner.switches.groups)


def test_nothing_is_left_to_close() -> None:
    assert Shrink.of(torch.zeros(0)).open == 0


@pytest.mark.parametrize(
    "settings", [{"lambda": 0.01}, {"lambda": 0.3, "lambda_zero": 0.001}, {"lambda": 0.01, "lambda_zero": 0.02}]
)
def test_the_suggested_lambda_is_enough(settings: dict[str, float]) -> None:
    asked, learner = started(**settings)
    warning = too_weak(asked, learner, shrink(asked, learner, SearchProgress()))
    assert warning is not None
    assert (warning.code, warning.severity) == ("NAS607", "warning")
    options = {key: float(value) for key, value in re.findall(r"--([\w-]+) ([\d.]+)", warning.help or "")}
    steps = int(options.pop("steps"))
    for better in (
        settings | {key.replace("-", "_"): value for key, value in options.items()},
        settings | {"steps": steps},
    ):
        again, other = started(**better)
        assert too_weak(again, other, shrink(again, other, SearchProgress())) is None, better


def test_the_warning_says_how_many_cannot_be_closed() -> None:
    asked, learner = started(**{"lambda": 0.01})
    none = too_weak(asked, learner, shrink(asked, learner, SearchProgress()))
    assert none is not None
    assert none.message == "the penalty moves gates at most 0.14 of the way to zero, and cannot close any switch"
    asked, learner = started(**{"lambda": 0.3, "lambda_zero": 0.001})
    some = too_weak(asked, learner, shrink(asked, learner, SearchProgress()))
    assert some is not None
    assert some.message.startswith(
        "the penalty cannot close 2 of 7 switches: it moves some gates at most 0.014 of the way"
    )
    assert "--lambda-zero" in (some.help or "")
    assert "--lambda " not in (some.help or "")


def test_every_update_tells_what_is_left(tmp_path: Path) -> None:
    notes = Notes()
    searched(tmp_path, watcher=notes, strategy="bayesnas", stable=0, gate_rate=0.1)
    budgets = [found.shrink for found in notes.iterations if found.shrink is not None]
    assert [budget.largest > 0 for budget in budgets] == [True, True, False]
    for found, budget in zip(notes.iterations, budgets, strict=True):
        assert budget.open == sum(verdict.keep for verdict in found.decision.verdicts)


def test_slower_steps_reach_less_far() -> None:
    asked, learner = started()
    whole = shrink(asked, learner, SearchProgress())
    torch.testing.assert_close(shrink(asked, learner, replace(SearchProgress(), slowdown=0.5)), whole / 2)


@pytest.mark.parametrize(("step", "warned"), [(0, True), (4, True), (5, False), (12, False)])
def test_the_warning_comes_before_gates_move(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], step: int, warned: bool
) -> None:
    """Also by a search that is resumed at the very end of its only iteration."""
    asked, learner = started(**{"lambda": 0.01, "iterations": 1})
    progress = SearchProgress(step=step, measured=step >= asked.warmup)
    SearchView(display=SearchLines()).started(asked, learner, progress)
    assert ("NAS607" in capsys.readouterr().err) is warned
