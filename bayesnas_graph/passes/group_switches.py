"""Decides which gates share one switch."""

from __future__ import annotations

from dataclasses import replace

from bayesnas_graph.ir import Edge, Gate, Graph, local_name
from bayesnas_graph.passes.options import DEFAULT, Mode, Options


def group_switches(graph: Graph, options: Options = DEFAULT) -> Graph:
    """Group the gates by `options.mode`.

    `written` follows the text: uses of a cell share their switches, uses of a motif do not. `proxy` searches every
    motif once for all its uses, as if each were a cell; `proxyless` searches every use separately, cells included.
    """
    if options.mode == "written":
        return graph
    edges = [
        replace(edge, gate=_regrouped(graph, edge, edge.gate, options.mode)) if edge.gate else edge
        for edge in graph.edges
    ]
    return graph.replace(list(graph), edges, graph.outputs)


def _regrouped(graph: Graph, edge: Edge, gate: Gate, mode: Mode) -> Gate:
    if gate.number:
        return _regrouped_number(graph, gate, mode)
    motif = next((scope for scope in graph.enclosing(edge.target) if scope.role != "choice"), None)
    if motif is None:
        return replace(gate, group=gate.name)
    if mode == "proxyless":
        if motif.weights:  # what shares its weights has one set of switches
            group = f"{motif.weights}:{local_name(motif.name, gate.name)}"
            return replace(gate, group=group, part=motif.kind, use=motif.weights)
        return replace(gate, group=gate.name, part=motif.kind, use=motif.text)
    if motif.role in ("cell", "share"):
        return gate
    return replace(gate, group=f"{motif.kind}:{local_name(motif.name, gate.name)}", part=motif.kind, use="")


def _regrouped_number(graph: Graph, gate: Gate, mode: Mode) -> Gate:
    """All gates of a number stay together: it belongs to where it is chosen, not to where it is used."""
    motif = next((scope for scope in graph.scopes_from(gate.home) if scope.role != "choice"), None)
    if motif is None or (mode == "proxy" and motif.role == "cell"):
        return gate
    name = f"{gate.number}={gate.label}"
    if mode == "proxyless":
        return replace(gate, group=f"{motif.name}.{name}", part=motif.kind, use=motif.text)
    return replace(gate, group=f"{motif.kind}:{name}", part=motif.kind, use="")
