"""Heat maps of all switches."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.report.charts.heatmaps import MAX_ROWS, SearchHistory, by_operation, by_switch
from bayesnas_graph.report.section import Chart
from bayesnas_graph.runs.reading.history import Moment
from bayesnas_graph.runs.reading.outline import OutlineSwitch
from tests.report.charts.chart_checks import sound, svg, values


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
RUN = SearchHistory(SWITCHES, HISTORY)


def lines(chart: Chart) -> list[str]:
    domain: list[str] = chart.spec["layer"][0]["encoding"]["y"]["scale"]["domain"]
    return domain


def rows(chart: Chart, field: str) -> dict[str, Any]:
    return {value["line"]: value[field] for value in values(chart)}


def only(run: SearchHistory) -> Chart:
    ((_, chart),) = by_switch(run)
    return chart


def test_means_over_the_switches_that_are_open() -> None:
    assert rows(by_operation(RUN), "mean_gamma") == {
        "normal\nconv": [2.0, 0.5],
        "normal\nskip": [1.0, 0],
        "reduction\nconv": [0, 0],
    }
    assert rows(by_operation(RUN), "open")["normal\nconv"] == ["2 of 2", "1 of 2"]


def test_operations_stand_under_their_cell() -> None:
    assert lines(by_operation(RUN)) == ["normal\n", "normal\nconv", "normal\nskip", "reduction\n", "reduction\nconv"]


def test_a_line_ends_where_its_switch_was_closed() -> None:
    assert [title for title, _ in by_switch(RUN)] == ["normal: 3 switches", "reduction: 1 switch"]
    (_, normal), (_, reduction) = by_switch(RUN)
    assert rows(normal, "gamma") == {
        "normal h[0]\nconv": [1.0, 0.5],
        "normal h[0]\nskip": [1.0],
        "normal h[1]\nconv": [3.0],
    }
    assert rows(reduction, "gamma") == {"reduction h[0]\nconv": []}
    assert "reduction h[0]\nconv" in lines(reduction)  # though nothing is in it


def test_all_maps_have_the_same_colours() -> None:
    (_, normal), (_, reduction) = by_switch(RUN)
    domains = [chart.spec["layer"][0]["encoding"]["color"]["scale"]["domain"] for chart in (normal, reduction)]
    assert domains == [[0, 3.0], [0, 3.0]]


def test_the_criterion_is_named() -> None:
    other = SearchHistory(SWITCHES, HISTORY, "strength")
    assert "mean gamma of" in by_operation(RUN).caption
    assert "mean strength of" in by_operation(other).caption
    assert ">mean strength<" in svg(by_operation(other).spec)


def test_many_switches_are_divided() -> None:
    many = tuple(switch("cell", f"h[{n}]", "conv") for n in range(MAX_ROWS + 1))
    assert [title for title, _ in by_switch(SearchHistory(many[:MAX_ROWS], {}))] == [f"cell: {MAX_ROWS} switches"]
    titles = [title for title, _ in by_switch(SearchHistory(many, {}))]
    assert titles == [
        f"cell: switches 1 to {MAX_ROWS} of {MAX_ROWS + 1}, from h[0]",
        f"cell: switches {MAX_ROWS + 1} to {MAX_ROWS + 1} of {MAX_ROWS + 1}, from h[{MAX_ROWS}]",
    ]


def test_candidates_with_equal_names_are_distinguished() -> None:
    twins = (OutlineSwitch("c:h.conv", "c", "h", "conv"), OutlineSwitch("c:h.conv_2", "c", "h", "conv"))
    assert lines(only(SearchHistory(twins, {}))) == ["c h\n", "c h\nc:h.conv", "c h\nc:h.conv_2"]


def test_a_column_is_where_its_update_is() -> None:
    """Updates may have gaps, and rows end early."""
    history = {SWITCHES[0].name: (moment(2, 1.0), moment(5, 0.5)), SWITCHES[1].name: (moment(2, 4.0),)}
    drawn = svg(only(SearchHistory(SWITCHES[:2], history)).spec)
    cells = re.findall(r'aria-label="update: ([\d.]+); [^"]*?; end: ([\d.]+); gamma: ([\d.]+);', drawn)
    assert cells == [("1.5", "2.5", "1"), ("4.5", "5.5", "0.5"), ("1.5", "2.5", "4")]


@pytest.mark.parametrize("history", [HISTORY, {}], ids=["two updates", "none"])
@pytest.mark.parametrize("shown", [None, 1])
def test_drawn_without_a_warning(history: Any, shown: int | None, capfd: pytest.CaptureFixture[str]) -> None:
    run = SearchHistory(SWITCHES, history)
    for chart in (by_operation(run), *(chart for _, chart in by_switch(run))):
        sound(chart)
        drawn = svg(chart.spec, dark=True, shown=shown)
        assert capfd.readouterr().err == ""
        assert ">conv<" in drawn
        assert "reduction\\n" not in drawn


@given(
    st.dictionaries(
        st.sampled_from([one.name for one in SWITCHES]),
        st.lists(st.builds(moment, st.integers(1, 5), st.none() | st.floats(0, 1e300), keep=st.booleans()), max_size=4),
    )
)
def test_any_history(history: dict[str, list[Moment]]) -> None:
    run = SearchHistory(SWITCHES, history)
    for chart in (by_operation(run), *(chart for _, chart in by_switch(run))):
        sound(chart)
