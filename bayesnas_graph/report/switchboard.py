"""The switches of a search with their history, and the panels that show them, as data for the scripts of the page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from bayesnas_graph.ir import Graph, inner_name
from bayesnas_graph.passes.analysis import cost, cost_by_switch
from bayesnas_graph.report.pictures import Diagram, Panel
from bayesnas_graph.report.pictures.words import line_of, place_of
from bayesnas_graph.runs.reading.decision import Final
from bayesnas_graph.runs.reading.history import Moment
from bayesnas_graph.runs.reading.outline import OutlineSwitch, switches_of
from bayesnas_graph.runs.reading.run import RunRecord

DIGITS = 4  # significant digits on the page
MEASURES = ("parameters", "flops", "lambda", "accuracy")  # below the slider
RESULTS = ("parameters", "flops", "accuracy")  # likewise, of the derived network


def switchboard(
    record: RunRecord,
    graph: Graph,
    diagram: Diagram,
    history: Mapping[str, Sequence[Moment]],
    final: Mapping[str, Final],
) -> dict[str, Any]:
    """Plain values: the moments of a search, its switches, their source lines, and its panels."""
    switches = list(switches_of(graph))
    iterations = sorted({moment.iteration for moments in history.values() for moment in moments})
    numbers = {switch.name: number for number, switch in enumerate(switches)}
    facts = _SwitchFacts(graph, history, iterations, final)
    return {
        "moments": list(_moments(record, graph, iterations, bool(final))),
        "lines": facts.lines,
        "switches": [facts.of(switch) for switch in switches],
        "panels": [_panel(panel, graph, numbers) for panel in diagram.panels],
    }


def _moments(record: RunRecord, graph: Graph, iterations: Sequence[int], ended: bool) -> list[dict[str, Any]]:
    """The positions of the slider: before the first update, after each update, and the derived network.

    Links name a position by its `update`.
    """
    size = cost(graph)
    before = {"update": "0", "label": "before the search"}
    moments: list[dict[str, Any]] = [{**before, "parameters": size.parameters, "flops": size.flops}]
    updates = {int(update["iteration"]): update for update in record.updates}
    for iteration in iterations:
        update = updates.get(iteration, {})
        label = f"update {iteration} of {iterations[-1]}"
        moments.append({"update": str(iteration), "label": label, **_measures(update, MEASURES)})
    if ended:
        measures = _measures(record.result or {}, RESULTS)
        moments.append({"update": "derived", "label": "derived", **measures})
    return moments


def _measures(numbers: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    return {key: rounded(numbers[key]) for key in keys if key in numbers}


class _SwitchFacts:
    """Facts about the switches of a graph."""

    def __init__(
        self,
        graph: Graph,
        history: Mapping[str, Sequence[Moment]],
        iterations: Sequence[int],
        final: Mapping[str, Final],
    ) -> None:
        self.history, self.iterations, self.final = history, iterations, final
        self.costs = cost_by_switch(graph)
        self.places: dict[str, str] = {}
        self.lines: dict[str, str] = {}  # by place
        self.gates: dict[str, dict[str, None]] = defaultdict(dict)
        for edge in graph.edges:
            if edge.gate is not None:
                self.gates[edge.gate.group][edge.gate.name] = None
                if (span := edge.switch_span) is not None:
                    place = self.places.setdefault(edge.gate.group, place_of(span))
                    self.lines.setdefault(place, line_of(span))

    def of(self, switch: OutlineSwitch) -> dict[str, Any]:
        """The facts about a switch. Its series run from the first update until it is closed."""
        by_iteration = {moment.iteration: moment for moment in self.history.get(switch.name, ())}
        last = max(by_iteration, default=0)
        moments = [by_iteration.get(iteration) for iteration in self.iterations if iteration <= last]
        closed = next((n for n, moment in enumerate(moments, 1) if moment is not None and not moment.keep), None)
        size, final = self.costs[switch.name], self.final.get(switch.name)
        return {
            "name": switch.name,
            "text": switch.text,
            "part": switch.part,
            "choice": switch.choice,
            "operation": switch.operation,
            "place": self.places.get(switch.name, ""),
            "gates": [gate for gate in self.gates[switch.name] if gate != switch.name],
            "parameters": size.parameters,
            "flops": size.flops,
            "closed": closed,
            "why": next((moment.why for moment in reversed(moments) if moment is not None), ""),
            "kept": None if final is None else final.keep,
            "reason": "" if final is None else final.why,
            **{
                name: [None if moment is None else rounded(getattr(moment, name)) for moment in moments]
                for name in ("gamma", "s", "omega", "w", "h")
            },
        }


def _panel(panel: Panel, graph: Graph, numbers: Mapping[str, int]) -> dict[str, Any]:
    """The switches of a panel: a row of indices for each set of uses that share switches, a column for each gate."""
    groups = {gate.name: gate.group for gate in graph.gates}
    gates = [strand.gate for choice in panel.choices for strand in choice.strands]
    gates += [choice.gate for choice in panel.choices if choice.gate]
    gates += [choice.zero for choice in panel.choices if choice.has_zero]
    rows: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for use in panel.uses:
        full = (inner_name(use, gate) for gate in gates)
        rows[tuple(numbers.get(groups.get(name, ""), -1) for name in full)].append(use)
    return {
        "title": panel.title,
        "gates": gates,
        "rows": [{"uses": uses, "switches": list(row)} for row, uses in rows.items()],
        "ends": {box.key: box.kind for box in panel.boxes if box.kind in ("input", "output")},
        "wires": [[wire.source, wire.target] for wire in panel.wires],
        "choices": [
            {"key": choice.key, "gates": [strand.gate for strand in choice.strands if not strand.depth]}
            for choice in panel.choices
        ],
    }


def rounded(value: object) -> Any:
    """Numbers, possibly nested in lists, rounded to `DIGITS`; None for those that JSON lacks.

    >>> rounded([0.123456, float("nan"), 17])
    [0.1235, None, 17]
    """
    if isinstance(value, tuple | list):
        return [rounded(item) for item in value]
    if not isinstance(value, float):
        return value
    if not isfinite(value):
        return None
    return int(value) if value.is_integer() else float(f"{value:.{DIGITS}g}")
