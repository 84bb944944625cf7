"""A derived network as a `.nas` file, with its origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bayesnas_graph.bayes import Decision
from bayesnas_graph.codegen.docs import NO_DOCS, Docs
from bayesnas_graph.codegen.unparse import Place, correspondence, unparse
from bayesnas_graph.diagnostics import NasError, Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.ir import Edge, Graph, Node
from bayesnas_graph.ir.ops import RescaleOp
from bayesnas_graph.language.elaborate import Checker, Limits, Network
from bayesnas_graph.passes import plain


@dataclass(frozen=True, eq=False)
class Written:
    """A fixed network, written as text and read again: everything that is exported comes from the text."""

    text: str
    network: Network
    graph: Graph  # of that network
    names: Mapping[str, str]  # node of the derived graph -> node of this one


def written(
    fixed: Graph, doc: str, notes: Mapping[Place, str], *, docs: Docs = NO_DOCS, allow_python: bool = False
) -> Written:
    """Write a fixed graph as text, and read it again."""
    text = unparse(fixed, doc=doc, docs=docs, notes=notes)
    report = Report()
    space = Checker(report, Limits(), allow_python=allow_python).text(Source("derived.nas", text))
    if report.has_errors or not space.networks:
        raise NasError(report.diagnostics)
    graph = space.networks[0].graph()
    return Written(text, space.networks[0], graph, correspondence(fixed, graph))


def strength_notes(searched: Graph, decision: Decision, fixed: Graph, called: str) -> dict[Place, str]:
    """Return the notes for `unparse`: the measure of every switch, where its candidate is written.

    A candidate is a use of a motif, an operation, or an edge that passes a value on unchanged.
    """
    gamma = {verdict.name: f"{called} {verdict.gamma:.3g}" for verdict in decision.verdicts}
    named = {node.name for node in fixed} | {scope.name for scope in fixed.scopes}
    marked, marks = _marked(searched)
    readers = {edge.source: edge for edge in marked.edges}
    notes: dict[Place, str] = {}
    for mark, edge in marks.items():
        assert edge.gate is not None, "only switched edges are marked"
        if edge.gate.name in named:
            notes[edge.gate.name] = gamma[edge.gate.group]
        elif edge.gate.name in searched[edge.source].behind and edge.source in named:
            notes[edge.source] = gamma[edge.gate.group]
        elif mark in readers and mark in marked.nx:
            reader, handed = readers[mark], marked.inputs(mark)[0].source
            same_slot = (
                [e for e in fixed.inputs(reader.target) if e.slot == reader.slot] if reader.target in named else []
            )
            if same_slot and same_slot[0].source == handed:
                notes[reader.target, reader.slot] = gamma[edge.gate.group]
    return notes


def _marked(searched: Graph) -> tuple[Graph, dict[str, Edge]]:
    """Return the fixed graph with an additional node on every switched edge, to find out what becomes of the edges."""
    nodes: list[Node] = []
    edges: list[Edge] = []
    marks: dict[str, Edge] = {}
    for node in searched:
        for edge in searched.inputs(node.name):
            if edge.gate is None or node.op.is_zero_switch:
                edges.append(edge)
                continue
            mark = f"{node.name}#{edge.slot}"  # a name that no node has
            marks[mark] = edge
            nodes.append(Node(mark, RescaleOp(), searched[edge.source].shape, behind=node.behind, scope=node.scope))
            edges += [Edge(edge.source, mark, 0), replace(edge, source=mark, gate=None)]
        nodes.append(node)
    return plain(searched.replace(nodes, edges, searched.outputs)), marks
