"""Charts as files, and the scripts that draw them in a browser."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bayesnas_graph.report.charts.search import penalty
from bayesnas_graph.report.charts.switch_history import switch_history
from bayesnas_graph.report.charts.theme import config, ground
from bayesnas_graph.report.charts.vega import render_chart, vega_runtime
from bayesnas_graph.report.palette import DARK, LIGHT
from bayesnas_graph.report.section import Chart
from tests.report.charts.chart_checks import svg

CHART = penalty({"a": [{"step": 1.0, "penalty": 2.0}, {"step": 2.0, "penalty": 1.0}]})


def test_svg_has_the_colours_of_its_theme() -> None:
    light, dark = (render_chart(CHART, "svg", dark=dark).decode() for dark in (False, True))
    assert LIGHT[0] in light
    assert DARK[0] not in light
    assert DARK[0] in dark
    assert ground(False) in light
    assert ground(True) in dark


def test_other_formats() -> None:
    assert render_chart(CHART, "pdf").startswith(b"%PDF")
    assert render_chart(CHART, "png").startswith(b"\x89PNG")


def test_pictures_have_the_given_width() -> None:
    def width(chart: Chart, wide: int) -> float:
        return float(render_chart(chart, "svg", width=wide).decode().split('width="', 1)[1].split('"', 1)[0])

    several = Chart("history", "History", "Of one switch.", switch_history("prior", [1, 2]))
    for chart in (CHART, several):
        assert width(chart, 640) == pytest.approx(640, abs=20)
        assert width(chart, 300) == pytest.approx(300, abs=20)


def test_a_chart_is_not_changed_by_being_drawn() -> None:
    before = json.dumps(CHART.spec)
    render_chart(CHART, "svg")
    assert json.dumps(CHART.spec) == before


def test_runtime_can_stand_in_a_page() -> None:
    script = vega_runtime()
    assert "window.vegaEmbed=" in script
    assert "window.vega=" in script
    assert "</script" not in script


def test_themes_are_plain_and_differ() -> None:
    light, dark = config(False), config(True)
    assert json.dumps(light, allow_nan=False) != json.dumps(dark, allow_nan=False)
    assert keys(light) == keys(dark)


def keys(value: Any) -> Any:
    return {key: keys(one) for key, one in value.items()} if isinstance(value, dict) else None


def test_a_warning_would_be_seen(capfd: pytest.CaptureFixture[str]) -> None:
    x = {"field": "a", "type": "quantitative", "scale": {"type": "log", "zero": True}}
    svg({"data": {"values": [{"a": 1}]}, "mark": "point", "encoding": {"x": x}})
    assert "WARN" in capfd.readouterr().err
