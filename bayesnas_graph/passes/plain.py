"""A graph without switches: what is left of it is there for good."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from bayesnas_graph.ir import Edge, Graph, Node
from bayesnas_graph.ir.ops import Choice, Gated, Identity, Join, Sum


def plain(graph: Graph) -> Graph:
    """The fixed network that is left when all open switches of a graph stay, each as if its gate were 1.

    A choice is the sum of its candidates. What only hands on a value is gone: switches, identities, joins of a single
    value; and a sum that only another sum of the same motif reads is part of that.
    """
    return _without_inner_sums(_without_bare(graph))


def _without_bare(graph: Graph) -> Graph:
    """Without what only hands on its input."""
    stands_for: dict[str, str] = {}  # every node -> the one that has its value
    nodes: list[Node] = []
    edges: list[Edge] = []
    for node in graph:
        inputs = [replace(edge, source=stands_for[edge.source], gate=None) for edge in graph.inputs(node.name)]
        if isinstance(node.op, Gated | Identity) or (isinstance(node.op, Join) and len(inputs) == 1):
            stands_for[node.name] = inputs[0].source
            continue
        stands_for[node.name] = node.name
        nodes.append(replace(node, op=Sum()) if isinstance(node.op, Choice) else node)
        edges += inputs
    return _rebuilt(graph, nodes, edges, tuple(stands_for[name] for name in graph.outputs))


def _without_inner_sums(graph: Graph) -> Graph:
    readers = Counter(edge.source for edge in graph.edges)
    for name in graph.outputs:
        readers[name] += 1
    terms: dict[str, list[Edge]] = {}  # a sum -> what it adds up
    inner: set[str] = set()
    for node in graph:
        if not isinstance(node.op, Sum):
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
    """Of the scopes those stay that are motifs: there is no choice any more."""
    return Graph(graph.name, nodes, edges, outputs, [scope for scope in graph.scopes if scope.role != "choice"])
