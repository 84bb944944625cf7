"""The height of a chart, from its specification: a page reserves it before the chart is drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil
from typing import Any

SPACING = 12  # between stacked views
LETTER, SYMBOL = 7, 40  # widths in a legend: a letter, and a symbol with its margins
NAMES = "phase-name"  # the style of names above a view
_AROUND = 15  # padding, and the space below a line of text
_OVERHANG = 4  # of the labels of a stacked view
_AXIS, _TITLE = 22, 21
_NAMES = 17
_LEGEND, _LEGEND_ROW, _RAMP = 28, 14, 50
_WIDE, _NARROW = 1000, 280  # widths of charts on a screen and on a phone


def drawn_height(spec: Mapping[str, Any]) -> int:
    """The height in pixels, with axes, legends and a menu.

    >>> drawn_height({"height": 100, "layer": [{"mark": "line", "encoding": {"x": {"title": "step"}}}]})
    158
    """
    parts = spec.get("vconcat", [spec])
    return _AROUND + (SPACING + _OVERHANG) * (len(parts) - 1) + sum(map(_height, parts))


def _height(view: Mapping[str, Any]) -> int:
    axes = [x for x in _channels(view, "x") if "axis" in x or "title" in x]
    labelled = any((x.get("axis") or {}).get("labels", True) for x in axes)
    titled = any(x.get("title") for x in axes)
    legends = [part for channel in ("color", "strokeDash") for part in _channels(view, channel) if part.get("legend")]
    named = any(isinstance(layer["mark"], dict) and layer["mark"].get("style") == NAMES for layer in view["layer"])
    return int(
        view["height"] + _AXIS * labelled + _TITLE * titled + _NAMES * named + max(map(_legend, legends), default=0)
    )


def _legend(part: Mapping[str, Any]) -> int:
    """The height of a legend: on a narrow screen, at most two rows are reserved."""
    if part.get("type") == "quantitative":
        return _RAMP
    names = part["legend"].get("values") or part["scale"]["domain"]
    width = sum(SYMBOL + LETTER * len(name) for name in names)
    rows = max(ceil(width / _WIDE), min(2, ceil(width / _NARROW)))
    return _LEGEND + _LEGEND_ROW * (rows - 1)


def _channels(view: Mapping[str, Any], channel: str) -> Iterator[Mapping[str, Any]]:
    for layer in view["layer"]:
        if channel in layer["encoding"]:
            yield layer["encoding"][channel]
