"""Check the graph of a motif: no cycles, every node has an input and is used."""

from __future__ import annotations

from itertools import product

from bayesnas_graph.diagnostics import Diagnostic, Label, Report
from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir.walks import in_order, reached
from bayesnas_graph.language.elaborate.values import MotifNode
from bayesnas_graph.language.elaborate.wiring import Application, Wiring

Sources = dict[MotifNode, dict[MotifNode, Application]]  # node -> node it reads -> by which operation


def check_structure(wiring: Wiring, report: Report) -> list[Diagnostic]:
    """Report and return cycles, nodes without input and dead ends; unused inputs are warnings."""
    sources: Sources = {node: {} for node in (*wiring.inputs, *wiring.nodes)}
    for application in wiring.applications:
        for target in application.outputs:
            for source in application.inputs:
                sources[target].setdefault(source, application)
    problems = [*_cycle(sources), *_unfed(wiring)] or _useless(wiring, sources)
    for diagnostic in problems:
        report.add(diagnostic)
    return [diagnostic for diagnostic in problems if diagnostic.severity == "error"]


def _cycle(sources: Sources) -> list[Diagnostic]:
    """The first cycle, with all its edges."""
    backwards = _find_cycle(sources)
    if not backwards:
        return []
    steps = [(source, target) for target, source in zip(backwards, [*backwards[1:], backwards[0]], strict=True)][::-1]
    route = " -> ".join([*(source.written for source, _ in steps), steps[0][0].written])
    spans: dict[Span, list[str]] = {}
    for source, target in steps:
        spans.setdefault(sources[target][source].span, []).append(f"`{source.written}` to `{target.written}`")
    labels = [Label(span, ", ".join(texts)) for span, texts in spans.items()]
    help = "remove one of the edges"
    return [Diagnostic("NAS301", f"cycle: {route}", labels[0], tuple(labels[1:]), help)]


def _find_cycle(sources: Sources) -> list[MotifNode]:
    """Nodes of a cycle, each reading the next; empty if there is no cycle."""
    done: set[MotifNode] = set()
    for start in sources:
        path: dict[MotifNode, None] = {}  # an ordered set
        waiting = [(start, iter(sources[start]))] if start not in done else []
        path.update({start: None} if waiting else {})
        while waiting:
            node, rest = waiting[-1]
            source = next((s for s in rest if s not in done), None)
            if source is None:
                waiting.pop()
                path.pop(node)
                done.add(node)
            elif source in path:
                walked = list(path)
                return walked[walked.index(source) :]
            else:
                path[source] = None
                waiting.append((source, iter(sources[source])))
    return []


def _unfed(wiring: Wiring) -> list[Diagnostic]:
    fed = {node for application in wiring.applications for node in application.outputs}
    return [
        Diagnostic(
            "NAS302",
            f"`{node.written}` has no incoming edges",
            Label(node.span, "no edge leads here"),
            help=f"add an edge to it, `x -> {node.written} : ...`, or remove it",
        )
        for node in wiring.nodes
        if node not in fed
    ]


def _useless(wiring: Wiring, sources: Sources) -> list[Diagnostic]:
    useful = reached(wiring.outputs, sources.__getitem__)
    warnings = [
        Diagnostic(
            "NAS303",
            f"`{node.written}` is never used",
            Label(node.span, "no output depends on it"),
            help="connect it to the output, or remove it",
        )
        for node in wiring.nodes
        if node not in useful
    ]
    for node in wiring.inputs:
        if node not in useful:
            label = Label(node.span, "no output depends on it")
            warnings.append(Diagnostic("NAS306", f"input `{node.written}` is never used", label, severity="warning"))
    return warnings


def nodes_in_order(wiring: Wiring) -> list[MotifNode]:
    """The nodes, each after the nodes it reads; ties keep the order of the text."""
    nodes = set(wiring.nodes)
    edges = (edge for application in wiring.applications for edge in product(application.inputs, application.outputs))
    return in_order(wiring.nodes, (edge for edge in edges if nodes.issuperset(edge)))
