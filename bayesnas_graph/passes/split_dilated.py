"""Computes dilated convolutions without dilation."""

from __future__ import annotations

from dataclasses import replace

from bayesnas_graph.ir import Edge, Graph, Node
from bayesnas_graph.passes.names import FreshNames
from bayesnas_graph.passes.options import DEFAULT, Options


def split_dilated(graph: Graph, options: Options = DEFAULT) -> Graph:
    """Compute dilated convolutions of single channels on the phases of their input.

    With a dilation of 2, an output reads only every second row and column. So the four images made of every second
    row and column can be convolved separately, with the same weights but without dilation, and then interleaved:

        x -> depthwise(3, dilation = 2)       becomes    x -> phases -> depthwise(3) -> interleaved

    With a stride of 2 as well, only one of the four is read:

        x -> depthwise(3, 2, dilation = 2)    becomes    x -> subsampled -> depthwise(3)

    All convolutions of one value share its phases, once these are merged. Convolutions that share their weights stay as
    they are: whether one can be split depends on its input. This pays on CPUs, where the backward pass of
    a dilated convolution takes about ten times as long; on other devices the graph is not changed.
    """
    if options.device != "cpu":
        return graph
    fresh = FreshNames(graph)
    moved: dict[str, Node] = {}  # a convolution -> the node that now has its value
    nodes: list[Node] = []
    edges: list[Edge] = []
    for node in graph:
        sources = [moved.get(edge.source, graph[edge.source]) for edge in graph.inputs(node.name)]
        inputs = [replace(edge, source=s.name) for edge, s in zip(graph.inputs(node.name), sources, strict=True)]
        shapes = [source.shape for source in sources]
        form = None if node.name in graph.shared else node.op.undilated(*shapes)
        if form is None:
            nodes.append(node)
            edges += inputs
            continue
        before, op, after = form
        (edge,) = inputs
        name, shape = fresh.of_value(node.scope, sources[0], before.label), before.shape(*shapes)
        parts = Node(name, before, shape, node.span, behind=node.behind, scope=node.scope)
        nodes += [parts, replace(node, op=op)]
        edges += [replace(edge, target=parts.name), Edge(parts.name, node.name, 0, span=edge.span)]
        if after is not None:
            name = fresh.of_value(node.scope, node, after.label)
            whole = Node(name, after, node.shape, node.span, behind=node.behind, scope=node.scope)
            moved[node.name] = whole
            nodes.append(whole)
            edges.append(Edge(node.name, whole.name, 0, span=edge.span))
    return graph.replace(nodes, edges, [moved[name].name if name in moved else name for name in graph.outputs])
