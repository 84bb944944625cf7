"""Heat maps of all switches of a search over its updates.

The rows of a map are grouped under headings. A heading is a row without values, because only a single view can fill
the width of the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from bayesnas_graph.report.charts.spec import Part, Value, layer, name_axis, tips, view, x_counts
from bayesnas_graph.report.section import Chart
from bayesnas_graph.runs.reading.history import Moment
from bayesnas_graph.runs.reading.outline import OutlineSwitch

History = Mapping[str, Sequence[Moment]]  # of every switch

MAX_SWITCHES = 400  # in the map of single switches
ROW = 17  # pixels
SMALL_ROW = 13  # if there are many


@dataclass(frozen=True)
class SearchHistory:
    """The switches of a run and their history."""

    switches: Sequence[OutlineSwitch]
    history: History
    measure: str = "gamma"  # by which they are judged


@dataclass(frozen=True)
class _Row:
    """A row of a map; a heading has no label."""

    group: str
    label: str = ""

    @property
    def key(self) -> str:
        """Unique in a map; the label follows the line break."""
        return f"{self.group}\n{self.label}"


def by_operation(runs: Mapping[str, SearchHistory]) -> Chart:
    """The mean strength of each operation in each cell."""
    values: list[Value] = []
    rows: dict[_Row, None] = {}
    for label, run in runs.items():
        groups: dict[_Row, list[OutlineSwitch]] = {}
        for switch in run.switches:
            groups.setdefault(_Row(_group(runs, label, switch.part), switch.operation), []).append(switch)
        for heading in dict.fromkeys(_Row(row.group) for row in groups):
            rows |= dict.fromkeys([heading, *(row for row in groups if row.group == heading.group)])
        for row, switches in groups.items():
            values += _means(row, switches, run.history)
    tooltip = tips([], operation="", iteration=",d", open="", mean_gamma=".4g")
    caption = (
        f"Colour: mean {_measure(runs)} of the open switches of an operation after an update, 0 if all are closed."
    )
    chart = _map(values, list(rows), "mean_gamma", tooltip, ROW)
    return Chart("operations", "Open switches by cell and operation", caption, chart)


def by_switch(runs: Mapping[str, SearchHistory]) -> Chart | None:
    """Every switch, grouped by choice; None if there are too many."""
    if sum(len(run.switches) for run in runs.values()) > MAX_SWITCHES:
        return None
    values: list[Value] = []
    rows: list[_Row] = []
    for label, run in runs.items():
        groups: dict[str, list[OutlineSwitch]] = {}
        for switch in run.switches:
            groups.setdefault(_group(runs, label, f"{switch.part} {switch.choice}"), []).append(switch)
        for group, switches in groups.items():
            rows.append(_Row(group))
            for switch, name in zip(switches, _labels(switches), strict=True):
                rows.append(_Row(group, name))
                values += _moments(rows[-1], switch, run.history)
    tooltip = tips([], switch="", iteration=",d", gamma=".4g", why="")
    caption = f"Colour: {_measure(runs)} after an update. A row ends when its switch is closed."
    height = ROW if len(rows) <= 60 else SMALL_ROW
    return Chart("switches", "All switches", caption, _map(values, rows, "gamma", tooltip, height))


def _measure(runs: Mapping[str, SearchHistory]) -> str:
    return " or ".join(dict.fromkeys(run.measure for run in runs.values()))


def _group(runs: Mapping[str, SearchHistory], label: str, group: str) -> str:
    return group if len(runs) < 2 else f"{label}, {group}"


def _labels(switches: Sequence[OutlineSwitch]) -> list[str]:
    """The operations of a choice, or the names of the switches if an operation occurs twice."""
    operations = [switch.operation for switch in switches]
    return operations if len(set(operations)) == len(operations) else [switch.name for switch in switches]


def _means(row: _Row, switches: Sequence[OutlineSwitch], history: History) -> Iterator[Value]:
    """A value for every update, also after the last switch was closed."""
    by_iteration = [{moment.iteration: moment for moment in history.get(switch.name, ())} for switch in switches]
    for iteration in sorted({moment.iteration for moments in history.values() for moment in moments}):
        open_moments = [
            moments[iteration] for moments in by_iteration if iteration in moments and moments[iteration].keep
        ]
        gammas = [moment.gamma for moment in open_moments if moment.gamma is not None]
        yield {
            "line": row.key,
            "iteration": iteration,
            "operation": row.label,
            "open": f"{len(open_moments):,} of {len(switches):,}",
            "mean_gamma": fmean(gammas) if gammas else 0,
        }


def _moments(row: _Row, switch: OutlineSwitch, history: History) -> Iterator[Value]:
    for moment in history.get(switch.name, ()):
        if moment.keep and moment.gamma is not None:
            yield {
                "line": row.key,
                "iteration": moment.iteration,
                "switch": switch.text,
                "gamma": moment.gamma,
                "why": moment.why,
            }


def _map(values: list[Value], rows: list[_Row], field: str, tooltip: Part, step: int) -> Part:
    """Colours by row and update, on a symmetric log scale: gammas span orders of magnitude and include zero."""
    label = "(split(datum.label, '\\n')[1] || split(datum.label, '\\n')[0])"
    bold = {"condition": {"test": "!split(datum.label, '\\n')[1]", "value": "bold"}, "value": "normal"}
    axis = name_axis(label, labelFontWeight=bold)
    for value in values:
        value["begin"], value["end"] = value["iteration"] - 0.5, value["iteration"] + 0.5
    x = x_counts("begin", "update")["x"]
    encoding: Part = {
        "x": {**x, "scale": {"nice": False, "zero": False}},
        "x2": {"field": "end"},
        "y": {"field": "line", "type": "nominal", "scale": {"domain": [row.key for row in rows]}, "axis": axis},
        "color": {
            "field": field,
            "type": "quantitative",
            "title": field.replace("_", " "),
            "scale": {"type": "symlog", "constant": 0.3, "domainMin": 0, "range": "ramp"},
            "legend": {"orient": "top", "format": ".2~g", "tickCount": 4, "labelOverlap": "greedy"},
        },
    }
    return view(values, [layer({"type": "rect", "height": {"band": 0.88}}, encoding, tooltip)], step * len(rows))
