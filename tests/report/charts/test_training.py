"""Curves of training runs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.report.charts import training
from bayesnas_graph.report.charts.training import TEST, TRAIN, Tables
from bayesnas_graph.report.section import Chart
from bayesnas_graph.runs.reading.run import Numbers
from tests.report.charts.chart_checks import has_legend, sound, svg, values

ROWS: tuple[Numbers, ...] = tuple(
    {"epoch": n, "step": 10.0 * n, "loss": 2 / n, "accuracy": n / 10, "test_loss": 3 / n, "test_accuracy": n / 20}
    for n in range(1, 5)
)


def curve(chart: Chart, on: str) -> list[float]:
    return [value["value"] for value in values(chart) if value["on"] == on]


@pytest.mark.parametrize("make", [training.loss, training.accuracy])
@pytest.mark.parametrize("runs", [("a",), ("a", "b")])
def test_drawn_without_a_warning(
    make: Callable[[Tables], Chart], runs: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    chart = make(dict.fromkeys(runs, ROWS))
    sound(chart)
    drawn = svg(chart.spec)
    for name in ("epoch", TRAIN, TEST):  # also in the legend
        assert f">{name}<" in drawn
    assert capfd.readouterr().err == ""
    assert has_legend(chart) == (len(runs) > 1)


def test_both_curves() -> None:
    assert curve(training.loss({"a": ROWS}), TRAIN) == [row["loss"] for row in ROWS]
    assert curve(training.loss({"a": ROWS}), TEST) == [row["test_loss"] for row in ROWS]
    assert curve(training.accuracy({"a": ROWS}), TRAIN) == [row["accuracy"] for row in ROWS]
    assert curve(training.accuracy({"a": ROWS}), TEST) == [row["test_accuracy"] for row in ROWS]


def test_a_test_that_was_not_made_is_a_gap() -> None:
    assert curve(training.loss({"a": [{"epoch": 1.0, "loss": 2.0}]}), TEST) == [None]


NUMBERS = st.floats()
KEYS = ("epoch", "loss", "accuracy", "test_loss", "test_accuracy")


@given(st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(KEYS, NUMBERS)), max_size=4))
def test_any_rows(rows: list[Numbers]) -> None:
    sound(training.loss({"a": rows, "b": ()}))
    sound(training.accuracy({"a": rows}))
