"""Which nodes should read only some channels of a value, through a `select`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from math import prod

from bayesnas_graph.ir import Graph, Mask, Node, intersection
from bayesnas_graph.passes import InputSlot
from bayesnas_graph.passes.shrink.alive import Alive, Tensors

# The cost of copying one value of an image, in multiply-adds. A copy is a read and a write, which take as long as some
# tens of multiply-adds. Vectors are too short for this to matter.
COPY_COST = 32


def reads(graph: Graph, tensors: Tensors, channels: Alive, kept: Mapping[str, Mask]) -> dict[InputSlot, Mask]:
    """Where a `select` pays: the channels of its input that a node should read, although more are kept.

    This is possible if there are weights between input and output, so that an input channel can be removed alone.
    """
    together: dict[tuple[str, Mask], list[Node]] = defaultdict(list)
    for node in graph:
        if node.op.selects or node.op.reads_tokens or node.name in graph.shared or not any(kept[node.name]):
            continue
        links = node.op.coupling(*graph.input_shapes(node.name)).links
        if any(not link.tied for link in links):
            (edge,) = graph.inputs(node.name)
            side = _read(graph, tensors, channels, kept, node)
            if side != kept[edge.source]:
                together[edge.source, side].append(node)
    return {
        (node.name, 0): side
        for (source, side), readers in together.items()
        for node in readers
        if _pays(graph, kept, source, side, readers)
    }


def _read(graph: Graph, tensors: Tensors, channels: Alive, kept: Mapping[str, Mask], node: Node) -> Mask:
    """The channels of its only input that a node must read: at least one, as it cannot read nothing."""
    (edge,) = graph.inputs(node.name)
    (needed,) = node.op.needed_inputs(channels.effective[node.name], tensors[node.name], *graph.input_shapes(node.name))
    read = intersection(intersection(needed, channels.nonzero[edge.source]), kept[edge.source])
    first = kept[edge.source].index(True)
    return read if any(read) else tuple(i == first for i in range(len(read)))


def _pays(graph: Graph, kept: Mapping[str, Mask], source: str, side: Mask, readers: list[Node]) -> bool:
    """Return whether it pays to copy some channels of a value for the nodes that read only those."""
    sides = graph[source].shape[1:]
    if not sides:
        return True
    saved = 0
    for node in readers:
        for sign, read in ((1, kept[source]), (-1, side)):
            op = node.op.narrowed((read,), kept[node.name])
            saved += sign * op.flops((sum(read), *sides))
    return saved >= COPY_COST * sum(side) * prod(sides)
