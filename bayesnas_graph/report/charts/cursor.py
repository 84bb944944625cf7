"""The marks of time in charts: the cursor that a script moves with the slider of the page, and phases of a search.

A script sets two parameters of every chart over time: `shown` to the time that the page shows, and `pointed` to the one
under the pointer. They are null otherwise, and in files.
"""

from __future__ import annotations

from bayesnas_graph.report.charts.height import NAMES
from bayesnas_graph.report.charts.spec import Part
from bayesnas_graph.report.timeline import Timeline

CURSORS = ("shown", "pointed")  # parameters, and styles of `theme.py`
PARAMS: list[Part] = [{"name": name, "value": None} for name in CURSORS]
_NOTHING: Part = {"values": [{}]}
_TICK = 5  # pixels


def rules() -> list[Part]:
    """A vertical line at each cursor."""
    return [
        {
            "data": _NOTHING,
            "mark": {"type": "rule", "style": name, "opacity": {"expr": _shown(name)}},
            "encoding": {"x": {"datum": {"expr": name}, "type": "quantitative"}},
        }
        for name in CURSORS
    ]


def columns() -> list[Part]:
    """A frame around the column of each cursor, where columns are one unit wide."""
    return [
        {
            "data": _NOTHING,
            "mark": {"type": "rect", "style": name, "fillOpacity": 0, "strokeOpacity": {"expr": _shown(name)}},
            "encoding": {
                "x": {"datum": {"expr": f"{name} - 0.5"}, "type": "quantitative"},
                "x2": {"datum": {"expr": f"{name} + 0.5"}},
            },
        }
        for name in CURSORS
    ]


def _shown(name: str) -> str:
    return f"isValid({name}) ? 1 : 0"


def bands(times: Timeline, height: int, *, named: bool = False) -> list[Part]:
    """The phases of a search as light bands, with a tick for each update at the bottom."""
    phases: list[Part] = [
        {"name": phase.name, "begin": phase.begin, "end": phase.end, "even": number % 2 == 0}
        for number, phase in enumerate(times.phases)
    ]
    updates: list[Part] = [{"step": step} for step in times.updates.values()]
    x = {"field": "begin", "type": "quantitative"}
    layers: list[Part] = []
    if phases:
        shade = {"condition": {"test": "datum.even", "value": 0.45}, "value": 0}
        band = {"x": x, "x2": {"field": "end"}, "opacity": shade}
        layers.append({"data": {"values": phases}, "mark": {"type": "rect", "style": "phase"}, "encoding": band})
    if updates:
        tick = {"x": {"field": "step", "type": "quantitative"}, "y": {"value": height - _TICK}, "y2": {"value": height}}
        layers.append({"data": {"values": updates}, "mark": {"type": "rule", "style": "update"}, "encoding": tick})
    if phases and named:
        room = {"expr": f"max(1, width * (datum.end - datum.begin) / {times.last} - 4)"}
        mark = {"type": "text", "style": NAMES, "align": "left", "baseline": "bottom", "dx": 3, "limit": room}
        text = {"x": x, "y": {"value": -3}, "text": {"field": "name", "type": "nominal"}}
        layers.append({"data": {"values": phases}, "mark": mark, "encoding": text})
    return layers
