"""Charts of compression runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bayesnas_graph.report.charts.compression import error_curve, kept_groups, per_layer
from bayesnas_graph.report.section import Chart
from bayesnas_graph.runs.reading.compression import CompressionRecord
from tests.report.charts.chart_checks import column, has_legend, sound, svg, values
from tests.runs.reading.compressions import compression


@pytest.fixture
def found(tmp_path: Path) -> CompressionRecord:
    return compression(tmp_path)


def networks(chart: Chart) -> list[tuple[str, int, float]]:
    return [(value["network"], value["operations"], round(value["error"], 6)) for value in values(chart)]


def means(chart: Chart) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = chart.spec["layer"][0]["data"]["values"]
    return found


def test_groups_by_layer_and_pattern(found: CompressionRecord) -> None:
    chart = kept_groups({"a": found.layers})
    assert column(chart, "line") == ["a.conv, filter", "a.conv, channel", "b.conv, filter", "b.conv, channel"]
    assert column(chart, "share") == [3 / 8, 3 / 4, 0, 0]
    assert column(chart, "number") == ["3/8", "3/4", "0/8", "0/4"]
    assert column(chart, "left")[0] == "3 of 8"


def test_a_layer_without_groups_of_a_kind(found: CompressionRecord) -> None:
    from bayesnas_graph.runs.layers import Share

    chart = kept_groups({"a": [replace(found.layers[0], groups={"filter": Share(0, 0)})]})
    assert column(chart, "share") == [0]


def test_sizes_before_and_after(found: CompressionRecord) -> None:
    weights, operations = per_layer({"a": found.layers}, "parameters"), per_layer({"a": found.layers}, "operations")
    assert (column(weights, "left"), column(weights, "whole")) == ([27, 0], [72, 72])
    assert (column(operations, "left"), column(operations, "whole")) == ([3000, 0], [8000, 8000])
    assert weights.key != operations.key


def test_runs_stand_beside_one_another(found: CompressionRecord) -> None:
    chart = kept_groups({"a": found.layers, "b": found.layers[:1]})
    assert column(chart, "run") == ["a", "a", "b", "b", "a", "a"]
    assert has_legend(chart)
    assert has_legend(kept_groups({"a": found.layers}), "pattern")


def test_the_path_of_one_run(found: CompressionRecord) -> None:
    chart = error_curve({"a": found})
    assert networks(chart) == [
        ("after a loop", 7000, 5.0),
        ("whole", 8000, 3.0),
        ("left", 2000, 4.0),
        ("by magnitude", 1900, 10.0),
    ]


def test_several_runs_make_a_curve(tmp_path: Path) -> None:
    runs = {name: compression(tmp_path / name) for name in "abc"}
    chart = error_curve(runs, {"a": "one", "b": "one", "c": "other"})
    assert len(networks(chart)) == 6  # the whole network is a line across
    assert [mean["network"] for mean in means(chart)] == ["left", "by magnitude", "left", "by magnitude"]
    assert means(chart)[0] == {"network": "left", "operations": 2000, "error": pytest.approx(4.0)}
    assert len(means(error_curve(runs))) == 6


def test_the_legend_has_what_there_is(found: CompressionRecord) -> None:
    def legend(chart: Chart) -> list[str]:
        names: list[str] = chart.spec["layer"][1]["encoding"]["color"]["legend"]["values"]
        return names

    alone = replace(found, rival=None)
    assert legend(error_curve({"a": found})) == ["left", "by magnitude", "whole", "after a loop"]
    assert legend(error_curve({"a": alone})) == ["left", "whole", "after a loop"]
    assert legend(error_curve({"a": alone, "b": alone})) == ["left", "whole"]


def test_nothing_is_known_yet(found: CompressionRecord) -> None:
    begun = replace(found, whole=None, left=None, rival=None, loops=(), layers=())
    assert values(error_curve({"a": begun})) == []
    assert values(error_curve({"a": begun, "b": begun})) == []
    assert values(kept_groups({"a": begun.layers})) == []


def test_what_has_no_operations_has_no_logarithm(found: CompressionRecord) -> None:
    assert found.left is not None
    chart = error_curve({"a": replace(found, left=replace(found.left, operations=0))})
    assert "left" not in column(chart, "network")


@pytest.mark.parametrize("count", [1, 2])
def test_drawn_without_a_warning(count: int, found: CompressionRecord, capfd: pytest.CaptureFixture[str]) -> None:
    runs = dict.fromkeys("ab"[:count], found)
    layers = {run: one.layers for run, one in runs.items()}
    for chart in (
        kept_groups(layers),
        per_layer(layers, "parameters"),
        per_layer(layers, "operations"),
        error_curve(runs),
    ):
        sound(chart)
        svg(chart.spec)
    assert capfd.readouterr().err == ""
    assert "a.conv, filter" in svg(kept_groups(layers).spec)
