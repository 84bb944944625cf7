"""The charts of searches on a page."""

from __future__ import annotations

from bayesnas_graph.report.charts.heatmaps import MAX_SWITCHES, SearchHistory
from bayesnas_graph.report.search_sections import curves_section, heat_section
from bayesnas_graph.runs.reading.history import Moment
from bayesnas_graph.runs.reading.outline import OutlineSwitch
from tests.report.fake_runs import SWITCHES, searched, traced


def test_curves_of_one_and_of_several() -> None:
    keys = [
        "curves-loss",
        "curves-accuracy",
        "curves-switches",
        "curves-weights",
        "curves-multiply-adds",
        "curves-penalty",
        "curves-step-time",
    ]
    assert [chart.key for chart in curves_section({"a": searched()}).charts] == keys
    both = curves_section({"a": searched(), "b": traced()})
    assert [chart.key for chart in both.charts] == keys
    assert all(f'data-chart="{key}"' in both.body for key in keys)


def test_the_test_is_that_of_the_result() -> None:
    chart = curves_section({"a": searched()}).charts[1]
    assert [v["accuracy"] for v in chart.spec["data"]["values"] if v["on"] == "test set"] == [0.75]


def test_lambda_is_shown_where_it_changes() -> None:
    first, second = searched().updates
    keys = [c.key for c in curves_section({"a": traced(updates=(first, {**second, "lambda": 0.2}))}).charts]
    assert "curves-lambda" in keys


def test_a_search_that_has_not_started() -> None:
    found = curves_section({"a": traced()})
    assert found.charts == ()
    assert "Nothing has been logged yet." in found.body
    assert "There has been no update yet." in heat_section({"a": SearchHistory(SWITCHES, {})}).body


def test_keys_are_distinct() -> None:
    found = curves_section({"a": searched()}, key="first")
    assert found.key == "first"
    assert found.charts[0].key == "first-loss"


def test_maps() -> None:
    moment = Moment(1, True, "kept", 0.5, 1.0, 1.0, 1.0, (1.0,), (1.0,))
    found = heat_section({"a": SearchHistory(SWITCHES, {SWITCHES[0].name: (moment,)})})
    assert [chart.key for chart in found.charts] == ["heat-operations", "heat-switches"]
    many = tuple(OutlineSwitch(f"s{n}", "cell", "h", "conv") for n in range(MAX_SWITCHES + 1))
    found = heat_section({"a": SearchHistory(many, {"s0": (moment,)})})
    assert [chart.key for chart in found.charts] == ["heat-operations"]
    assert f"There are {MAX_SWITCHES + 1:,} switches, too many to show one by one." in found.body
