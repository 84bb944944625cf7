"""Curves of searches."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.report.charts import search
from bayesnas_graph.report.charts.search import Tables
from bayesnas_graph.report.section import Chart
from bayesnas_graph.runs.reading.run import Numbers
from tests.report.charts.chart_checks import column, has_legend, sound, svg, values

ROWS: tuple[Numbers, ...] = tuple(
    {
        "step": 10.0 * n,
        "iteration": n // 2,
        "loss": 2 / n,
        "accuracy": n / 10,
        "penalty": 3.0,
        "seconds": n,
        "alive": 9 - n,
    }
    for n in range(1, 7)
)
UPDATES: tuple[Numbers, ...] = tuple(
    {"iteration": n, "accuracy": n / 5, "parameters": 900 / n, "flops": 9000 / n, "lambda": n, "seconds": 1.0}
    for n in (1, 2)
)

OF_ROWS = (search.loss, search.penalty, search.open_switches, search.step_time)
OF_UPDATES = (search.parameters, search.multiply_adds, search.intensity)


def accuracy(rows: Tables) -> Chart:
    return search.accuracy(rows, dict.fromkeys(rows, UPDATES), dict.fromkeys(rows, 0.75))


EVERY = [*((one, ROWS) for one in (*OF_ROWS, accuracy)), *((one, UPDATES) for one in OF_UPDATES)]
Make = Callable[[Tables], Chart]


@pytest.mark.parametrize(("make", "rows"), EVERY)
@pytest.mark.parametrize("runs", [("a",), ("a", "<b>")])
def test_drawn_without_a_warning(
    make: Make, rows: tuple[Numbers, ...], runs: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    chart = make(dict.fromkeys(runs, rows))
    sound(chart)
    drawn = svg(chart.spec)
    assert capfd.readouterr().err == ""
    assert has_legend(chart) == (len(runs) > 1)
    assert ("&lt;b&gt;" in drawn) == (len(runs) > 1)


@pytest.mark.parametrize(("make", "rows"), EVERY)
def test_all_rows_of_all_runs(make: Make, rows: tuple[Numbers, ...]) -> None:
    chart = make({"a": rows, "b": rows[:1]})
    assert column(chart, "run").count("a") >= len(rows)
    assert "b" in column(chart, "run")


def test_loss_and_sizes_are_what_the_tables_have() -> None:
    assert column(search.loss({"a": ROWS}), "loss") == [row["loss"] for row in ROWS]
    assert column(search.loss({"a": ROWS}), "step") == [10, 20, 30, 40, 50, 60]
    assert column(search.parameters({"a": UPDATES}), "parameters") == [900, 450]
    assert column(search.multiply_adds({"a": UPDATES}), "flops") == [9000, 4500]


def test_held_out_samples_are_measured_after_the_last_step_of_an_iteration() -> None:
    chart = accuracy({"a": ROWS})
    held_out = [(v["step"], v["accuracy"]) for v in values(chart) if v["on"] == "held-out samples"]
    assert held_out == [(30.0, 0.2), (50.0, 0.4)]


def test_the_test_comes_last() -> None:
    assert [(v["step"], v["accuracy"]) for v in values(accuracy({"a": ROWS})) if v["on"] == "test set"] == [
        (60.0, 0.75)
    ]


def test_a_run_without_a_test() -> None:
    chart = search.accuracy({"a": ROWS, "b": ROWS}, {}, {"a": None, "b": 0.5})
    assert [v["run"] for v in values(chart) if v["on"] == "test set"] == ["b"]


def test_times_are_smoothed() -> None:
    seconds = [1.0, 1.0, 1.0, 99.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    chart = search.step_time({"a": [{"step": float(n), "seconds": one} for n, one in enumerate(seconds)]})
    assert column(chart, "seconds") == seconds
    assert column(chart, "median") == [1.0] * len(seconds)


def test_whether_there_is_a_penalty() -> None:
    assert search.has_penalty({"a": [{"step": 1.0, "penalty": 0.0}], "b": ROWS})
    assert not search.has_penalty({"a": [{"step": 1.0, "penalty": 0.0}], "b": [{"step": 1.0}]})


def test_whether_lambda_changes() -> None:
    assert search.intensity_changes({"a": UPDATES})
    assert not search.intensity_changes({"a": UPDATES[:1], "b": UPDATES[1:]})


NUMBERS = st.floats() | st.integers(-3, 3).map(float)
ANY_ROW = st.fixed_dictionaries(
    {"step": NUMBERS, "iteration": NUMBERS, "accuracy": NUMBERS},
    optional=dict.fromkeys(("loss", "penalty", "seconds", "alive", "parameters", "flops", "lambda"), NUMBERS),
)


@given(st.dictionaries(st.text(max_size=3), st.lists(ANY_ROW, max_size=4), min_size=1, max_size=3))
def test_any_rows(rows: dict[str, list[Numbers]]) -> None:
    for make in (*OF_ROWS, *OF_UPDATES):
        sound(make(rows))
    sound(search.accuracy(rows, rows, dict.fromkeys(rows, 0.5)))


def test_no_rows_are_drawn_too(capfd: pytest.CaptureFixture[str]) -> None:
    for make in (*OF_ROWS, *OF_UPDATES):
        svg(make({"a": ()}).spec)
        svg(make({"a": (), "b": ROWS[:1]}).spec)
    assert capfd.readouterr().err == ""
