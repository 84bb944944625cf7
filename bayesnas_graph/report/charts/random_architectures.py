"""The chart of what a search has found among random architectures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bayesnas_graph.report.charts.spec import Part, Value, coloured, finite, layer, number_axis, tips, view
from bayesnas_graph.report.section import Chart

FOUND, RANDOM = "found by the search", "random"


@dataclass(frozen=True)
class Trained:
    """An architecture that was trained from scratch."""

    parameters: int
    flops: int
    accuracy: float  # on the test set


def random_architectures(found: Trained, others: Sequence[Trained]) -> Chart:
    """Accuracy by parameters: a dot for each random architecture, a diamond for the one that was found."""
    values = [*(_value(RANDOM, other) for other in others), _value(FOUND, found)]
    encoding = {
        "x": number_axis("parameters", "parameters", format="~s"),
        "y": number_axis("accuracy", "accuracy", format=".3~f"),
        **coloured("architecture", [FOUND, RANDOM]),
        **tips([], architecture="", parameters=",.0f", multiply_adds=",.0f", accuracy=".4f"),
    }
    mean: Part = {"aggregate": "mean", "field": "accuracy", "type": "quantitative"}
    layers = [
        layer({"type": "rule", "strokeDash": [4, 4]}, {"y": mean}, where=("architecture", [RANDOM])),
        layer({"type": "point", "opacity": 0.8}, encoding, where=("architecture", [RANDOM])),
        layer({"type": "point", "shape": "diamond", "size": 140}, encoding, where=("architecture", [FOUND])),
    ]
    caption = "A dot is a random architecture; the dashed line is their mean. Trained alike, measured on the test set."
    return Chart("accuracy", "Accuracy by parameters", caption, view(values, layers))


def _value(architecture: str, of: Trained) -> Value:
    return {
        "architecture": architecture,
        "parameters": finite(of.parameters),
        "multiply_adds": finite(of.flops),
        "accuracy": finite(of.accuracy),
    }
