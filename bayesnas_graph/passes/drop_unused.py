"""A graph without what no output is made of."""

from __future__ import annotations

from bayesnas_graph.ir import Graph
from bayesnas_graph.ir.ops import Input


def drop_unused(graph: Graph) -> Graph:
    """Leave out every node that reaches no output. The inputs of the network stay, so that it is called as before."""
    used = set(graph.outputs)
    for node in reversed(list(graph)):
        if node.name in used:
            used |= {edge.source for edge in graph.inputs(node.name)}
    nodes = [node for node in graph if node.name in used or isinstance(node.op, Input)]
    return graph.replace(nodes, [edge for edge in graph.edges if edge.target in used], graph.outputs)
