"""The same graph with fewer channels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from bayesnas_graph.ir import Edge, Graph, Kept, Node, Shape
from bayesnas_graph.ir.ops import Input, Select
from bayesnas_graph.ir.ops.join import Concat
from bayesnas_graph.passes.drop_unused import drop_unused
from bayesnas_graph.passes.names import Fresh, common_prefix, prefix_of

Place = tuple[str, int]  # a node, and which of its inputs


@dataclass(frozen=True, eq=False)
class Narrowed:
    """A graph with fewer channels, and for every `select` that is new in it the channels that it selects."""

    graph: Graph
    selected: dict[str, tuple[int, ...]]


def narrow(graph: Graph, kept: Mapping[str, Kept], reads: Mapping[Place, Kept]) -> Narrowed:
    """What is left of a graph when every node keeps some of its channels.

    What a node keeps must suit what it is tied to. Where a node reads fewer channels of a value than that keeps, as
    `reads` tells, a `select` is put in front of it, and those who read the same channels of a value share one, unless
    they stand in motifs that would then need one another. A concatenation loses the inputs of which nothing is left.
    """
    selects = _selects(graph, reads)
    nodes: list[Node] = []
    edges: list[Edge] = []
    shapes: dict[str, Shape] = {}
    selected: dict[str, tuple[int, ...]] = {}
    for node in graph:
        if isinstance(node.op, Input):
            nodes.append(node)
            shapes[node.name] = node.shape
            continue
        if not any(kept[node.name]):
            continue
        inputs = graph.inputs(node.name)
        if isinstance(node.op, Concat):
            inputs = tuple(edge for edge in inputs if any(kept[edge.source]))
        sides: list[Kept] = []
        sources: list[str] = []
        for slot, edge in enumerate(inputs):
            place = edge.target, edge.slot
            source = selects.get(place, edge.source)
            side = reads.get(place, kept[edge.source])
            if source not in shapes:
                shapes[source] = (sum(side), *graph[edge.source].shape[1:])
                selected[source] = _within(side, kept[edge.source])
                nodes.append(Node(source, Select(sum(side)), shapes[source], edge.span))
                edges.append(Edge(edge.source, source, 0, None, edge.span))
            edges.append(replace(edge, source=source, slot=slot))
            sources.append(source)
            sides.append(side)
        whole = all(map(all, (*sides, kept[node.name])))
        op = node.op if whole else node.op.narrowed(tuple(sides), kept[node.name])
        shapes[node.name] = op.shape(*(shapes[source] for source in sources))
        nodes.append(replace(node, op=op, shape=shapes[node.name]))
    return Narrowed(drop_unused(graph.replace(nodes, edges, graph.outputs)), selected)


def _selects(graph: Graph, reads: Mapping[Place, Kept]) -> dict[Place, str]:
    """The name of the `select` that is put before an input of a node, where one is."""
    together: dict[tuple[str, Kept], list[Place]] = defaultdict(list)
    for (name, slot), side in reads.items():
        together[graph.inputs(name)[slot].source, side].append((name, slot))
    fresh = Fresh(graph)
    found: dict[Place, str] = {}
    for (source, _), places in together.items():
        shared = common_prefix(graph, [name for name, _ in places], [source])
        by_prefix: dict[str, list[Place]] = defaultdict(list)
        for place in places:
            by_prefix[prefix_of(graph, place[0]) if shared is None else shared].append(place)
        for prefix, some in by_prefix.items():
            found.update(dict.fromkeys(some, fresh.of_value(prefix, source, "select")))
    return found


def _within(some: Kept, kept: Kept) -> tuple[int, ...]:
    """The numbers of some channels among those that are kept.

    >>> _within((False, True, True), (False, True, True)), _within((False, False, True), (False, True, True))
    ((0, 1), (1,))
    """
    return tuple(i for i, is_there in enumerate(s for s, k in zip(some, kept, strict=True) if k) if is_there)
