"""Merges equal operations."""

from __future__ import annotations

from dataclasses import replace

from bayesnas_graph.ir import Edge, Graph, Node, Op
from bayesnas_graph.passes.names import FreshNames, cell_of, common_gates, common_scope
from bayesnas_graph.passes.options import DEFAULT, Options


def merge_common_subexpressions(graph: Graph, _options: Options = DEFAULT) -> Graph:
    """Compute each expression once.

    Two nodes are one expression if operation, shapes and inputs agree, including gates, so that a search can still
    distinguish them. Operations with weights of their own are not merged: equal text does not mean equal weights. Those
    that share their weights are, except batch norms, which update their statistics in every use. Norms without weights
    are merged, because equal inputs have equal statistics. Nothing is merged across the border of a cell.

    Expressions that several motifs share move out of them: the ReLU at the start of every candidate that reads `p`
    becomes `p_relu`, which the candidates read.
    """
    classes = _classes(graph)
    members: dict[str, list[Node]] = {}
    for node in graph:
        members.setdefault(classes[node.name], []).append(node)
    fresh = FreshNames(graph)
    merged: dict[str, Node] = {}  # the first node of a class -> the node of the class
    edges: list[Edge] = []
    for first, same in members.items():
        inputs = graph.inputs(first)
        sources = [merged[classes[edge.source]] for edge in inputs]
        node = same[0] if len(same) == 1 else _merged(graph, same, sources, fresh)
        merged[first] = node
        edges += [
            replace(edge, source=source.name, target=node.name) for edge, source in zip(inputs, sources, strict=True)
        ]
    outputs = [merged[classes[name]].name for name in graph.outputs]
    return graph.replace(merged.values(), edges, outputs, constraints=())  # they are about edges that may be merged


def _classes(graph: Graph) -> dict[str, str]:
    """For every node, the first node that computes the same."""
    first: dict[object, str] = {}
    classes: dict[str, str] = {}
    for node in graph:
        read = tuple((classes[edge.source], edge.gate) for edge in graph.inputs(node.name))
        shared = node.weights if node.name in graph.shared else ""
        expression = type(node.op), node.op, read, cell_of(graph, node.name), shared
        if read and (_has_fixed_weights(node.op) if shared else node.op.mergeable):
            classes[node.name] = first.setdefault(expression, node.name)
        else:
            classes[node.name] = node.name
    return classes


def _has_fixed_weights(op: Op) -> bool:
    """Whether using the same weights twice on equal inputs gives equal outputs, and changes nothing else."""
    return bool(op.scale_tensors()) and not op.uses_batch_statistics


def _together(equal_nodes: list[Node]) -> tuple[tuple[str, ...], ...]:
    """The nodes that a merged node replaces, part by part."""
    parts = zip(*(node.stands_for for node in equal_nodes), strict=True)
    return tuple(tuple(name for names in part for name in names) for part in parts)


def _merged(graph: Graph, same: list[Node], sources: list[Node], fresh: FreshNames) -> Node:
    """One node for several: in the scope that all of them share, if it can be moved there."""
    node = replace(same[0], replaces=_together(same), behind=common_gates(same))
    scope = common_scope(graph, same, sources)
    if scope is None or scope == node.scope:
        return node
    name = fresh.of_value(scope, sources[0], node.op.label)
    return replace(node, name=name, scope=scope)
