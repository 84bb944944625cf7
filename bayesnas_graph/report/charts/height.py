"""The height of a chart, from its specification: a page reserves it before the chart is drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

PADDING = 8
SPACING = 12  # between stacked views
X_AXIS, X_TITLE = 20, 20
LEGEND = 28  # one row of symbols, or a colour ramp without its title
LEGEND_TITLE = 16


def drawn_height(spec: Mapping[str, Any]) -> int:
    """The height in pixels, with axes and one row of each legend.

    >>> drawn_height({"height": 100, "layer": [{"encoding": {"x": {"title": "step"}}}]})
    148
    """
    parts = spec.get("vconcat", [spec])
    return PADDING + SPACING * (len(parts) - 1) + sum(map(_height, parts))


def _height(view: Mapping[str, Any]) -> int:
    axes = [x for x in _channels(view, "x") if "axis" in x or "title" in x]
    labelled = any((x.get("axis") or {}).get("labels", True) for x in axes)
    titled = any(x.get("title") for x in axes)
    legends = [
        legend
        for channel in ("color", "strokeDash", "shape")
        for part in _channels(view, channel)
        if (legend := part.get("legend")) is not None
    ]
    rows = LEGEND if legends else 0
    title = LEGEND_TITLE if any(legend.get("title", "field") for legend in legends) else 0
    heading = 18 if view.get("title") else 0
    return int(view["height"] + X_AXIS * labelled + X_TITLE * titled + rows + title + heading)


def _channels(view: Mapping[str, Any], channel: str) -> Iterator[Mapping[str, Any]]:
    if channel in view.get("encoding", {}):
        yield view["encoding"][channel]
    for layer in view.get("layer", ()):
        yield from _channels(layer, channel)
