"""What the specifications of all charts are made of.

A chart shows one run or several. The colour is the run, and of a single one nothing needs to be said. Every view is
as wide as there is room; those of several views leave that to `config.view.continuousWidth`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bayesnas_graph.runs.reading.history import LARGEST

Value = dict[str, Any]
Part = dict[str, Any]  # of a specification

HEIGHT = 220
LETTER, SYMBOL = 7, 40  # pixels of a letter, and of the symbol in a legend with what is around it
ROOM = "(containerSize()[0] || 640)"  # the width of a chart, as an expression of Vega
NAMES = f"min(190, 0.4 * {ROOM})"  # the width of names along an axis, likewise
LIT = "lit"  # the runs that were clicked in the legend


def finite(value: object) -> float | None:
    """A number that can be drawn, or None.

    >>> finite(2.5), finite(float("nan")), finite(None)
    (2.5, None, None)
    """
    return value if isinstance(value, int | float) and abs(value) < LARGEST else None


def rows_of(runs: Mapping[str, Iterable[Mapping[str, object]]], *columns: str) -> list[Value]:
    """Some columns of the tables of all runs, each row with its run; rows that have no number in the first are left."""
    return [
        {"run": run, **{column: finite(row.get(column)) for column in columns}}
        for run, rows in runs.items()
        for row in rows
        if finite(row.get(columns[0])) is not None
    ]


def view(values: Sequence[Value], layers: Sequence[Part], height: int = HEIGHT) -> Part:
    """A specification: marks over one another. The width is that of all of it, the height that of the marks alone."""
    return {
        "width": "container",
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {"values": list(values)},
        "layer": [part for part in layers if not values or _shows(part, values)],
    }


def _shows(part: Part, values: Sequence[Value]) -> bool:
    """Whether there is something for a layer to show. Vega complains about one that has nothing."""
    filters = [step["filter"] for step in part.get("transform", ()) if "filter" in step]
    return not filters or any(all(value.get(f["field"]) in f["oneOf"] for f in filters) for value in values)


def layer(
    mark: str | Part,
    *encodings: Part,
    where: tuple[str, Sequence[str]] | None = None,
    transform: Sequence[Part] = (),
    **more: Any,
) -> Part:
    """Marks of one kind, for the values in which a field is one of some, if that is given."""
    filters = [{"filter": {"field": where[0], "oneOf": list(where[1])}}] if where else []
    transforms = [*filters, *transform]
    encoding = {channel: part for some in encodings for channel, part in some.items()}
    return {"mark": mark, **({"transform": transforms} if transforms else {}), "encoding": encoding, **more}


def by_run(runs: Iterable[str], *, clickable: bool = False) -> Part:
    """The colours of several runs. A click in the legend dims all others, if a layer `listens` to it."""
    names = list(runs)
    if len(names) < 2:
        return {}
    colour = coloured("run", names)["color"]
    dimmed = {"condition": {"param": LIT, "value": 1}, "value": 0.12}
    return {"color": colour, **({"opacity": dimmed} if clickable else {})}


def coloured(field: str, names: Sequence[str]) -> Part:
    """A colour for each of these names, told above the chart in as many columns as there is room for."""
    column = SYMBOL + LETTER * max(map(len, names), default=0)
    columns = {"expr": f"max(1, min(4, floor({ROOM} / {column})))"}
    legend = {"title": None, "orient": "top", "columns": columns, "symbolType": "circle", "symbolOpacity": 1}
    return {"color": {"field": field, "type": "nominal", "scale": {"domain": list(names)}, "legend": legend}}


def listening(runs: Iterable[str]) -> Part:
    """What one layer of a chart needs for clicks in the legend."""
    if len(list(runs)) < 2:
        return {}
    return {"params": [{"name": LIT, "select": {"type": "point", "fields": ["run"]}, "bind": "legend"}]}


def x_steps() -> Part:
    """The axis of steps of training."""
    return {"x": number_axis("step", "step", format="~s", nice=False, zero=True)}


def x_counts(field: str, title: str | None = None) -> Part:
    """An axis of what is counted one by one: updates, epochs."""
    # Vega puts ticks between small whole numbers, whatever step it is told.
    whole = "datum.value % 1 ? '' : format(datum.value, ',d')"
    axis = {"labelExpr": whole, "ticks": False, "tickCount": 6, "labelOverlap": True, "labelPadding": 6}
    scale = {"zero": False, "nice": False}
    return {"x": {"field": field, "type": "quantitative", "title": title or field, "axis": axis, "scale": scale}}


def number_axis(
    field: str, title: str | None, *, format: str = ".3~g", unit: str = "", zero: bool = False, **scale: Any
) -> Part:
    """A quantity along an axis. Nothing is zero, and not zero thousands."""
    axis = {"format": format, "labelExpr": f"datum.value ? datum.label + '{unit}' : '0'"}
    return {"field": field, "type": "quantitative", "title": title, "axis": axis, "scale": {"zero": zero, **scale}}


def log_axis(field: str, title: str | None, *, format: str = "~s") -> Part:
    """A quantity above zero, along an axis of its logarithms."""
    axis = {"format": format, "ticks": False, "labelPadding": 6}
    scale = {"type": "log", "nice": False, "padding": 14}
    return {"field": field, "type": "quantitative", "title": title, "axis": axis, "scale": scale}


def name_axis(label: str = "datum.label", **more: Any) -> Part:
    """An axis of names. Of those that are too long the end is shown, in which they differ."""
    shown = f"truncate({label}, floor({NAMES} / 6), 'left')"
    return {"title": None, "ticks": False, "labelExpr": shown, "labelLimit": 0, "labelOverlap": False, **more}


def tips(runs: Iterable[str], **fields: str) -> Part:
    """What is told where the pointer is: fields with their formats; a field without one is text.

    >>> tips(["a"], loss=".4g")["tooltip"]
    [{'field': 'loss', 'type': 'quantitative', 'format': '.4g', 'title': 'loss'}]
    """
    told = [{"field": "run", "type": "nominal"}] if len(list(runs)) > 1 else []
    return {"tooltip": told + [_tip(field, format) for field, format in fields.items()]}


_TITLES = {  # of columns that are called otherwise on a page
    "alive": "open switches",
    "flops": "multiply-adds",
    "iteration": "update",
    "multiply_adds": "multiply-adds",
    "parameters": "weights",
}


def _tip(field: str, format: str) -> Part:
    title = _TITLES.get(field, field.replace("_", " "))
    if not format:
        return {"field": field, "type": "nominal", "title": title}
    return {"field": field, "type": "quantitative", "format": format, "title": title}
