"""Computes dilated convolutions without dilation."""

from __future__ import annotations

from dataclasses import replace

from bayesnas_graph.ir import Edge, Graph, Node
from bayesnas_graph.passes.names import FreshNames, prefix_of
from bayesnas_graph.passes.options import DEFAULT, Options


def split_dilated(graph: Graph, options: Options = DEFAULT) -> Graph:
    """Compute dilated convolutions of single channels on the phases of their input.

    With a dilation of 2, an output reads only every second row and column. So the four images made of every second
    row and column can be convolved separately, with the same weights but without dilation, and then interleaved:

        x -> depthwise(3, dilation = 2)       becomes    x -> phases -> depthwise(3) -> interleaved

    With a stride of 2 as well, only one of the four is read:

        x -> depthwise(3, 2, dilation = 2)    becomes    x -> subsampled -> depthwise(3)

    All convolutions of one value share its phases, once these are merged. This pays on CPUs, where the backward pass of
    a dilated convolution takes about ten times as long; on other devices the graph is not changed.
    """
    if options.device != "cpu":
        return graph
    fresh = FreshNames(graph)
    renamed: dict[str, str] = {}  # a convolution -> the node that now has its value
    nodes: list[Node] = []
    edges: list[Edge] = []
    for node in graph:
        inputs = [replace(edge, source=renamed.get(edge.source, edge.source)) for edge in graph.inputs(node.name)]
        shapes = [graph[edge.source].shape for edge in graph.inputs(node.name)]
        form = node.op.undilated(*shapes)
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
            renamed[node.name] = fresh.of_value(prefix, node.name, after.label)
            nodes.append(Node(renamed[node.name], after, node.shape, node.span))
            edges.append(Edge(node.name, renamed[node.name], 0, span=edge.span))
    return graph.replace(nodes, edges, [renamed.get(name, name) for name in graph.outputs])
