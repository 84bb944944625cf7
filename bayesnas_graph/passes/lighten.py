"""Less memory for the backward pass."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace

from bayesnas_graph.ir import Graph, Node, Op
from bayesnas_graph.ir.ops import BatchNorm, Conv, Depthwise, LightBatchNorm, Relu, ReluConv, ReluDepthwise

_LIGHT: dict[type[Op], type[Op]] = {Conv: ReluConv, Depthwise: ReluDepthwise}


def lighten(graph: Graph) -> Graph:
    """Write operations that keep less for the backward pass in place of others.

    A batch norm without weights keeps its output, which is kept anyway for the gradient of a gate, and no
    longer its input. A ReLU that a convolution alone reads is computed again by the convolution, and not
    kept. Neither changes a value, and the time it takes is that of the ReLU.
    """
    readers = Counter(edge.source for edge in graph.edges)
    readers.update(graph.outputs)
    taken: dict[str, str] = {}  # a convolution -> the ReLU that it computes from now on
    for node in graph:
        inputs = graph.inputs(node.name)
        if type(node.op) in _LIGHT and isinstance(graph[inputs[0].source].op, Relu) and readers[inputs[0].source] == 1:
            taken[node.name] = inputs[0].source
    gone = set(taken.values())
    nodes = [_lightened(node, node.name in taken) for node in graph if node.name not in gone]
    edges = []
    for edge in graph.edges:
        if edge.target in taken:
            (inner,) = graph.inputs(taken[edge.target])
            edge = replace(edge, source=inner.source)
        if edge.target not in gone:
            edges.append(edge)
    return graph.replace(nodes, edges, graph.outputs)


def _lightened(node: Node, takes_relu: bool) -> Node:
    cls = _LIGHT.get(type(node.op)) if takes_relu else None
    if type(node.op) is BatchNorm and not node.op.affine:
        cls = LightBatchNorm
    if cls is None:
        return node
    return replace(node, op=cls(**{field.name: getattr(node.op, field.name) for field in fields(node.op)}))
