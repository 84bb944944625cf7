"""Removes all switches from a graph; the result is a fixed network."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from bayesnas_graph.ir import Edge, Graph, Node
from bayesnas_graph.ir.ops import Sum


def plain(graph: Graph) -> Graph:
    """The fixed network in which all open switches of a graph stay, each as if its gate were 1.

    A choice becomes the sum of its candidates. Nodes that only pass on a value are removed: switches, identities, joins
    of a single value. A sum that is read only by another sum of the same motif becomes part of that sum.
    """
    return _without_inner_sums(_without_pass_throughs(graph))


def _without_pass_throughs(graph: Graph) -> Graph:
    value_of: dict[str, str] = {}  # every node -> the node that has its value
    nodes: list[Node] = []
    edges: list[Edge] = []
    for node in graph:
        inputs = [replace(edge, source=value_of[edge.source], gate=None) for edge in graph.inputs(node.name)]
        is_alone = node.op.is_join and len(inputs) == 1 and graph[inputs[0].source].shape == node.shape
        if node.op.passes_through or is_alone:
            value_of[node.name] = inputs[0].source
            continue
        value_of[node.name] = node.name
        nodes.append(replace(node, op=Sum()) if node.op.is_choice else node)
        edges += inputs
    return _rebuilt(graph, nodes, edges, tuple(value_of[name] for name in graph.outputs))


def _without_inner_sums(graph: Graph) -> Graph:
    readers = Counter(edge.source for edge in graph.edges)
    readers.update(graph.outputs)
    terms: dict[str, list[Edge]] = {}  # a sum -> its terms
    inner: set[str] = set()
    for node in graph:
        if not node.op.adds:
            continue
        terms[node.name] = []
        for edge in graph.inputs(node.name):
            together = edge.source in terms and graph.enclosing(edge.source) == graph.enclosing(node.name)
            is_inner = together and readers[edge.source] == 1
            inner |= {edge.source} if is_inner else set()
            terms[node.name] += terms[edge.source] if is_inner else [edge]
    nodes = [node for node in graph if node.name not in inner]
    edges = [
        replace(edge, target=node.name, slot=slot)
        for node in nodes
        for slot, edge in enumerate(terms.get(node.name, graph.inputs(node.name)))
    ]
    return _rebuilt(graph, nodes, edges, graph.outputs)


def _rebuilt(graph: Graph, nodes: list[Node], edges: list[Edge], outputs: tuple[str, ...]) -> Graph:
    """A graph without the scopes of choices."""
    motifs = {scope.name for scope in graph.scopes if scope.role != "choice"}
    return graph.replace(nodes, edges, outputs, constraints=()).keep_scopes(motifs)
