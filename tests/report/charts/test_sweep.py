"""Charts of sweeps."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.report.charts import sweep
from bayesnas_graph.report.charts.sweep import Trial, swept_key
from bayesnas_graph.report.section import Chart
from tests.report.charts.chart_checks import column, has_legend, sound, svg

CHARTS = (sweep.parameters, sweep.accuracy, sweep.trade_off)


def trial(weights: int = 100, seed: int = 0, accuracy: float = 0.5, **settings: str) -> Trial:
    return Trial(tuple(settings.items()), seed, weights, 10 * weights, accuracy)


GRID = [trial(100 * n, seed, rate=rate) for n, rate in enumerate(("0.001", "0.1", "0.01"), 1) for seed in (0, 1)]
WORDS = [trial(gauge=gauge) for gauge in ("node", "edge")]
TWO = [trial(rate=rate, gauge=gauge) for rate in ("1", "2") for gauge in ("node", "edge")]


def x(chart: Chart) -> dict[str, Any]:
    found: dict[str, Any] = chart.spec["layer"][0]["encoding"]["x"]
    return found


def means(chart: Chart) -> list[dict[str, Any]]:
    layer = next(layer for layer in chart.spec["layer"] if "data" in layer)
    found: list[dict[str, Any]] = layer["data"]["values"]
    return found


def test_all_seeds_are_points_and_their_means_a_line() -> None:
    chart = sweep.parameters([trial(100, 0, rate="1"), trial(300, 1, rate="1"), trial(50, 0, rate="2")])
    assert column(chart, "parameters") == [100, 300, 50]
    assert column(chart, "setting") == [1.0, 1.0, 2.0]
    assert [(mean["setting"], mean["parameters"]) for mean in means(chart)] == [(1.0, 200), (2.0, 50)]


def test_what_is_swept() -> None:
    assert swept_key([]) is None
    assert swept_key([trial()]) is None
    assert swept_key([trial(a="1", b="1"), trial(a="1", b="2")]) == "b"
    assert swept_key([trial(a="1", b="1")]) == "a"


def test_wide_ranges_have_logarithms() -> None:
    assert x(sweep.parameters(GRID))["scale"]["type"] == "log"
    assert "type" not in x(sweep.parameters(TWO))["scale"]
    assert "type" not in x(sweep.parameters([trial(rate="0"), trial(rate="100")]))["scale"]


def test_swept_values_are_shown() -> None:
    assert x(sweep.parameters(GRID))["axis"]["values"] == [0.001, 0.01, 0.1]
    assert x(sweep.parameters(TWO))["axis"]["values"] == [1.0, 2.0]


def test_words_stand_in_the_order_of_the_grid() -> None:
    assert (x(sweep.parameters(WORDS))["type"], x(sweep.parameters(WORDS))["sort"]) == ("nominal", ["node", "edge"])


def test_a_second_setting_is_a_colour() -> None:
    assert has_legend(sweep.parameters(TWO), "others")
    assert column(sweep.parameters(TWO), "others") == ["gauge=node", "gauge=edge"] * 2
    assert not has_legend(sweep.parameters(GRID), "others")
    assert has_legend(sweep.trade_off(GRID), "point")


def test_the_setting_is_named() -> None:
    assert sweep.accuracy(GRID).title == "Accuracy by rate"


@pytest.mark.parametrize("trials", [GRID, WORDS, TWO, GRID[:1], [trial()], []], ids=len)
def test_drawn_without_a_warning(trials: list[Trial], capfd: pytest.CaptureFixture[str]) -> None:
    for make in CHARTS:
        sound(make(trials))
        svg(make(trials).spec)
    assert capfd.readouterr().err == ""


@given(
    st.lists(st.builds(trial, st.integers(0, 10**12), st.integers(), st.floats(), rate=st.text(max_size=4)), max_size=5)
)
def test_any_trials(trials: list[Trial]) -> None:
    for make in CHARTS:
        sound(make(trials))


@pytest.mark.parametrize("text", ["nan", "inf", "-Infinity"])
def test_other_values_are_categories(text: str) -> None:
    assert column(sweep.parameters([trial(rate=text)]), "setting") == [text]
