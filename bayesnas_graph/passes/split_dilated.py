"""Dilated convolutions without dilation."""

from __future__ import annotations

from dataclasses import replace

from bayesnas_graph.ir import Edge, Graph, Node, Op, Shape
from bayesnas_graph.ir.ops import Depthwise, Interleaved, Phases, Subsampled
from bayesnas_graph.ir.ops.base import same
from bayesnas_graph.passes.names import Fresh, prefix_of


def split_dilated(graph: Graph) -> Graph:
    """Compute convolutions of each channel by itself, if dilated, on the phases of their input.

    With a dilation of 2, an output reads only every second row and column. So the four images that these
    make can be convolved each by itself, by the same weights without dilation, and put together again:

        x -> depthwise(3, dilation = 2)       becomes    x -> phases -> depthwise(3) -> interleaved

    With a stride of 2 as well, one of the four is all that is read:

        x -> depthwise(3, 2, dilation = 2)    becomes    x -> subsampled -> depthwise(3)

    All convolutions of one value share its phases, once they are merged. It pays where the kernels for
    dilated convolutions are poor: on CPUs their backward pass takes about ten times that of others.
    """
    fresh = Fresh(graph)
    now: dict[str, str] = {}  # a convolution -> the node that has its value now
    nodes: list[Node] = []
    edges: list[Edge] = []
    for node in graph:
        inputs = [replace(edge, source=now.get(edge.source, edge.source)) for edge in graph.inputs(node.name)]
        shapes = [graph[edge.source].shape for edge in graph.inputs(node.name)]
        form = _form(node.op, *shapes) if len(shapes) == 1 else None
        if form is None:
            nodes.append(node)
            edges += inputs
            continue
        before, op, after = form
        (edge,) = inputs
        prefix = prefix_of(graph, node.name)
        parts = Node(fresh.of_value(prefix, edge.source, before.label), before, before.shape(*shapes), node.span)
        nodes += [parts, replace(node, op=op)]
        edges += [replace(edge, target=parts.name), Edge(parts.name, node.name, 0, span=edge.span)]
        if after is not None:
            now[node.name] = fresh.of_value(prefix, node.name, after.label)
            nodes.append(Node(now[node.name], after, node.shape, node.span))
            edges.append(Edge(node.name, now[node.name], 0, span=edge.span))
    return graph.replace(nodes, edges, [now.get(name, name) for name in graph.outputs])


def _form(op: Op, shape: Shape) -> tuple[Op, Op, Op | None] | None:
    """What comes before, in place of and after a convolution; None where it is left as it is."""
    if not isinstance(op, Depthwise) or op.dilation == 1:
        return None
    step = op.dilation
    padding = same(op.k, step) if op.padding is None else op.padding
    if padding % step:
        return None
    plain = replace(op, dilation=1, padding=padding // step)
    if op.stride == 1 and op.shape(shape)[1:] == shape[1:] and not any(size % step for size in shape[1:]):
        return Phases(step), plain, Interleaved(step)
    before, plain = Subsampled(step), replace(plain, stride=max(1, op.stride // step))
    if op.stride % step == 0 and plain.shape(before.shape(shape)) == op.shape(shape):
        return before, plain, None
    return None
