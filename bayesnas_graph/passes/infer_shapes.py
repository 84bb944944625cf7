"""Infers all shapes from the shapes of the inputs."""

from __future__ import annotations

from dataclasses import replace

from bayesnas_graph.ir import Graph, Node, Shape
from bayesnas_graph.passes.options import DEFAULT, Options


def infer_shapes(graph: Graph, _options: Options = DEFAULT) -> Graph:
    """Recompute the shape of every node.

    Elaboration already infers shapes, so this changes nothing in a graph that was just elaborated; after a change to a
    graph, it updates the shapes. Raises ShapeError if an operation cannot take its inputs.
    """
    shapes: dict[str, Shape] = {}
    nodes: list[Node] = []
    for node in graph:
        inputs = [shapes[edge.source] for edge in graph.inputs(node.name)]
        shapes[node.name] = node.shape if node.op.is_input else node.op.shape(*inputs)
        nodes.append(replace(node, shape=shapes[node.name]))
    return graph.replace(nodes, graph.edges, graph.outputs)
