"""Merges equal operations without weights."""

from __future__ import annotations

from dataclasses import replace

from bayesnas_graph.ir import Edge, Graph, Node
from bayesnas_graph.passes.names import FreshNames, cell_of, common_prefix, prefix_of
from bayesnas_graph.passes.options import DEFAULT, Options


def merge_common_subexpressions(graph: Graph, _options: Options = DEFAULT) -> Graph:
    """Compute each expression once.

    Two nodes are one expression if operation, shapes and inputs agree, including gates, so that a search can still
    distinguish them. Operations with weights are not merged: equal text does not mean equal weights. Norms without
    weights are merged, because equal inputs have equal statistics. Nothing is merged across the border of a cell.

    Expressions that several motifs share move out of them: the ReLU at the start of every candidate that reads `p`
    becomes `p_relu`, which the candidates read.
    """
    classes = _classes(graph)
    members: dict[str, list[Node]] = {}
    for node in graph:
        members.setdefault(classes[node.name], []).append(node)
    fresh = FreshNames(graph)
    names: dict[str, str] = {}  # the first node of a class -> the name of the class
    nodes: list[Node] = []
    edges: list[Edge] = []
    for first, equal_nodes in members.items():
        inputs = [replace(edge, source=names[classes[edge.source]]) for edge in graph.inputs(first)]
        name = first if len(equal_nodes) == 1 else _moved(graph, equal_nodes, [edge.source for edge in inputs], fresh)
        names[first] = name
        nodes.append(
            replace(
                equal_nodes[0],
                name=name,
                replaces=_together(equal_nodes) if len(equal_nodes) > 1 else equal_nodes[0].replaces,
            )
        )
        edges += [replace(edge, target=name) for edge in inputs]
    return graph.replace(nodes, edges, [names[classes[name]] for name in graph.outputs])


def _classes(graph: Graph) -> dict[str, str]:
    """For every node, the first node that computes the same."""
    first: dict[object, str] = {}
    classes: dict[str, str] = {}
    for node in graph:
        read = tuple((classes[edge.source], edge.gate) for edge in graph.inputs(node.name))
        expression = type(node.op), node.op, read, cell_of(graph, node.name)
        if read and node.op.mergeable:
            classes[node.name] = first.setdefault(expression, node.name)
        else:
            classes[node.name] = node.name
    return classes


def _together(equal_nodes: list[Node]) -> tuple[tuple[str, ...], ...]:
    """The nodes that a merged node replaces, part by part."""
    parts = zip(*(node.stands_for for node in equal_nodes), strict=True)
    return tuple(tuple(name for names in part for name in names) for part in parts)


def _moved(graph: Graph, equal_nodes: list[Node], sources: list[str], fresh: FreshNames) -> str:
    """The name of a merged node: in the scope that all its uses share, if it can be moved there."""
    prefix = common_prefix(graph, [node.name for node in equal_nodes], sources)
    if prefix is None or prefix == prefix_of(graph, equal_nodes[0].name):
        return equal_nodes[0].name
    return fresh.of_value(prefix, sources[0], equal_nodes[0].op.label)
