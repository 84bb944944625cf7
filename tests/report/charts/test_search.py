"""Curves of searches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.report.charts import search
from bayesnas_graph.report.charts.search import Curves, Tables
from bayesnas_graph.report.section import Chart
from bayesnas_graph.report.timeline import Phase, Timeline
from bayesnas_graph.runs.reading.run import Numbers
from tests.report.charts.chart_checks import column, encodings, has_legend, sound, svg, values, views

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
    {"iteration": n, "step": 20.0 * n, "accuracy": n / 5, "parameters": 900 / n, "flops": 9000 / n, "lambda": n}
    for n in (1, 2)
)
RESULT = {"why": "all iterations are done", "accuracy": 0.75, "parameters": 400, "flops": 4000}
PHASES = (Phase("warm-up", 0, 10), Phase("2 updates", 10, 40), Phase("finish", 40, 60))
CURVES = Curves(ROWS, UPDATES, RESULT, Timeline({1: 20, 2: 40}, PHASES, 60))
NOTHING = Curves((), (), None, Timeline({}))

OF_ROWS = (search.penalty, search.step_time)
EVERY = [*((one, ROWS) for one in OF_ROWS), (search.intensity, UPDATES)]
Make = Callable[[Tables], Chart]


def of_kind(chart: Chart, kind: str) -> list[dict[str, Any]]:
    return [value for value in values(chart) if value["kind"] == kind]


# ---- progress


@pytest.mark.parametrize("runs", [("a",), ("a", "<b>")])
@pytest.mark.parametrize("shown", [None, 20])
def test_progress_is_drawn_without_a_warning(
    runs: tuple[str, ...], shown: int | None, capfd: pytest.CaptureFixture[str]
) -> None:
    chart = search.progress(dict.fromkeys(runs, CURVES))
    sound(chart)
    drawn = svg(chart.spec, shown=shown)
    assert capfd.readouterr().err == ""
    assert has_legend(chart) == (len(runs) > 1)
    assert ("&lt;b&gt;" in drawn) == (len(runs) > 1)
    for name in ("loss", "accuracy", "open switches", "parameters", "multiply-adds", "step", "warm-up", "finish"):
        assert f">{name}<" in drawn


def test_four_views_have_one_axis_of_steps() -> None:
    chart = search.progress({"a": CURVES})
    axes = [encoding["x"] for view in views(chart) for encoding in encodings(view) if "axis" in encoding.get("x", {})]
    assert len(views(chart)) == 4
    assert {tuple(axis["scale"]["domain"]) for axis in axes} == {(0, 60)}
    assert chart.spec["resolve"]["scale"]["x"] == "shared"
    assert svg(chart.spec).count(">step<") == 1


def test_every_series_of_a_run_has_a_name_and_a_colour_of_its_own() -> None:
    drawn = svg(search.progress({"a": CURVES}).spec)
    for name in (search.TRAINED, search.HELD_OUT, search.TESTED, search.PARAMETERS, search.MULTIPLY_ADDS):
        assert f">{name}<" in drawn
    colours = {
        encoding["color"]["datum"]
        for view in views(search.progress({"a": CURVES}))
        for encoding in encodings(view)
        if "color" in encoding
    }
    assert colours == set(search.SERIES)


def test_the_dashes_of_several_runs_are_named() -> None:
    drawn = svg(search.progress({"a": CURVES, "b": CURVES}).spec)
    for name in (search.TRAINED, search.HELD_OUT, search.PARAMETERS, search.MULTIPLY_ADDS):
        assert f">{name}<" in drawn


def test_rows_are_those_of_the_tables() -> None:
    chart = search.progress({"a": CURVES, "b": CURVES})
    log = of_kind(chart, "log")
    assert [row["loss"] for row in log if row["run"] == "b"] == [row["loss"] for row in ROWS]
    assert [row["alive"] for row in log if row["run"] == "a"] == [row["alive"] for row in ROWS]
    updates = [row for row in of_kind(chart, "update") if row["run"] == "a"]
    assert [(row["step"], row["accuracy"]) for row in updates] == [(20, 0.2), (40, 0.4)]
    assert [(row["parameters"], row["flops"]) for row in updates] == [(900, 9000), (450, 4500)]


def test_the_result_comes_last() -> None:
    (result,) = of_kind(search.progress({"a": CURVES}), "result")
    assert (result["step"], result["accuracy"], result["parameters"]) == (60, 0.75, 400)
    assert of_kind(search.progress({"a": NOTHING}), "result") == []


def test_a_rule_in_every_view_at_what_is_shown() -> None:
    chart = search.progress({"a": CURVES})
    hidden, drawn = svg(chart.spec), svg(chart.spec, shown=20)
    assert drawn.count('opacity="1"') == hidden.count('opacity="1"') + len(views(chart))


def test_phases_that_differ_are_not_drawn() -> None:
    other = Curves(ROWS, UPDATES, RESULT, Timeline({1: 20, 2: 40}, PHASES[:1], 60))
    assert ">warm-up<" in svg(search.progress({"a": CURVES, "b": CURVES}).spec)
    assert ">warm-up<" not in svg(search.progress({"a": CURVES, "b": other}).spec)


def test_no_rows_are_drawn_too(capfd: pytest.CaptureFixture[str]) -> None:
    svg(search.progress({"a": NOTHING}).spec)
    svg(search.progress({"a": NOTHING, "b": CURVES}).spec)
    for make in OF_ROWS:
        svg(make({"a": (), "b": ROWS[:1]}).spec)
    assert capfd.readouterr().err == ""


# ---- more curves


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
    for make in (*OF_ROWS, search.intensity):
        sound(make(rows))
    sound(search.progress({run: Curves(some, some, {"accuracy": 0.5}, Timeline({})) for run, some in rows.items()}))
