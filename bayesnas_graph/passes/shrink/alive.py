"""Which channels of a network do anything, by the zeros in its weights.

A channel carries something if it can be other than zero, and is needed if an output depends on it. Only what does both
counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayesnas_graph.ir import Edge, Graph, Kept, Shape, both, either
from bayesnas_graph.ir.ops import Input, Sum
from bayesnas_graph.passes import drop_unused

if TYPE_CHECKING:
    from torch import Tensor

Tensors = Mapping[str, Mapping[str, "Tensor"]]  # node -> name -> tensor


@dataclass(frozen=True, slots=True)
class Alive:
    """For every node of a graph the channels of its value that carry something, and those of them that are needed."""

    carrying: Mapping[str, Kept]
    counting: Mapping[str, Kept]


def alive(graph: Graph, tensors: Tensors) -> Alive:
    """Look through a graph without switches, forwards for what carries something, backwards for what is needed."""
    carrying: dict[str, Kept] = {}
    for node in graph:
        if isinstance(node.op, Input):
            carrying[node.name] = (True,) * node.shape[0]
            continue
        arriving = tuple(carrying[edge.source] for edge in graph.inputs(node.name))
        carrying[node.name] = node.op.carries(arriving, tensors.get(node.name, {}), *shapes(graph, node.name))
    needed = {node.name: (node.name in graph.outputs,) * node.shape[0] for node in graph}
    counting: dict[str, Kept] = {}
    for node in reversed(list(graph)):
        counting[node.name] = both(needed[node.name], carrying[node.name])
        if isinstance(node.op, Input):
            continue
        wanted = node.op.needs(counting[node.name], tensors.get(node.name, {}), *shapes(graph, node.name))
        for edge, some in zip(graph.inputs(node.name), wanted, strict=True):
            needed[edge.source] = either(needed[edge.source], some)
    return Alive(carrying, counting)


def without_dead_terms(graph: Graph, found: Alive) -> Graph:
    """A graph whose sums have lost the terms that add nothing to what counts, and all that only these are made of.

    A sum of nothing keeps its first term. A mean loses none: it divides by their number.
    """
    edges: list[Edge] = []
    for node in graph:
        inputs = graph.inputs(node.name)
        if isinstance(node.op, Sum):
            counting = found.counting[node.name]
            inputs = tuple(e for e in inputs if any(both(found.carrying[e.source], counting))) or inputs[:1]
        edges += [Edge(edge.source, edge.target, slot, None, edge.span) for slot, edge in enumerate(inputs)]
    return drop_unused(graph.replace(graph, edges, graph.outputs))


def shapes(graph: Graph, name: str) -> tuple[Shape, ...]:
    """The shapes of what a node reads."""
    return tuple(graph[edge.source].shape for edge in graph.inputs(name))
