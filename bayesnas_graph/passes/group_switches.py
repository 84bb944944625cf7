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
        replace(e, gate=replace(e.gate, group=_group(graph, e, e.gate, mode))) if e.gate else e for e in graph.edges
    ]
    return graph.replace(list(graph), edges, graph.outputs)


def _group(graph: Graph, edge: Edge, gate: Gate, mode: Mode) -> str:
    motif = next((scope for scope in graph.enclosing(edge.target) if scope.role != "choice"), None)
    if mode == "proxyless" or motif is None:
        return gate.name
    if motif.role == "cell":
        return gate.group
    return f"{motif.kind}:{gate.name.removeprefix(f'{motif.name}.')}"
