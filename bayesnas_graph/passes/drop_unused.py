"""Removes nodes that no output depends on."""

from __future__ import annotations

from bayesnas_graph.ir import Graph


def drop_unused(graph: Graph) -> Graph:
    """Remove every node that reaches no output. The inputs of the network stay, to preserve its signature."""
    used = set(graph.outputs)
    for node in reversed(list(graph)):
        if node.name in used:
            used |= {edge.source for edge in graph.inputs(node.name)}
    nodes = [node for node in graph if node.name in used or node.op.is_input]
    return graph.replace(nodes, [edge for edge in graph.edges if edge.target in used], graph.outputs)
