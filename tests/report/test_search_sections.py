"""The charts of searches on a page."""

from __future__ import annotations

from bayesnas_graph.report.charts.heatmaps import MAX_ROWS, SearchHistory
from bayesnas_graph.report.search_sections import MAX_OPEN, curves_section, heat_section
from bayesnas_graph.runs.reading.history import Moment
from bayesnas_graph.runs.reading.outline import OutlineSwitch
from tests.report.fake_runs import SWITCHES, searched, traced

MOMENT = Moment(1, True, "kept", 0.5, 1.0, 1.0, 1.0, (1.0,), (1.0,))


def test_curves_of_one_and_of_several() -> None:
    keys = ["curves-progress", "curves-penalty", "curves-step-time"]
    assert [chart.key for chart in curves_section({"a": searched()}).charts] == keys
    both = curves_section({"a": searched(), "b": traced()})
    assert [chart.key for chart in both.charts] == keys
    assert all(f'data-chart="{key}"' in both.body for key in keys)


def test_how_a_search_was_run_is_under_a_fold() -> None:
    body = str(curves_section({"a": searched()}).body)
    assert (
        body.index('data-chart="curves-progress"') < body.index("<summary>More curves") < body.index("curves-penalty")
    )
    assert '<details class="more">' in body


def test_the_test_is_that_of_the_result() -> None:
    chart = curves_section({"a": searched()}).charts[0]
    assert [v["accuracy"] for v in chart.spec["data"]["values"] if v["kind"] == "result"] == [0.75]


def test_lambda_is_shown_where_it_changes() -> None:
    first, second = searched().updates
    changing = traced(updates=(first, {**second, "lambda": 0.2}))
    assert "curves-lambda" in [chart.key for chart in curves_section({"a": changing}).charts]


def test_a_search_that_has_not_started() -> None:
    found = curves_section({"a": traced()})
    assert found.charts == ()
    assert "Nothing has been logged yet." in found.body
    assert "More curves" not in found.body
    assert "There has been no update yet." in heat_section(SearchHistory(SWITCHES, {})).body


def test_keys_are_distinct() -> None:
    found = curves_section({"a": searched()}, key="first")
    assert found.key == "first"
    assert found.charts[0].key == "first-progress"


def test_maps_of_a_few_switches_are_open() -> None:
    found = heat_section(SearchHistory(SWITCHES, {SWITCHES[0].name: (MOMENT,)}))
    assert [chart.key for chart in found.charts] == ["heat-operations", "heat-switches-1"]
    assert '<details class="more" open>' in found.body
    assert "<summary>cell: 6 switches</summary>" in found.body


def test_maps_of_many_switches_are_folded() -> None:
    many = tuple(OutlineSwitch(f"s{n}", "cell", "h", "conv") for n in range(MAX_ROWS + MAX_OPEN))
    found = heat_section(SearchHistory(many, {"s0": (MOMENT,)}))
    assert [chart.key for chart in found.charts] == ["heat-operations", "heat-switches-1", "heat-switches-2"]
    assert '<details class="more">' in found.body
    assert " open>" not in found.body


def test_the_height_of_a_chart_is_reserved() -> None:
    found = heat_section(SearchHistory(SWITCHES, {SWITCHES[0].name: (MOMENT,)}))
    for chart in found.charts:
        assert f'data-chart="{chart.key}" data-time="update" style="min-height: {chart.height}px"' in found.body
