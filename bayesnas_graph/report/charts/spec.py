"""Building blocks of chart specifications.

Charts of several runs use a colour for each. A view fills the available width; stacked views get theirs from
`config.view.continuousWidth`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bayesnas_graph.report.charts.height import LETTER, SYMBOL
from bayesnas_graph.runs.reading.history import LARGEST

Value = dict[str, Any]
Part = dict[str, Any]  # of a specification

HEIGHT = 220
WIDTH = "(containerSize()[0] || 640)"  # of a chart, as a Vega expression
NAME_WIDTH = f"min(190, 0.4 * {WIDTH})"  # of names along an axis, as a Vega expression
DASH_LEGEND = {"title": None, "orient": "top", "symbolType": "stroke", "symbolSize": 300, "symbolStrokeWidth": 1.6}
SELECTED = "lit"  # parameter: the runs clicked in the legend


def finite(value: object) -> float | None:
    """The value if it is a finite number, or None.

    >>> finite(2.5), finite(float("nan")), finite(None)
    (2.5, None, None)
    """
    return value if isinstance(value, int | float) and abs(value) < LARGEST else None


def rows_of(runs: Mapping[str, Iterable[Mapping[str, object]]], *columns: str) -> list[Value]:
    """Some columns of the tables of all runs, without rows that lack a number in the first column."""
    return [
        {"run": run, **{column: finite(row.get(column)) for column in columns}}
        for run, rows in runs.items()
        for row in rows
        if finite(row.get(columns[0])) is not None
    ]


def view(values: Sequence[Value], layers: Sequence[Part], height: int = HEIGHT) -> Part:
    """A specification of superimposed layers. The width includes axes and legend, the height does not."""
    return {
        "width": "container",
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {"values": list(values)},
        "layer": [part for part in layers if not values or _shows(part, values)],
    }


def stacked(values: Sequence[Value], panels: Sequence[Part], params: Sequence[Part] = ()) -> Part:
    """A specification of views below one another with a common x axis. A script sets their width."""
    return {
        "data": {"values": list(values)},
        "params": list(params),
        "resolve": {"scale": {"x": "shared", "color": "independent", "strokeDash": "independent"}},
        "vconcat": list(panels),
    }


def panel(values: Sequence[Value], height: int, layers: Sequence[Part], **more: Any) -> Part:
    """One of several stacked views, without layers that have nothing to show."""
    return {"height": height, "layer": [part for part in layers if not values or _shows(part, values)], **more}


def _shows(part: Part, values: Sequence[Value]) -> bool:
    """Return whether a layer has any values; Vega warns about empty layers."""
    filters = [step["filter"] for step in part.get("transform", ()) if "filter" in step]
    return not filters or any(all(value.get(f["field"]) in f["oneOf"] for f in filters) for value in values)


def layer(
    mark: str | Part,
    *encodings: Part,
    where: tuple[str, Sequence[str]] | None = None,
    transform: Sequence[Part] = (),
    **more: Any,
) -> Part:
    """Marks of one kind; `where` restricts a field to certain values."""
    filters = [{"filter": {"field": where[0], "oneOf": list(where[1])}}] if where else []
    transforms = [*filters, *transform]
    encoding = {channel: part for channels in encodings for channel, part in channels.items()}
    return {"mark": mark, **({"transform": transforms} if transforms else {}), "encoding": encoding, **more}


def by_run(runs: Iterable[str], *, clickable: bool = False) -> Part:
    """Colours for several runs. If clickable, a click in the legend dims the others; see `legend_clicks`."""
    names = list(runs)
    if len(names) < 2:
        return {}
    colour = coloured("run", names)["color"]
    dimmed = {"condition": {"param": SELECTED, "value": 1}, "value": 0.12}
    return {"color": colour, **({"opacity": dimmed} if clickable else {})}


def coloured(field: str, names: Sequence[str]) -> Part:
    """A colour for each name, with a legend above the chart."""
    return {"color": {"field": field, "type": "nominal", "scale": {"domain": list(names)}, "legend": _legend(names)}}


def _legend(names: Sequence[str]) -> Part:
    column = SYMBOL + LETTER * max(map(len, names), default=0)
    columns = {"expr": f"max(1, min(4, floor({WIDTH} / {column})))"}
    return {"title": None, "orient": "top", "columns": columns, "symbolType": "circle", "symbolOpacity": 1}


def one_of(names: Sequence[str], name: str, shown: Sequence[str] = ()) -> Part:
    """The colour of one series among these, with a legend of some of them if there are any."""
    legend = {**_legend(shown), "values": list(shown)} if shown else None
    return {"color": {"datum": name, "type": "nominal", "scale": {"domain": list(names)}, "legend": legend}}


def dashed(name: str, dashes: Mapping[str, Sequence[int]]) -> Part:
    """The dashes of one series, with a legend of all of them."""
    scale = {"domain": list(dashes), "range": [list(dash) for dash in dashes.values()]}
    return {"strokeDash": {"datum": name, "type": "nominal", "scale": scale, "legend": DASH_LEGEND}}


def legend_clicks(runs: Iterable[str]) -> Part:
    """Selection of runs by clicks in the legend, for one layer of a chart."""
    if len(list(runs)) < 2:
        return {}
    return {"params": [{"name": SELECTED, "select": {"type": "point", "fields": ["run"]}, "bind": "legend"}]}


def x_steps(last: float | None = None, *, labels: bool = True) -> Part:
    """The axis of training steps, up to the last one if it is known."""
    domain: Part = {} if last is None else {"domain": [0, max(1, last)]}
    x = number_axis("step", "step" if labels else None, format="~s", nice=False, zero=True, **domain)
    return {"x": x if labels else {**x, "axis": {**x["axis"], "labels": False, "ticks": False}}}


def x_counts(field: str, title: str | None = None) -> Part:
    """An axis of integers, such as updates or epochs."""
    # Vega puts ticks between small integers, whatever step is set.
    whole_numbers = "datum.value % 1 ? '' : format(datum.value, ',d')"
    axis = {"labelExpr": whole_numbers, "ticks": False, "tickCount": 6, "labelOverlap": True, "labelPadding": 6}
    scale = {"zero": False, "nice": False}
    return {"x": {"field": field, "type": "quantitative", "title": title or field, "axis": axis, "scale": scale}}


def number_axis(
    field: str, title: str | None, *, format: str = ".3~g", unit: str = "", zero: bool = False, **scale: Any
) -> Part:
    """An axis of numbers. Zero has no unit or prefix."""
    axis = {"format": format, "labelExpr": f"datum.value ? datum.label + '{unit}' : '0'"}
    return {"field": field, "type": "quantitative", "title": title, "axis": axis, "scale": {"zero": zero, **scale}}


def log_axis(field: str, title: str | None, *, format: str = "~s") -> Part:
    """A logarithmic axis."""
    axis = {"format": format, "ticks": False, "labelPadding": 6}
    scale = {"type": "log", "nice": False, "padding": 14}
    return {"field": field, "type": "quantitative", "title": title, "axis": axis, "scale": scale}


def name_axis(label: str = "datum.label", **more: Any) -> Part:
    """An axis of names. Long names are cut at the front, because they differ at the end."""
    text = f"truncate({label}, floor({NAME_WIDTH} / 6), 'left')"
    return {"title": None, "ticks": False, "labelExpr": text, "labelLimit": 0, "labelOverlap": False, **more}


def tips(runs: Iterable[str], **fields: str) -> Part:
    """A tooltip of fields with their number formats; a field without a format is text.

    >>> tips(["a"], loss=".4g")["tooltip"]
    [{'field': 'loss', 'type': 'quantitative', 'format': '.4g', 'title': 'loss'}]
    """
    run = [{"field": "run", "type": "nominal"}] if len(list(runs)) > 1 else []
    return {"tooltip": run + [_tip(field, format) for field, format in fields.items()]}


_TITLES = {  # where a column has another name on the page
    "alive": "open switches",
    "flops": "multiply-adds",
    "iteration": "update",
    "multiply_adds": "multiply-adds",
}


def _tip(field: str, format: str) -> Part:
    title = _TITLES.get(field, field.replace("_", " "))
    if not format:
        return {"field": field, "type": "nominal", "title": title}
    return {"field": field, "type": "quantitative", "format": format, "title": title}
