"""Every shape from the shapes of the inputs."""

from __future__ import annotations

from dataclasses import replace

from bayesnas_graph.ir import Graph, Node, Shape
from bayesnas_graph.ir.ops import Input


def infer_shapes(graph: Graph) -> Graph:
    """Compute the shape of every node anew.

    A text is checked with its shapes, so for a graph that was just elaborated nothing changes. After a
    change to the graph, a node keeps what its operation says and not what it was told before. Raises
    ShapeError where an operation cannot take its inputs.
    """
    shapes: dict[str, Shape] = {}
    nodes: list[Node] = []
    for node in graph:
        if isinstance(node.op, Input):
            shapes[node.name] = node.shape
        else:
            shapes[node.name] = node.op.shape(*(shapes[edge.source] for edge in graph.inputs(node.name)))
        nodes.append(replace(node, shape=shapes[node.name]))
    return graph.replace(nodes, graph.edges, graph.outputs)
