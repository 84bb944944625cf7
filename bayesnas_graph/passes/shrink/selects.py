"""Simplifies the `select`s of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bayesnas_graph.ir import Edge, Graph, Node
from bayesnas_graph.passes import drop_unused

Selected = Mapping[str, tuple[int, ...]]  # a select -> the channels that it selects


def simple_selects(graph: Graph, selected: Selected) -> tuple[Graph, Selected]:
    """A graph in which no `select` reads another, none selects everything, and no two in a motif are equal."""
    value_of: dict[str, str] = {}  # every node -> the node that has its value
    made_of: dict[str, tuple[str, tuple[int, ...]]] = {}  # a select -> the value it reads, and the channels
    first_of: dict[tuple[str, str, tuple[int, ...]], str] = {}
    nodes: list[Node] = []
    edges: list[Edge] = []
    for node in graph:
        inputs = [replace(edge, source=value_of[edge.source]) for edge in graph.inputs(node.name)]
        value_of[node.name] = node.name
        if node.op.selects:
            source, numbers = inputs[0].source, selected[node.name]
            if source in made_of:
                source, before = made_of[source]
                numbers = tuple(before[number] for number in numbers)
            everything = numbers == tuple(range(graph[source].shape[0]))
            first = first_of.setdefault((node.scope, source, numbers), node.name)
            value_of[node.name] = source if everything else first
            if value_of[node.name] != node.name:
                continue
            made_of[node.name] = source, numbers
            inputs = [replace(inputs[0], source=source)]
        nodes.append(node)
        edges += inputs
    outputs = [value_of[name] for name in graph.outputs]
    simplified = drop_unused(graph.replace(nodes, edges, outputs))
    return simplified, {name: numbers for name, (_, numbers) in made_of.items() if name in simplified.nx}
