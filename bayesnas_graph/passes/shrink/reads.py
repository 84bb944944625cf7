"""Who reads only some channels of a value, and is better off with these alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from math import prod

from bayesnas_graph.ir import Graph, Kept, Node, both
from bayesnas_graph.ir.ops import Select
from bayesnas_graph.passes import Place
from bayesnas_graph.passes.shrink.alive import Alive, Tensors, shapes

# Multiply-adds that are worth copying one value of an image. A copy is a read and a write, which take as long as a
# processor takes for some tens of multiply-adds; a vector is so short that it does not matter.
WORTH = 32


def reads(graph: Graph, tensors: Tensors, found: Alive, kept: Mapping[str, Kept]) -> dict[Place, Kept]:
    """Where a `select` pays: which channels of its input a node is to read, though more are kept.

    That can be where weights lie between input and output, so that a channel of the input may go by itself.
    """
    together: dict[tuple[str, Kept], list[Node]] = defaultdict(list)
    for node in graph:
        if isinstance(node.op, Select) or not any(kept[node.name]):
            continue
        links = node.op.coupling(*shapes(graph, node.name)).links
        if any(not link.tied for link in links):
            (edge,) = graph.inputs(node.name)
            side = _read(graph, tensors, found, kept, node)
            if side != kept[edge.source]:
                together[edge.source, side].append(node)
    return {
        (node.name, 0): side
        for (source, side), readers in together.items()
        for node in readers
        if _pays(graph, kept, source, side, readers)
    }


def _read(graph: Graph, tensors: Tensors, found: Alive, kept: Mapping[str, Kept], node: Node) -> Kept:
    """The channels of its only input that a node has to read; the first if it is none, for it cannot read nothing."""
    (edge,) = graph.inputs(node.name)
    (some,) = node.op.needs(found.counting[node.name], tensors[node.name], *shapes(graph, node.name))
    read = both(both(some, found.carrying[edge.source]), kept[edge.source])
    first = kept[edge.source].index(True)
    return read if any(read) else tuple(i == first for i in range(len(read)))


def _pays(graph: Graph, kept: Mapping[str, Kept], source: str, side: Kept, readers: list[Node]) -> bool:
    """Whether it pays to copy some channels of a value for those who read no more."""
    sides = graph[source].shape[1:]
    if not sides:
        return True
    saved = 0
    for node in readers:
        for sign, read in ((1, kept[source]), (-1, side)):
            op = node.op.narrowed((read,), kept[node.name])
            saved += sign * op.flops((sum(read), *sides))
    return saved >= WORTH * sum(side) * prod(sides)
