"""The switches of a search with their history, and the panels that show them, as data for the scripts of the page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from bayesnas_graph.ir import Graph, inner_name
from bayesnas_graph.language.elaborate.wiring import Budget
from bayesnas_graph.passes.analysis import cost, cost_by_switch
from bayesnas_graph.report.pictures import Diagram, Panel
from bayesnas_graph.report.pictures.words import line_of, place_of
from bayesnas_graph.report.reasons import SwitchRecord, closes_below, explain
from bayesnas_graph.report.rounding import rounded
from bayesnas_graph.report.switch_records import evidence_of, switch_records
from bayesnas_graph.report.symbols import symbols
from bayesnas_graph.report.timeline import timeline
from bayesnas_graph.runs.objectives import ACCURACY
from bayesnas_graph.runs.reading.decision import Final
from bayesnas_graph.runs.reading.history import Moment
from bayesnas_graph.runs.reading.outline import OutlineSwitch, switches_of
from bayesnas_graph.runs.reading.run import RunRecord

MEASURES = ("parameters", "flops", "lambda", "accuracy")  # below the slider
RESULTS = ("parameters", "flops", "accuracy")  # likewise, of the derived network


def switchboard(
    record: RunRecord,
    graph: Graph,
    diagram: Diagram,
    history: Mapping[str, Sequence[Moment]],
    final: Mapping[str, Final],
    budgets: Sequence[Budget] = (),
) -> dict[str, Any]:
    """Plain values: the moments of a search, its switches, their source lines, and its panels."""
    switches = list(switches_of(graph))
    iterations = sorted({moment.iteration for moments in history.values() for moment in moments})
    numbers = {switch.name: number for number, switch in enumerate(switches)}
    facts = _SwitchFacts(graph, iterations, switch_records(record, graph, history, final, budgets))
    evidence = evidence_of(record, history)
    return {
        **({} if record.metric == ACCURACY else {"metric": record.metric.name}),
        "moments": list(_moments(record, graph, iterations, bool(final))),
        "evidence": evidence,
        "symbols": symbols(evidence),
        "lines": facts.lines,
        "switches": [facts.of(switch) for switch in switches],
        "panels": [_panel(panel, graph, numbers) for panel in diagram.panels],
    }


def _moments(record: RunRecord, graph: Graph, iterations: Sequence[int], ended: bool) -> list[dict[str, Any]]:
    """The positions of the slider: before the first update, after each update, and the derived network.

    Each has its step and, after an update, the number of that update. Links call it by its name.
    """
    size, times = cost(graph), timeline(record)
    start = {"name": "0", "label": "before the search", "step": 0}
    moments: list[dict[str, Any]] = [{**start, "parameters": size.parameters, "flops": size.flops}]
    updates = {int(update["iteration"]): update for update in record.updates}
    for iteration in iterations:
        when = {"step": times.updates.get(iteration), "update": iteration}
        names = {"name": str(iteration), "label": f"update {iteration} of {iterations[-1]}"}
        moments.append({**names, **when, **_measures(updates.get(iteration, {}), MEASURES)})
    if ended:
        names = {"name": "derived", "label": "derived"}
        moments.append({**names, "step": times.last, **_measures(record.result or {}, RESULTS)})
    return moments


def _measures(numbers: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    return {key: rounded(numbers[key]) for key in keys if key in numbers}


class _SwitchFacts:
    """Facts about the switches of a graph."""

    def __init__(self, graph: Graph, iterations: Sequence[int], records: Mapping[str, SwitchRecord]) -> None:
        self.iterations, self.records = iterations, records
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
        record = self.records[switch.name]
        by_iteration = {moment.iteration: moment for moment in record.moments}
        last = max(by_iteration, default=0)
        moments = [by_iteration.get(iteration) for iteration in self.iterations if iteration <= last]
        closed = next((n for n, moment in enumerate(moments, 1) if moment is not None and not moment.keep), None)
        size, final = self.costs[switch.name], record.final
        series = ("gamma", "s", "omega", "w", "h", *(("worth", "error") if record.evidence == "worth" else ()))
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
            "because": explain(record),
            **{
                name: [None if moment is None else rounded(getattr(moment, name)) for moment in moments]
                for name in series
            },
            **({"bounds": self._bounds(record)} if record.evidence == "worth" else {}),
        }

    def _bounds(self, record: SwitchRecord) -> list[float | None]:
        """The worth that lambda asks for at every update; one number if it is always the same."""
        bounds = [record.lambdas.get(iteration) for iteration in self.iterations]
        found = [None if intensity is None else rounded(closes_below(intensity)) for intensity in bounds]
        return found[:1] if len(set(found)) == 1 else found


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
