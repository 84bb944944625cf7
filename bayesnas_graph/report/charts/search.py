"""Curves of searches: one chart of training, decisions and size, and some on how the search was run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from statistics import median

from bayesnas_graph.report.charts.cursor import PARAMS, bands, rules
from bayesnas_graph.report.charts.spec import (
    Part,
    Value,
    by_run,
    dashed,
    finite,
    layer,
    legend_clicks,
    number_axis,
    one_of,
    panel,
    rows_of,
    stacked,
    tips,
    view,
    x_steps,
)
from bayesnas_graph.report.section import Chart
from bayesnas_graph.report.timeline import Timeline
from bayesnas_graph.runs.reading.run import Numbers

Tables = Mapping[str, Sequence[Numbers]]  # the rows of each run

WINDOW = 9  # rows of a running median
TRAINED, HELD_OUT, TESTED = "training samples", "held-out samples", "test set"
OPEN, PARAMETERS, MULTIPLY_ADDS = "open switches", "parameters", "multiply-adds"
SERIES = (TRAINED, HELD_OUT, TESTED, OPEN, PARAMETERS, MULTIPLY_ADDS)  # in the order of colours
_DASHED = [5, 3]
_LINE: Part = {"type": "line", "strokeWidth": 1.4}
_DOTTED: Part = {"type": "line", "point": {"size": 30}}
_STEPPED: Part = {"type": "line", "interpolate": "step-after", "point": {"size": 30}}
_DIAMOND: Part = {"type": "point", "shape": "diamond", "size": 130, "filled": False, "strokeWidth": 2}
_EXTENT = 44  # pixels of labels beside an axis, the same for all views


@dataclass(frozen=True)
class Curves:
    """The tables of a search."""

    rows: Sequence[Numbers]  # of the log
    updates: Sequence[Numbers]  # each with its step
    result: Mapping[str, object] | None  # parameters, flops and accuracy of the derived network
    times: Timeline


def progress(runs: Mapping[str, Curves]) -> Chart:
    """Loss, accuracy, open switches and size on a common axis of steps."""
    last = max((run.times.last for run in runs.values()), default=0)
    values = [value for label, run in runs.items() for value in _values(label, run)]
    phases = next((run.times for run in runs.values()), Timeline({}))
    if any(run.times.phases != phases.phases for run in runs.values()):
        phases = Timeline({}, (), last)
    drawn = _views(runs, {value["kind"] for value in values}, last)
    panels = [
        panel(values, height, [*bands(phases, height, named=not number), *layers, *rules()], **more)
        for number, (height, layers, more) in enumerate(drawn)
    ]
    names = ", ".join(phase.name for phase in phases.phases)
    bands_caption = f" Bands: {names}; ticks: updates." if phases.updates else f" Bands: {names}." if names else ""
    caption = (
        "Loss: on training samples, without the penalty, averaged over the steps of each log row. Accuracy: line for "
        "training samples, dots for held-out samples at updates, diamond for the test set after the search. Size: the "
        f"network that would be derived after each update; multiply-adds are dashed and per sample.{bands_caption}"
    )
    return Chart("progress", "Progress", caption, stacked(values, panels, PARAMS), "step")


def _views(runs: Mapping[str, Curves], kinds: Collection[str], last: float) -> list[tuple[int, list[Part], Part]]:
    """The heights, layers and properties of the views that have any rows; the lowest has the labels of the axis."""
    views: list[tuple[int, Callable[[Mapping[str, Curves], Part], list[Part]], Set[str], Part]] = [
        (90, _loss, {"log"}, {}),
        (110, _accuracy, {"log", "update", "result"}, {}),
        (80, _open_switches, {"log"}, {}),
        (100, _size, {"update", "result"}, {"resolve": {"scale": {"y": "independent"}}}),
    ]
    shown = [view for view in views if not view[2].isdisjoint(kinds)] or views[:1]
    return [
        (height, make(runs, x_steps(last, labels=number == len(shown))), more)
        for number, (height, make, _, more) in enumerate(shown, 1)
    ]


def _values(label: str, run: Curves) -> Iterator[Value]:
    """The rows of all views; `kind` says where a row comes from."""
    for row in rows_of({label: run.rows}, "step", "loss", "accuracy", "alive"):
        yield {**row, "kind": "log"}
    for row in rows_of({label: run.updates}, "step", "iteration", "accuracy", "parameters", "flops"):
        yield {**row, "kind": "update"}
    if run.result is not None:
        numbers = {key: finite(run.result.get(key)) for key in ("accuracy", "parameters", "flops")}
        yield {"run": label, "step": run.times.last, **numbers, "kind": "result"}


_LOGGED, _UPDATED, _DERIVED = (("kind", [kind]) for kind in ("log", "update", "result"))
_SIZED = ("kind", ["update", "result"])


def _loss(runs: Mapping[str, Curves], x: Part) -> list[Part]:
    y, tooltip = {"y": _y("loss", "loss")}, tips(runs, step=",d", loss=".4g")
    colour = by_run(runs, clickable=True) or one_of(SERIES, TRAINED)
    return [
        layer(_LINE, x, y, colour, where=_LOGGED, **legend_clicks(runs)),
        _hover(x, y, colour, tooltip, where=_LOGGED),
    ]


def _accuracy(runs: Mapping[str, Curves], x: Part) -> list[Part]:
    shown = (TRAINED, HELD_OUT, TESTED)
    y = {"y": _y("accuracy", "accuracy", format=".3~f")}
    held_out = tips(runs, step=",d", iteration=",d", accuracy=".4f")
    dashes = {HELD_OUT: [1, 0], TRAINED: [2, 2]}

    def series(name: str) -> Part:
        if len(runs) < 2:
            return one_of(SERIES, name, shown)
        return {**_plain(runs), **(dashed(name, dashes) if name in dashes else {})}

    return [
        layer({**_LINE, "strokeWidth": 1}, x, y, series(TRAINED), where=_LOGGED),
        _hover(x, y, _plain(runs), tips(runs, step=",d", accuracy=".4f"), where=_LOGGED),
        layer(_DOTTED, x, y, series(HELD_OUT), held_out, where=_UPDATED),
        layer(_DIAMOND, x, y, series(TESTED), tips(runs, accuracy=".4f"), where=_DERIVED),
    ]


def _open_switches(runs: Mapping[str, Curves], x: Part) -> list[Part]:
    y = {"y": _y("alive", OPEN, format=",d", zero=True)}
    colour, mark = _plain(runs) or one_of(SERIES, OPEN), {**_LINE, "interpolate": "step-before"}
    tooltip = tips(runs, step=",d", alive=",d")
    return [layer(mark, x, y, colour, where=_LOGGED), _hover(x, y, colour, tooltip, where=_LOGGED)]


def _size(runs: Mapping[str, Curves], x: Part) -> list[Part]:
    """Parameters with an axis on the left, multiply-adds with one on the right."""
    dashes = {PARAMETERS: [1, 0], MULTIPLY_ADDS: _DASHED}
    tooltip = tips(runs, step=",d", iteration=",d", parameters=",d", flops=",d")
    layers = []
    for name, field, side in ((PARAMETERS, "parameters", "left"), (MULTIPLY_ADDS, "flops", "right")):
        y = _y(field, name, format="~s", zero=True)
        y["axis"] |= {"orient": side, "grid": side == "left"}
        mark = {**_STEPPED, "strokeDash": dashes[name]} if len(runs) < 2 else _STEPPED
        colour = one_of(SERIES, name, (PARAMETERS, MULTIPLY_ADDS))
        look = colour if len(runs) < 2 else {**_plain(runs), **dashed(name, dashes)}
        layers.append(layer(mark, x, {"y": y}, look, tooltip, where=_SIZED))
    return layers


def _plain(runs: Mapping[str, Curves]) -> Part:
    """The colours of runs in views below the first, which has the legend."""
    found = by_run(runs, clickable=True)
    return {**found, "color": {**found["color"], "legend": None}} if found else {}


def _y(field: str, title: str, *, format: str = ".3~g", zero: bool = False) -> Part:
    y = number_axis(field, title, format=format, zero=zero)
    return {**y, "axis": {**y["axis"], "minExtent": _EXTENT, "tickCount": 4}}


def _hover(*encodings: Part, where: tuple[str, Sequence[str]] | None = None) -> Part:
    """Invisible points that make a thin line easier to hit."""
    hidden = {"opacity": {"value": 0}}
    return layer({"type": "point", "size": 90}, *encodings, hidden, where=where)


# ---- on how a search was run


def penalty(rows: Tables, last: float | None = None) -> Chart:
    """The penalty for open switches."""
    caption = "The term that open switches add to the loss. Each update changes its weights."
    x, y = x_steps(last), {"y": number_axis("penalty", None, zero=True)}
    tooltip, colour = tips(rows, step=",d", penalty=".4g"), by_run(rows, clickable=True)
    layers = [layer("line", x, y, colour, tooltip, **legend_clicks(rows)), _hover(x, y, by_run(rows), tooltip)]
    return _over_steps("penalty", "Penalty", caption, rows_of(rows, "step", "penalty"), layers)


def has_penalty(rows: Tables) -> bool:
    """Return whether any run has a penalty other than zero."""
    return any(finite(row.get("penalty")) for run_rows in rows.values() for row in run_rows)


def intensity(updates: Tables, last: float | None = None) -> Chart:
    """The strength of the penalty at every update, given with its step."""
    y, colour = {"y": number_axis("lambda", None, zero=True)}, by_run(updates, clickable=True)
    tooltip = tips(updates, **{"step": ",d", "iteration": ",d", "lambda": ".4g"})
    values = rows_of(updates, "step", "iteration", "lambda")
    layers = [layer(_STEPPED, x_steps(last), y, colour, tooltip, **legend_clicks(updates))]
    return _over_steps("lambda", "Lambda", "The strength of the penalty at each update.", values, layers)


def intensity_changes(updates: Tables) -> bool:
    """Return whether the strength of the penalty changes in any run."""
    return any(len({update.get("lambda") for update in run_updates}) > 1 for run_updates in updates.values())


def step_time(rows: Tables, last: float | None = None) -> Chart:
    """Seconds per step, with a running median."""
    values = rows_of(rows, "step", "seconds")
    for run in rows:
        run_values = [value for value in values if value["run"] == run]
        for value, smooth in zip(run_values, _medians([value["seconds"] for value in run_values]), strict=True):
            value["median"] = smooth
    tooltip, x = tips(rows, step=",d", seconds=".3~s", median=".3~s"), x_steps(last)
    y = number_axis("median", None, format="~s", unit="s", zero=True)
    raw: Part = {"type": "line", "strokeWidth": 1, "opacity": 0.3}
    layers = [
        layer(raw, x, {"y": {**y, "field": "seconds"}}, by_run(rows), tooltip),
        layer("line", x, {"y": y}, by_run(rows), tooltip),
        _hover(x, {"y": y}, by_run(rows), tooltip),
    ]
    caption = f"Time per step. Strong line: running median over {WINDOW} log rows; faint line: each row."
    return _over_steps("step-time", "Step time", caption, values, layers)


def _over_steps(key: str, title: str, caption: str, values: Sequence[Value], layers: Sequence[Part]) -> Chart:
    return Chart(key, title, caption, {**view(values, [*layers, *rules()], 160), "params": PARAMS}, "step")


def _medians(values: Sequence[float | None]) -> Iterator[float | None]:
    for number in range(len(values)):
        window = values[max(0, number - WINDOW // 2) : number + WINDOW // 2 + 1]
        near = [value for value in window if value is not None]
        yield median(near) if near else None
