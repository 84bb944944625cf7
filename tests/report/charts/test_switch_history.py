"""The history of one switch."""

from __future__ import annotations

import pytest

from bayesnas_graph.bayes.entropy import THRESHOLD
from bayesnas_graph.report.charts.switch_history import PRUNED, history_caption, switch_history, switch_numbers
from bayesnas_graph.report.reasons import Evidence
from bayesnas_graph.report.section import Spec
from tests.report.charts.chart_checks import svg

UPDATES = [1, 2]
ROWS = [
    {"iteration": 1, "gamma": 0.8, "s": 2.0, "omega": 0.7, "w": [1.0, 0.5], "h": [0.25, 0.5], "use": ["a", "b"],
     "worth": 0.8, "low": 0.2, "high": 1.4, "bound": 0.33},
    {"iteration": 2, "gamma": 0.0, "s": 0.0, "omega": None, "w": [0.0, None], "h": [0.5, 0.5], "use": ["a", "b"],
     "worth": 0.1, "low": 0.0, "high": 0.2, "bound": 0.33},
]  # fmt: skip
EVIDENCE: list[Evidence] = ["worth", "prior", "factor", "strength"]


def drawn(spec: Spec, rows: object = ROWS) -> str:
    return svg({**spec, "data": {"name": "history", "values": rows}})


def test_the_line_is_where_switches_are_pruned() -> None:
    assert PRUNED == THRESHOLD


@pytest.mark.parametrize("evidence", EVIDENCE)
def test_they_wait_for_data(evidence: Evidence) -> None:
    for chart in (switch_history(evidence, UPDATES), switch_numbers(evidence, UPDATES)):
        assert chart["data"] == {"name": "history", "values": []}


@pytest.mark.parametrize("rows", [[], ROWS[:1], ROWS], ids=len)
@pytest.mark.parametrize("evidence", EVIDENCE)
def test_drawn_without_a_warning(evidence: Evidence, rows: list[object], capfd: pytest.CaptureFixture[str]) -> None:
    drawn(switch_history(evidence, UPDATES), rows)
    drawn(switch_numbers(evidence, UPDATES), rows)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("evidence", "main", "others"),
    [
        ("worth", ["worth"], ["gamma", "s", "omega", "w", "h"]),
        ("prior", ["gamma"], ["s", "omega", "w", "h"]),
        ("factor", ["strength"], ["w"]),
        ("strength", ["strength"], ["w"]),
    ],
)
def test_the_main_chart_has_what_decides(evidence: Evidence, main: list[str], others: list[str]) -> None:
    first, rest = drawn(switch_history(evidence, UPDATES)), drawn(switch_numbers(evidence, UPDATES))
    for name in ("worth", "gamma", "s", "omega", "w", "h", "strength"):
        assert (f">{name}<" in first) == (name in main), name
        assert (f">{name}<" in rest) == (name in others), name
    assert f"{main[0]}: " in history_caption(evidence)


def test_thresholds_are_named_where_they_are_drawn() -> None:
    assert ">closed at 0.0585 or less (entropy 0)<" in drawn(switch_history("prior", UPDATES))
    assert ">lambda asks for 0.33<" in drawn(switch_history("worth", UPDATES))


def test_a_line_for_each_use_with_its_name() -> None:
    found = drawn(switch_numbers("prior", UPDATES))
    assert found.count('aria-roledescription="line mark"') == len(["s", "omega", "w", "w", "h", "h"])
    assert ">a<" in found
    assert ">b<" in found
