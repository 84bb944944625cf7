"""Removes channels from a graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from bayesnas_graph.ir import Edge, Graph, Mask, Node, Shape
from bayesnas_graph.ir.ops import SelectOp
from bayesnas_graph.passes.drop_unused import drop_unused
from bayesnas_graph.passes.names import FreshNames, common_gates, common_scope

InputSlot = tuple[str, int]  # a node, and which of its inputs


@dataclass(frozen=True, eq=False)
class Narrowed:
    """A graph with fewer channels, and the channels that every new `select` in it selects."""

    graph: Graph
    selected: dict[str, tuple[int, ...]]


def narrow(graph: Graph, kept: Mapping[str, Mask], reads: Mapping[InputSlot, Mask]) -> Narrowed:
    """A graph in which every node has only the channels in `kept`.

    The kept channels must respect the ties between channels. Where `reads` lists fewer channels of a value
    than are kept, a `select` is inserted before the reader. Nodes that read the same channels of a value share one,
    unless their motifs would then depend on each other. A concatenation loses the inputs that have no channels left.
    """
    selects = _selects(graph, reads)
    nodes: list[Node] = []
    edges: list[Edge] = []
    shapes: dict[str, Shape] = {}
    selected: dict[str, tuple[int, ...]] = {}
    for node in graph:
        if node.op.is_input:
            nodes.append(node)
            shapes[node.name] = node.shape
            continue
        if not any(kept[node.name]):
            continue
        inputs = graph.inputs(node.name)
        if node.op.concatenates:
            inputs = tuple(edge for edge in inputs if any(kept[edge.source]))
        sides: list[Mask] = []
        sources: list[str] = []
        for slot, edge in enumerate(inputs):
            target = edge.target, edge.slot
            select = selects.get(target)
            source = select.name if select else edge.source
            side = reads.get(target, kept[edge.source])
            if select is not None and source not in shapes:
                shapes[source] = select.shape
                selected[source] = _within(side, kept[edge.source])
                nodes.append(replace(select, span=edge.span))
                edges.append(Edge(edge.source, source, 0, None, edge.span))
            edges.append(replace(edge, source=source, slot=slot))
            sources.append(source)
            sides.append(side)
        unchanged = all(map(all, (*sides, kept[node.name])))
        op = node.op if unchanged else node.op.narrowed(tuple(sides), kept[node.name])
        shapes[node.name] = op.shape(*(shapes[source] for source in sources))
        nodes.append(replace(node, op=op, shape=shapes[node.name]))
    return Narrowed(drop_unused(graph.replace(nodes, edges, graph.outputs)), selected)


def _selects(graph: Graph, reads: Mapping[InputSlot, Mask]) -> dict[InputSlot, Node]:
    """The `select`s before inputs of nodes."""
    together: dict[tuple[str, Mask], list[InputSlot]] = defaultdict(list)
    for (name, slot), side in reads.items():
        together[graph.inputs(name)[slot].source, side].append((name, slot))
    fresh = FreshNames(graph)
    found: dict[InputSlot, Node] = {}
    for (value, side), slots in together.items():
        source = graph[value]
        shared = common_scope(graph, [graph[name] for name, _ in slots], [source])
        by_scope: dict[str, list[InputSlot]] = defaultdict(list)
        for target in slots:
            by_scope[graph[target[0]].scope if shared is None else shared].append(target)
        for scope, targets in by_scope.items():
            name, shape = fresh.of_value(scope, source, "select"), (sum(side), *source.shape[1:])
            behind = common_gates([graph[name] for name, _ in targets])
            select = Node(name, SelectOp(sum(side)), shape, behind=behind, scope=scope)
            found.update(dict.fromkeys(targets, select))
    return found


def _within(mask: Mask, kept: Mask) -> tuple[int, ...]:
    """The positions of some channels among the kept channels.

    >>> _within((False, True, True), (False, True, True)), _within((False, False, True), (False, True, True))
    ((0, 1), (1,))
    """
    return tuple(i for i, is_there in enumerate(s for s, k in zip(mask, kept, strict=True) if k) if is_there)
