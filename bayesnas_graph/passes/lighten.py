"""Reduces the memory needed for the backward pass."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from bayesnas_graph.ir import Graph, Node, Op
from bayesnas_graph.passes.options import DEFAULT, Options


def lighten(graph: Graph, _options: Options = DEFAULT) -> Graph:
    """Replace operations by forms that keep less for the backward pass.

    A batch norm without weights keeps its output, which is kept anyway for the gradient of a gate, instead of its
    input. A maximum pool finds the largest values again instead of keeping where they are. A ReLU that only a
    convolution reads is recomputed by the convolution instead of being kept. None of this changes any value; the cost
    is the time of the pools and ReLUs. A convolution that shares its weights absorbs nothing: the ReLU may be
    missing before another use.
    """
    readers = Counter(edge.source for edge in graph.edges)
    readers.update(graph.outputs)
    absorbed: dict[str, str] = {}  # a node -> the node before it, which it absorbs
    ops: dict[str, Op] = {}
    for node in graph:
        ops[node.name] = node.op.light_form()
        before = _only_input(graph, node)
        alone = before is not None and readers[before.name] == 1 and node.name not in graph.shared
        form = node.op.absorbing(before.op) if before is not None and alone else None
        if before is not None and form is not None:
            absorbed[node.name], ops[node.name] = before.name, form
    removed = set(absorbed.values())
    nodes = [replace(node, op=ops[node.name]) for node in graph if node.name not in removed]
    edges = []
    for edge in graph.edges:
        if edge.target in absorbed:
            (inner,) = graph.inputs(absorbed[edge.target])
            edge = replace(edge, source=inner.source)
        if edge.target not in removed:
            edges.append(edge)
    return graph.replace(nodes, edges, graph.outputs)


def _only_input(graph: Graph, node: Node) -> Node | None:
    edges = graph.inputs(node.name)
    return graph[edges[0].source] if len(edges) == 1 else None
