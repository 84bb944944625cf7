"""Is the body of a motif a sound graph? No cycles, every node fed, every node of use."""

from __future__ import annotations

import networkx as nx

from bayesnas_graph.diagnostics import Diagnostic, Label, Report
from bayesnas_graph.elaborate.values import Place
from bayesnas_graph.elaborate.wiring import Application, Wiring
from bayesnas_graph.source import Span


def check_structure(wiring: Wiring, report: Report) -> list[Diagnostic]:
    """What is wrong: cycles, nodes that nothing flows into, dead ends. Unused inputs are only warned about."""
    graph: nx.DiGraph[Place] = nx.DiGraph()
    graph.add_nodes_from(wiring.inputs)
    graph.add_nodes_from(wiring.places)
    by: dict[tuple[Place, Place], Application] = {}
    for application in wiring.applications:
        for source in application.inputs:
            for target in application.outputs:
                graph.add_edge(source, target)
                by.setdefault((source, target), application)
    problems = [*_cycles(graph, by), *_unfed(wiring, graph)] or _useless(wiring, graph)
    for diagnostic in problems:
        report.add(diagnostic)
    return [diagnostic for diagnostic in problems if diagnostic.severity == "error"]


def _cycles(graph: nx.DiGraph[Place], by: dict[tuple[Place, Place], Application]) -> list[Diagnostic]:
    if nx.is_directed_acyclic_graph(graph):
        return []
    steps = [(source, target) for source, target, *_ in nx.find_cycle(graph)]
    route = " -> ".join([*(source.name for source, _ in steps), steps[0][0].name])
    spans: dict[Span, list[str]] = {}
    for source, target in steps:
        spans.setdefault(by[source, target].span, []).append(f"`{source.name}` to `{target.name}`")
    labels = [Label(span, ", ".join(texts)) for span, texts in spans.items()]
    help = "a node cannot depend on itself: remove one of the edges"
    return [Diagnostic("NAS301", f"cycle: {route}", labels[0], tuple(labels[1:]), help)]


def _unfed(wiring: Wiring, graph: nx.DiGraph[Place]) -> list[Diagnostic]:
    return [
        Diagnostic(
            "NAS302",
            f"nothing flows into `{_written(place)}`",
            Label(place.span, "no edge leads here"),
            help=f"lead an edge to it, `x -> {_written(place)} : ...`, or remove it",
        )
        for place in wiring.places
        if graph.in_degree(place) == 0
    ]


def _useless(wiring: Wiring, graph: nx.DiGraph[Place]) -> list[Diagnostic]:
    useful, waiting = set(wiring.outputs), list(wiring.outputs)
    while waiting:
        before = set(graph.predecessors(waiting.pop())) - useful
        useful |= before
        waiting.extend(before)
    found = [
        Diagnostic(
            "NAS303",
            f"`{_written(place)}` leads nowhere",
            Label(place.span, "no output depends on it"),
            help="lead it to the output, or remove it",
        )
        for place in wiring.places
        if place not in useful
    ]
    for place in wiring.inputs:
        if place not in useful:
            label = Label(place.span, "no output depends on it")
            found.append(Diagnostic("NAS306", f"input `{_written(place)}` is never used", label, severity="warning"))
    return found


def _written(place: Place) -> str:
    """The name of a node as it is written in the text: `h[2]`, not `h.2`."""
    name, _, index = place.name.partition(".")
    return f"{name}[{index}]" if index else name
