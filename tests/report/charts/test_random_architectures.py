"""The chart of an architecture that was found, among random ones."""

from __future__ import annotations

from math import inf

from bayesnas_graph.report.charts.random_architectures import FOUND, RANDOM, Trained, random_architectures
from tests.report.charts.chart_checks import column, has_legend, sound, svg

FOUND_ONE = Trained(1000, 10_000, 0.91)
OTHERS = [Trained(900 + 50 * i, 9000 + 500 * i, 0.8 + 0.02 * i) for i in range(4)]


def test_the_one_that_was_found_is_highlighted() -> None:
    chart = random_architectures(FOUND_ONE, OTHERS)
    sound(chart)
    assert column(chart, "architecture") == [RANDOM] * 4 + [FOUND]
    assert column(chart, "accuracy")[-1] == 0.91
    assert has_legend(chart, "architecture")
    assert FOUND in svg(chart.spec)


def test_one_other_and_extreme_numbers() -> None:
    for other in (Trained(0, 0, 0.0), Trained(1000, 10_000, 0.91), Trained(10**15, 10**15, 1.0)):
        chart = random_architectures(FOUND_ONE, [other])
        sound(chart)
        assert RANDOM in svg(chart.spec)
    assert column(random_architectures(FOUND_ONE, [Trained(1, 1, inf)]), "accuracy") == [None, 0.91]
