"""Checks that the outputs of a network still depend on its inputs when layers or weights are removed."""

from __future__ import annotations

from collections.abc import Collection

from bayesnas_graph.codegen.emit.weights import ByNode
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.shrink.alive import alive


def is_connected(graph: Graph, removed: Collection[str]) -> bool:
    """Return whether all outputs are reached without these nodes. Sums and concatenations work with fewer inputs."""
    reached: set[str] = set()
    for node in graph:
        inputs = [edge.source in reached for edge in graph.inputs(node.name)]
        if node.name not in removed and (all(inputs) or (any(inputs) and node.op.tolerates_missing_inputs)):
            reached.add(node.name)
    return all(name in reached for name in graph.outputs)


def gets_through(graph: Graph, weights: ByNode) -> bool:
    """Return whether the outputs depend on the inputs, channel by channel. Layers that read only zeros may remain."""
    effective = alive(graph, weights).effective
    return any(any(effective[node.name]) for node in graph if node.op.is_input)
