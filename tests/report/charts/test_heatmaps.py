"""Heat maps of all switches."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.report.charts.heatmaps import MAX_SWITCHES, SearchHistory, by_operation, by_switch
from bayesnas_graph.report.section import Chart
from bayesnas_graph.runs.reading.history import Moment
from bayesnas_graph.runs.reading.outline import OutlineSwitch
from tests.report.charts.chart_checks import column, sound, svg, values


def moment(iteration: int, gamma: float | None = 1.0, *, keep: bool = True) -> Moment:
    why = "kept" if keep else "own switch off"
    return Moment(iteration, keep, why, gamma, 1.0, 1.0, None, (1.0,), (1.0,))


def switch(part: str, choice: str, operation: str) -> OutlineSwitch:
    return OutlineSwitch(f"{part}:{choice}.{operation}", part, choice, operation)


SWITCHES = (
    switch("normal", "h[0]", "conv"),
    switch("normal", "h[0]", "skip"),
    switch("normal", "h[1]", "conv"),
    switch("reduction", "h[0]", "conv"),
)
HISTORY = {
    "normal:h[0].conv": (moment(1, 1.0), moment(2, 0.5)),
    "normal:h[0].skip": (moment(1, 1.0), moment(2, 0.0, keep=False)),
    "normal:h[1].conv": (moment(1, 3.0), moment(2, 0.01, keep=False)),
    "reduction:h[0].conv": (moment(1, 0.0, keep=False),),
}
ONE = {"a": SearchHistory(SWITCHES, HISTORY)}


def lines(chart: Chart) -> list[str]:
    domain: list[str] = chart.spec["layer"][0]["encoding"]["y"]["scale"]["domain"]
    return domain


def cells(chart: Chart, field: str) -> dict[tuple[str, int], Any]:
    return {(value["line"], value["iteration"]): value[field] for value in values(chart)}


def test_means_over_the_switches_that_are_open() -> None:
    gammas = cells(by_operation(ONE), "mean_gamma")
    assert gammas == {
        ("normal\nconv", 1): 2.0,
        ("normal\nconv", 2): 0.5,
        ("normal\nskip", 1): 1.0,
        ("normal\nskip", 2): 0,
        ("reduction\nconv", 1): 0,
        ("reduction\nconv", 2): 0,
    }
    assert cells(by_operation(ONE), "open")["normal\nconv", 2] == "1 of 2"


def test_operations_stand_under_their_cell() -> None:
    assert lines(by_operation(ONE)) == ["normal\n", "normal\nconv", "normal\nskip", "reduction\n", "reduction\nconv"]


def test_a_line_ends_where_its_switch_was_closed() -> None:
    chart = by_switch(ONE)
    assert chart is not None
    assert cells(chart, "gamma") == {
        ("normal h[0]\nconv", 1): 1.0,
        ("normal h[0]\nconv", 2): 0.5,
        ("normal h[0]\nskip", 1): 1.0,
        ("normal h[1]\nconv", 1): 3.0,
    }
    assert "reduction h[0]\nconv" in lines(chart)  # though nothing is in it


def test_several_runs_stand_below_one_another() -> None:
    two = {"a": ONE["a"], "b": SearchHistory(SWITCHES[:1], HISTORY)}
    assert lines(by_operation(two))[-2:] == ["b, normal\n", "b, normal\nconv"]
    assert cells(by_operation(two), "open")["a, normal\nconv", 1] == "2 of 2"
    assert cells(by_operation(two), "open")["b, normal\nconv", 1] == "1 of 1"


def test_the_criterion_is_named() -> None:
    other = {"a": ONE["a"], "b": SearchHistory(SWITCHES, HISTORY, "strength")}
    assert "mean gamma of" in by_operation(ONE).caption
    assert "mean gamma or strength of" in by_operation(other).caption


def test_many_switches_are_not_shown_one_by_one() -> None:
    many = tuple(switch("cell", f"h[{n}]", "conv") for n in range(MAX_SWITCHES + 1))
    assert by_switch({"a": SearchHistory(many[:MAX_SWITCHES], {})}) is not None
    assert by_switch({"a": SearchHistory(many, {})}) is None


def test_candidates_with_equal_names_are_distinguished() -> None:
    twins = (OutlineSwitch("c:h.conv", "c", "h", "conv"), OutlineSwitch("c:h.conv_2", "c", "h", "conv"))
    chart = by_switch({"a": SearchHistory(twins, {})})
    assert chart is not None
    assert lines(chart) == ["c h\n", "c h\nc:h.conv", "c h\nc:h.conv_2"]


@pytest.mark.parametrize("make", [by_operation, by_switch])
@pytest.mark.parametrize("history", [HISTORY, {}], ids=["two updates", "none"])
def test_drawn_without_a_warning(make: Any, history: Any, capfd: pytest.CaptureFixture[str]) -> None:
    chart = make({"a": SearchHistory(SWITCHES, history)})
    sound(chart)
    drawn = svg(chart.spec, dark=True)
    assert capfd.readouterr().err == ""
    assert ">normal" in drawn
    assert ">conv<" in drawn
    assert "reduction\\n" not in drawn


@given(
    st.dictionaries(
        st.sampled_from([one.name for one in SWITCHES]),
        st.lists(st.builds(moment, st.integers(1, 5), st.none() | st.floats(0, 1e300), keep=st.booleans()), max_size=4),
    )
)
def test_any_history(history: dict[str, list[Moment]]) -> None:
    runs = {"a": SearchHistory(SWITCHES, history)}
    sound(by_operation(runs))
    every = by_switch(runs)
    assert every is not None
    sound(every)
    assert all(gamma is not None for gamma in column(every, "gamma"))
