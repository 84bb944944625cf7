"""Which channels of a network have an effect, judging by the zeros in its weights.

A channel has an effect if it can be nonzero and an output depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayesnas_graph.ir import Edge, Graph, Mask, intersection, union
from bayesnas_graph.passes import drop_unused

if TYPE_CHECKING:
    from torch import Tensor

Tensors = Mapping[str, Mapping[str, "Tensor"]]  # node -> name -> tensor


@dataclass(frozen=True, slots=True)
class Alive:
    """For every node of a graph, the channels of its value that can be nonzero, and those that have an effect."""

    nonzero: Mapping[str, Mask]
    effective: Mapping[str, Mask]


def alive(graph: Graph, tensors: Tensors) -> Alive:
    """Walk through a graph without switches: forwards for nonzero channels, backwards for needed ones.

    A node that shares its weights has all its channels or none: another use may need what this one does not.
    """
    nonzero: dict[str, Mask] = {}
    for node in graph:
        if node.op.is_input:
            nonzero[node.name] = (True,) * node.shape[0]
            continue
        arriving, own = tuple(nonzero[edge.source] for edge in graph.inputs(node.name)), tensors.get(node.name, {})
        nonzero[node.name] = node.op.nonzero_outputs(arriving, own, *graph.input_shapes(node.name))
        if node.name in graph.shared:
            nonzero[node.name] = (True,) * node.shape[0]
    needed = {node.name: (node.name in graph.outputs,) * node.shape[0] for node in graph}
    effective: dict[str, Mask] = {}
    for node in reversed(list(graph)):
        effective[node.name] = intersection(needed[node.name], nonzero[node.name])
        if node.name in graph.shared:
            effective[node.name] = (any(needed[node.name]),) * node.shape[0]
        if node.op.is_input:
            continue
        wanted = node.op.needed_inputs(effective[node.name], tensors.get(node.name, {}), *graph.input_shapes(node.name))
        for edge, mask in zip(graph.inputs(node.name), wanted, strict=True):
            needed[edge.source] = union(needed[edge.source], mask)
    return Alive(nonzero, effective)


def without_dead_terms(graph: Graph, channels: Alive) -> Graph:
    """A graph without the terms of sums that have no effect, and without everything that only they depend on.

    A sum without any live term keeps its first. A mean keeps all: it divides by their number.
    """
    edges: list[Edge] = []
    for node in graph:
        inputs = graph.inputs(node.name)
        if node.op.adds:
            effective = channels.effective[node.name]
            inputs = tuple(e for e in inputs if any(intersection(channels.nonzero[e.source], effective))) or inputs[:1]
        edges += [Edge(edge.source, edge.target, slot, None, edge.span) for slot, edge in enumerate(inputs)]
    return drop_unused(graph.replace(graph, edges, graph.outputs))
