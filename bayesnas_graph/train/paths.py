"""Paths that are left out at random while a network is trained, as a graph that has a place for it.

A path is a term of a sum that is computed for this sum alone: nothing else reads it. A value that a sum only takes
over, as it does from a skip connection, is read elsewhere, too, and is never left out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import ClassVar

from bayesnas_graph.ir import Edge, Expression, Graph, Node, Shape
from bayesnas_graph.ir.ops.base import Untrained
from bayesnas_graph.passes.names import FreshNames, prefix_of


@dataclass(frozen=True)
class Dropped(Untrained):
    """A value that may be left out, which `runtime.dropping` tells when the network runs."""

    name: ClassVar[str] = "dropped"

    def shape(self, *inputs: Shape) -> Shape:
        return inputs[0]

    def torch(self, *inputs: Shape) -> Expression:
        return Expression("dropped({0})", helper="dropped")


def paths(graph: Graph) -> tuple[Edge, ...]:
    """The edges that are paths."""
    readers = Counter(edge.source for edge in graph.edges)
    readers.update(graph.outputs)
    return tuple(
        edge
        for node in graph
        if node.op.adds and len(graph.inputs(node.name)) > 1
        for edge in graph.inputs(node.name)
        if _is_own(graph, edge.source, readers)
    )


def with_dropped_paths(graph: Graph) -> Graph:
    """The same network, in which every path may be left out."""
    found, fresh = set(paths(graph)), FreshNames(graph)
    nodes: list[Node] = []
    edges: list[Edge] = []
    for node in graph:
        for edge in graph.inputs(node.name):
            if edge not in found:
                edges.append(edge)
                continue
            name = fresh.of_value(prefix_of(graph, node.name), edge.source, "dropped")
            nodes.append(Node(name, Dropped(), graph[edge.source].shape))
            edges += [Edge(edge.source, name, 0), replace(edge, source=name)]
        nodes.append(node)
    return graph.replace(nodes, edges, graph.outputs)


def _is_own(graph: Graph, value: str, readers: Counter[str]) -> bool:
    """Whether a value is computed for its one reader. What is handed on unchanged is the value that is handed on."""
    while readers[value] == 1 and (graph[value].op.passes_through or graph[value].op.only_scales):
        value = graph.inputs(value)[0].source
    return readers[value] == 1 and not graph[value].op.is_input
