"""Heat maps of the switches of a search over its updates: by operation, and switch by switch.

A row of data has a list with a number for each update, which Vega unfolds. Rows of a map are grouped under headings. A
heading is a row without values, because only a single view can fill the width of the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from bayesnas_graph.diagnostics.words import counted
from bayesnas_graph.report.charts.cursor import PARAMS, columns
from bayesnas_graph.report.charts.spec import Part, Value, layer, name_axis, tips, view, x_counts
from bayesnas_graph.report.rounding import rounded
from bayesnas_graph.report.section import Chart
from bayesnas_graph.runs.reading.history import Moment
from bayesnas_graph.runs.reading.outline import OutlineSwitch

History = Mapping[str, Sequence[Moment]]  # of every switch

MAX_ROWS = 150  # switches in a map
ROW = 17  # pixels
SMALL_ROW = 13  # if there are many
_CURSOR = "Frame: the update shown; a click shows another."


@dataclass(frozen=True)
class SearchHistory:
    """The switches of a run and their history."""

    switches: Sequence[OutlineSwitch]
    history: History
    measure: str = "gamma"  # by which they are judged

    @property
    def updates(self) -> list[int]:
        """The numbers of all updates."""
        return sorted({moment.iteration for moments in self.history.values() for moment in moments})

    @property
    def largest(self) -> float:
        """The largest number of an open switch."""
        moments = (moment for moments in self.history.values() for moment in moments if moment.keep)
        return max((moment.gamma for moment in moments if moment.gamma is not None), default=0)


@dataclass(frozen=True)
class _Row:
    """A row of a map; a heading has no label."""

    group: str
    label: str = ""

    @property
    def key(self) -> str:
        """Unique in a map; the label follows the line break."""
        return f"{self.group}\n{self.label}"


def by_operation(run: SearchHistory) -> Chart:
    """The mean strength of each operation in each cell."""
    groups: dict[_Row, list[OutlineSwitch]] = {}
    for switch in run.switches:
        groups.setdefault(_Row(switch.part, switch.operation), []).append(switch)
    rows: dict[_Row, None] = {}
    for heading in dict.fromkeys(_Row(row.group) for row in groups):
        rows |= dict.fromkeys([heading, *(row for row in groups if row.group == heading.group)])
    values = [_means(row, switches, run) for row, switches in groups.items()]
    tooltip = tips([], operation="", update=",d", open="", mean_gamma=".4g")
    caption = f"Colour: mean {run.measure} of an operation's open switches, 0 if all are closed. {_CURSOR}"
    chart = _map(run, values, list(rows), "mean_gamma", ["open"], tooltip, ROW)
    return Chart("operations", "Open switches by cell and operation", caption, chart, "update")


def by_switch(run: SearchHistory) -> Iterator[tuple[str, Chart]]:
    """Maps of every switch, with titles: one for each cell, or several if it has many switches."""
    cells: dict[str, list[OutlineSwitch]] = {}
    for switch in run.switches:
        cells.setdefault(switch.part, []).append(switch)
    number = 0
    for cell, switches in cells.items():
        for begin in range(0, len(switches), MAX_ROWS):
            number += 1
            some = switches[begin : begin + MAX_ROWS]
            of = counted(len(some), "switch")
            if len(some) < len(switches):
                of = f"switches {begin + 1:,} to {begin + len(some):,} of {len(switches):,}, from {some[0].choice}"
            yield f"{cell}: {of}", _of_switches(run, f"switches-{number}", f"{cell}: {of}", some)


def _of_switches(run: SearchHistory, key: str, title: str, switches: Sequence[OutlineSwitch]) -> Chart:
    groups: dict[str, list[OutlineSwitch]] = {}
    for switch in switches:
        groups.setdefault(f"{switch.part} {switch.choice}", []).append(switch)
    values: list[Value] = []
    rows: list[_Row] = []
    for group, some in groups.items():
        rows.append(_Row(group))
        for switch, label in zip(some, _labels(some), strict=True):
            rows.append(_Row(group, label))
            gammas = _gammas(switch, run)
            values.append({"line": rows[-1].key, "name": switch.name, "switch": switch.text, "gamma": gammas})
    tooltip = tips([], switch="", update=",d", gamma=".4g")
    caption = (
        f"Colour: {run.measure} after an update. A row ends when its switch is closed; a click on its name says why. "
        f"{_CURSOR}"
    )
    height = ROW if len(rows) <= 60 else SMALL_ROW
    return Chart(key, title, caption, _map(run, values, rows, "gamma", [], tooltip, height), "update")


def _labels(switches: Sequence[OutlineSwitch]) -> list[str]:
    """The operations of a choice, or the names of the switches if an operation occurs twice."""
    operations = [switch.operation for switch in switches]
    return operations if len(set(operations)) == len(operations) else [switch.name for switch in switches]


def _means(row: _Row, switches: Sequence[OutlineSwitch], run: SearchHistory) -> Value:
    """The numbers of an operation at every update, also after its last switch was closed."""
    by_update = [{moment.iteration: moment for moment in run.history.get(switch.name, ())} for switch in switches]
    counts, means = [], []
    for update in run.updates:
        open_moments = [moments[update] for moments in by_update if update in moments and moments[update].keep]
        gammas = [moment.gamma for moment in open_moments if moment.gamma is not None]
        counts.append(f"{len(open_moments):,} of {len(switches):,}")
        means.append(rounded(fmean(gammas)) if gammas else 0)
    return {"line": row.key, "operation": row.label, "open": counts, "mean_gamma": means}


def _gammas(switch: OutlineSwitch, run: SearchHistory) -> list[float | None]:
    """A number for every update until the switch was closed."""
    open_moments = {moment.iteration: moment for moment in run.history.get(switch.name, ()) if moment.keep}
    last = max(open_moments, default=0)
    return [
        rounded(open_moments[update].gamma) if update in open_moments else None
        for update in run.updates
        if update <= last
    ]


def _map(
    run: SearchHistory,
    values: list[Value],
    rows: list[_Row],
    field: str,
    more: list[str],
    tooltip: Part,
    step: int,
) -> Part:
    """Colours by row and update, on a symmetric log scale: gammas span orders of magnitude and include zero."""
    label = "(split(datum.label, '\\n')[1] || split(datum.label, '\\n')[0])"
    bold = {"condition": {"test": "!split(datum.label, '\\n')[1]", "value": "bold"}, "value": "normal"}
    updates = run.updates
    unfolded: list[Part] = [
        {"flatten": [field, *more]},
        {"window": [{"op": "row_number", "as": "number"}], "groupby": ["line"]},
        {"filter": f"isValid(datum.{field})"},
        {"calculate": f"{updates}[datum.number - 1]", "as": "update"},
        {"calculate": "datum.update - 0.5", "as": "begin"},
        {"calculate": "datum.update + 0.5", "as": "end"},
    ]
    domain = [updates[0] - 0.5, updates[-1] + 0.5] if updates else [0.5, 1.5]
    x = x_counts("begin", "update")["x"]
    encoding: Part = {
        "x": {**x, "scale": {"nice": False, "zero": False, "domain": domain}},
        "x2": {"field": "end"},
        "y": {
            "field": "line",
            "type": "nominal",
            "scale": {"domain": [row.key for row in rows]},
            "axis": name_axis(label, labelFontWeight=bold),
        },
        "color": {
            "field": field,
            "type": "quantitative",
            "title": f"mean {run.measure}" if field.startswith("mean") else run.measure,
            "scale": {"type": "symlog", "constant": 0.3, "domain": [0, rounded(run.largest) or 1], "range": "ramp"},
            "legend": {"orient": "top", "format": ".2~g", "tickCount": 4, "labelOverlap": "greedy"},
        },
    }
    cells = layer({"type": "rect", "height": {"band": 0.88}}, encoding, tooltip)
    return {**view(values, [cells, *columns()], step * len(rows)), "transform": unfolded, "params": PARAMS}
