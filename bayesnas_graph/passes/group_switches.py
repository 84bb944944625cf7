"""Which switches are one switch."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from bayesnas_graph.ir import Edge, Gate, Graph

Mode = Literal["written", "proxy", "proxyless"]


def group_switches(graph: Graph, mode: Mode = "written") -> Graph:
    """Group the gates as the text says, where uses of a cell share them and uses of a motif do not, or all one way.

    `proxy` searches every motif once for all its uses, as if each were a cell; `proxyless` searches every use
    on its own, cells included.
    """
    if mode == "written":
        return graph
    edges = [
        replace(edge, gate=_regrouped(graph, edge, edge.gate, mode)) if edge.gate else edge for edge in graph.edges
    ]
    return graph.replace(list(graph), edges, graph.outputs)


def _regrouped(graph: Graph, edge: Edge, gate: Gate, mode: Mode) -> Gate:
    motif = next((scope for scope in graph.enclosing(edge.target) if scope.role != "choice"), None)
    if motif is None:
        return replace(gate, group=gate.name)
    if mode == "proxyless":
        return replace(gate, group=gate.name, part=motif.kind, use=motif.text)
    if motif.role == "cell":
        return gate
    return replace(gate, group=f"{motif.kind}:{gate.name.removeprefix(f'{motif.name}.')}", part=motif.kind, use="")
