"""Checks that every chart must pass."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import vl_convert

from bayesnas_graph.report.charts.theme import config
from bayesnas_graph.report.section import Chart


def values(chart: Chart) -> list[dict[str, Any]]:
    """The data of a chart."""
    found: list[dict[str, Any]] = chart.spec["data"]["values"]
    return found


def column(chart: Chart, name: str) -> list[Any]:
    return [value.get(name) for value in values(chart)]


def sound(chart: Chart) -> None:
    """Checks without drawing: valid JSON, tooltips everywhere, and a description."""
    json.dumps(chart.spec, allow_nan=False)
    assert chart.key.replace("-", "").isalnum()
    assert chart.title
    assert chart.caption.endswith(".")
    assert chart.height > 50
    for view in views(chart):
        # A line without tips has dots above it that have some.
        assert not values(chart) or any("tooltip" in encoding for encoding in encodings(view))
    if "vconcat" not in chart.spec:
        assert chart.spec["width"] == "container"
    names = {parameter["name"] for parameter in chart.spec.get("params", ())}
    assert names >= ({"shown", "pointed"} if chart.time else set())


def views(chart: Chart) -> list[Mapping[str, Any]]:
    return list(chart.spec.get("vconcat", [chart.spec]))


def encodings(view: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for layer in view["layer"]:
        yield layer["encoding"]


def svg(spec: Mapping[str, Any], *, dark: bool = False, **signals: object) -> str:
    """The SVG of a specification with other values of its parameters. Warnings of Vega-Lite go to stderr."""
    spec = {**spec, "width": 500} if spec.get("width") == "container" else dict(spec)
    spec["params"] = [{**one, "value": signals.get(one["name"])} for one in spec.get("params", ())]
    return str(vl_convert.vegalite_to_svg(spec, config=config(dark), show_warnings=True))


def has_legend(chart: Chart, field: str = "run") -> bool:
    """Whether there is a colour legend with this title."""
    found = (encoding.get("color", {}) for view in views(chart) for encoding in encodings(view))
    return any(colour.get("field") == field and colour["legend"] is not None for colour in found)
