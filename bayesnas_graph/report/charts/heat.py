"""All switches of a search at once, as colours over updates.

The lines of a map come in groups, each under a heading. A heading is a line like the others, without colours, because a
view in one piece is as wide as there is room, and several are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from bayesnas_graph.report.charts.spec import Part, Value, layer, name_axis, tips, view, x_counts
from bayesnas_graph.report.section import Chart
from bayesnas_graph.runs.reading.history import Moment
from bayesnas_graph.runs.reading.outline import Switch

History = Mapping[str, Sequence[Moment]]  # of every switch

MOST = 400  # switches that are shown one by one
LINE = 17  # pixels of one
SMALL = 13  # of one, where there are many


@dataclass(frozen=True)
class Searched:
    """The switches of a run, and what became of them."""

    switches: Sequence[Switch]
    history: History
    measure: str = "gamma"  # what they were judged by


@dataclass(frozen=True)
class _Line:
    """A line of a map, by the group that it is in. A heading has no label."""

    group: str
    label: str = ""

    @property
    def key(self) -> str:
        """Tells it from all others; the label is what follows the last line break."""
        return f"{self.group}\n{self.label}"


def by_operation(runs: Mapping[str, Searched]) -> Chart:
    """What is left of every operation in every cell."""
    values: list[Value] = []
    lines: dict[_Line, None] = {}
    for run, found in runs.items():
        groups: dict[_Line, list[Switch]] = {}
        for switch in found.switches:
            heading = _Line(_in_run(runs, run, switch.part))
            groups.setdefault(_Line(heading.group, switch.operation), []).append(switch)
        for heading in dict.fromkeys(_Line(line.group) for line in groups):
            lines |= dict.fromkeys([heading, *(line for line in groups if line.group == heading.group)])
        for line, switches in groups.items():
            values += _means(line, switches, found.history)
    told = tips([], operation="", iteration=",d", open="", mean_gamma=".4g")
    title = "What is left, by cell and operation"
    caption = (
        f"Colour: the mean {_measure(runs)} of the switches of an operation that are open after an update, "
        "0 where none is."
    )
    return Chart("operations", title, caption, _map(values, list(lines), "mean_gamma", told, LINE))


def by_switch(runs: Mapping[str, Searched]) -> Chart | None:
    """Every switch by itself, by the choice that it is in; None where there are too many to see anything."""
    if sum(len(found.switches) for found in runs.values()) > MOST:
        return None
    values: list[Value] = []
    lines: dict[_Line, None] = {}
    for run, found in runs.items():
        groups: dict[str, list[Switch]] = {}
        for switch in found.switches:
            groups.setdefault(_in_run(runs, run, f"{switch.part}: {switch.choice}"), []).append(switch)
        for group, switches in groups.items():
            lines[_Line(group)] = None
            for switch, label in zip(switches, _labels(switches), strict=True):
                lines[_Line(group, label)] = None
                values += _moments(_Line(group, label), switch, found.history)
    told = tips([], switch="", iteration=",d", gamma=".4g", why="")
    caption = f"Colour: {_measure(runs)} after an update. A line ends where its switch was closed."
    height = LINE if len(lines) <= 60 else SMALL
    return Chart("switches", "Every switch", caption, _map(values, list(lines), "gamma", told, height))


def _measure(runs: Mapping[str, Searched]) -> str:
    return " or ".join(dict.fromkeys(found.measure for found in runs.values()))


def _in_run(runs: Mapping[str, Searched], run: str, group: str) -> str:
    return group if len(runs) < 2 else f"{run}, {group}"


def _labels(switches: Sequence[Switch]) -> list[str]:
    """The operations of a choice; where two are of one name, the names of the switches."""
    operations = [switch.operation for switch in switches]
    return operations if len(set(operations)) == len(operations) else [switch.name for switch in switches]


def _means(line: _Line, switches: Sequence[Switch], history: History) -> Iterator[Value]:
    """A value for every update that is known, also after the last switch was closed."""
    by_iteration = [{moment.iteration: moment for moment in history.get(switch.name, ())} for switch in switches]
    for iteration in sorted({moment.iteration for moments in history.values() for moment in moments}):
        kept = [moments[iteration] for moments in by_iteration if iteration in moments and moments[iteration].keep]
        gammas = [moment.gamma for moment in kept if moment.gamma is not None]
        yield {
            "line": line.key,
            "iteration": iteration,
            "operation": line.label,
            "open": f"{len(kept):,} of {len(switches):,}",
            "mean_gamma": fmean(gammas) if gammas else 0,
        }


def _moments(line: _Line, switch: Switch, history: History) -> Iterator[Value]:
    for moment in history.get(switch.name, ()):
        if moment.keep and moment.gamma is not None:
            yield {
                "line": line.key,
                "iteration": moment.iteration,
                "switch": switch.name,
                "gamma": moment.gamma,
                "why": moment.why,
            }


def _map(values: list[Value], lines: list[_Line], field: str, told: Part, step: int) -> Part:
    """Colours by line and update. Gammas differ by orders of magnitude, and zero is one of them."""
    label = "(split(datum.label, '\\n')[1] || split(datum.label, '\\n')[0])"
    bold = {"condition": {"test": "!split(datum.label, '\\n')[1]", "value": "bold"}, "value": "normal"}
    axis = name_axis(label, labelFontWeight=bold)
    for value in values:
        value["begin"], value["end"] = value["iteration"] - 0.5, value["iteration"] + 0.5
    x = x_counts("begin", "update")["x"]
    encoding: Part = {
        "x": {**x, "scale": {"nice": False, "zero": False}},
        "x2": {"field": "end"},
        "y": {"field": "line", "type": "nominal", "scale": {"domain": [line.key for line in lines]}, "axis": axis},
        "color": {
            "field": field,
            "type": "quantitative",
            "title": field.replace("_", " "),
            "scale": {"type": "symlog", "constant": 0.3, "domainMin": 0, "range": "ramp"},
            "legend": {"orient": "top", "format": ".2~g", "tickCount": 4, "labelOverlap": "greedy"},
        },
    }
    return view(values, [layer({"type": "rect", "height": {"band": 0.88}}, encoding, told)], step * len(lines))
