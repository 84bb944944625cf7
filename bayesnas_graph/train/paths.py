"""Dropping paths at random during training, by operations that are added to the graph.

A path is a term of a sum that nothing else reads. The input of a skip connection is also read elsewhere, and is never
dropped.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import ClassVar

from bayesnas_graph.ir import Edge, Expression, Graph, Node, Shape
from bayesnas_graph.ir.ops.base import Untrained
from bayesnas_graph.passes.names import FreshNames


@dataclass(frozen=True)
class Dropped(Untrained):
    """A value that may be dropped, with the probability that `runtime.dropping` sets."""

    name: ClassVar[str] = "dropped"

    def shape(self, *inputs: Shape) -> Shape:
        return inputs[0]

    def torch(self, *inputs: Shape) -> Expression:
        return Expression("dropped({0})", helper="dropped")


def paths(graph: Graph) -> tuple[Edge, ...]:
    """Return the edges that may be dropped."""
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
    """Return the network with an operation that may drop each path."""
    droppable, fresh = set(paths(graph)), FreshNames(graph)
    nodes: list[Node] = []
    edges: list[Edge] = []
    for node in graph:
        for edge in graph.inputs(node.name):
            if edge not in droppable:
                edges.append(edge)
                continue
            source = graph[edge.source]
            name = fresh.of_value(node.scope, source, "dropped")
            nodes.append(Node(name, Dropped(), source.shape, behind=node.behind, scope=node.scope))
            edges += [Edge(edge.source, name, 0), replace(edge, source=name)]
        nodes.append(node)
    return graph.replace(nodes, edges, graph.outputs)


def _is_own(graph: Graph, value: str, readers: Counter[str]) -> bool:
    """Return whether a value has a single reader. Operations that pass a value through are followed to their input."""
    while readers[value] == 1 and (graph[value].op.passes_through or graph[value].op.only_scales):
        value = graph.inputs(value)[0].source
    return readers[value] == 1 and not graph[value].op.is_input
