"""The history of one switch."""

from __future__ import annotations

import pytest

from bayesnas_graph.bayes.entropy import THRESHOLD
from bayesnas_graph.report.charts.switch_history import PRUNED, switch_history
from tests.report.charts.chart_checks import svg

ROWS = [
    {"iteration": 1, "gamma": 0.8, "s": 2.0, "omega": 0.7, "w": [1.0, 0.5], "h": [0.25, 0.5]},
    {"iteration": 2, "gamma": 0.0, "s": 0.0, "omega": None, "w": [0.0, None], "h": [0.5, 0.5]},
]


def test_the_line_is_where_switches_are_pruned() -> None:
    assert PRUNED == THRESHOLD


def test_it_waits_for_data() -> None:
    assert switch_history()["data"] == {"name": "history", "values": []}


@pytest.mark.parametrize("rows", [[], ROWS[:1], ROWS], ids=len)
def test_drawn_without_a_warning(rows: list[object], capfd: pytest.CaptureFixture[str]) -> None:
    drawn = svg({**switch_history(), "data": {"name": "history", "values": rows}})
    assert capfd.readouterr().err == ""
    for name in ("gamma", "s", "omega", "w", "h", "update"):
        assert f">{name}<" in drawn


def test_other_strategies_have_a_strength_and_no_prior(capfd: pytest.CaptureFixture[str]) -> None:
    drawn = svg({**switch_history("strength"), "data": {"name": "history", "values": ROWS}})
    assert capfd.readouterr().err == ""
    assert ">strength<" in drawn
    assert ">gamma<" not in drawn
    assert drawn.count('aria-roledescription="line mark"') == len(["strength", "w", "w"])


def test_a_line_for_each_use() -> None:
    drawn = svg({**switch_history(), "data": {"name": "history", "values": ROWS}})
    lines = drawn.count('aria-roledescription="line mark"')
    assert lines == len(["gamma", "s", "omega", "w", "w", "h", "h"])
