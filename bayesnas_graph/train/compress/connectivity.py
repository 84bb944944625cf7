"""Whether something still gets from the inputs of a network to its outputs when layers or weights are gone."""

from __future__ import annotations

from collections.abc import Collection

from bayesnas_graph.codegen.emit.weights import ByNode
from bayesnas_graph.ir import Graph
from bayesnas_graph.ir.ops import Input
from bayesnas_graph.passes.shrink.alive import alive


def is_connected(graph: Graph, gone: Collection[str]) -> bool:
    """Whether all outputs are reached without these nodes. Sums and concatenations do with what is left."""
    there: set[str] = set()
    for node in graph:
        inputs = [edge.source in there for edge in graph.inputs(node.name)]
        if node.name not in gone and (all(inputs) or (any(inputs) and node.op.bears_losses)):
            there.add(node.name)
    return all(name in there for name in graph.outputs)


def gets_through(graph: Graph, weights: ByNode) -> bool:
    """Whether the outputs depend on the inputs, as far as channels tell. Layers may be left that read only zeros."""
    counting = alive(graph, weights).counting
    return any(any(counting[node.name]) for node in graph if isinstance(node.op, Input))
