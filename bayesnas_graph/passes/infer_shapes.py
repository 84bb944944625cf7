"""Every shape from the shapes of the inputs."""

from __future__ import annotations

from dataclasses import replace

from bayesnas_graph.ir import Graph, Node, Shape
from bayesnas_graph.passes.options import DEFAULT, Options


def infer_shapes(graph: Graph, _options: Options = DEFAULT) -> Graph:
    """Compute the shape of every node again.

    A text is checked with its shapes, so nothing changes for a graph that was just elaborated; after a change to a
    graph, each node gets the shape that its operation gives. Raises ShapeError if an operation cannot take its inputs.
    """
    shapes: dict[str, Shape] = {}
    nodes: list[Node] = []
    for node in graph:
        inputs = [shapes[edge.source] for edge in graph.inputs(node.name)]
        shapes[node.name] = node.shape if node.op.is_input else node.op.shape(*inputs)
        nodes.append(replace(node, shape=shapes[node.name]))
    return graph.replace(nodes, graph.edges, graph.outputs)
