"""A smaller network that computes the same: without the channels that zeros in its weights make superfluous."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayesnas_graph.ir import Graph, Kept, Node
from bayesnas_graph.ir.ops import Select
from bayesnas_graph.passes import Place, narrow, plain
from bayesnas_graph.passes.shrink.alive import Tensors, alive, shapes, without_dead_terms
from bayesnas_graph.passes.shrink.coupled import coupled
from bayesnas_graph.passes.shrink.reads import reads
from bayesnas_graph.passes.shrink.selects import simple_selects

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, eq=False)
class Shrunk:
    """What is left of a network."""

    graph: Graph
    tensors: Mapping[str, Mapping[str, Tensor]]  # node -> name -> tensor
    kept: Mapping[str, Kept]  # node of the whole network -> which of its channels are left; none if it is gone


def shrink(graph: Graph, tensors: Tensors) -> Shrunk:
    """The smallest network without switches that zeros in the weights of one allow.

    Its outputs are the same out of training, but for rounding. Gone are the channels that are zero or that no output
    depends on, with all that is tied to them, and so whole layers and branches. Who reads a few channels of a value of
    which others need more has a `select` in front. Nodes that are left have the names they had.

    What goes may untie others, as a convolution of two groups does that loses one. So this is done until nothing
    changes, and a shrunken network cannot be shrunk again.
    """
    found = Shrunk(plain(graph), tensors, {node.name: (True,) * node.shape[0] for node in graph})
    while (smaller := _step(found)).graph != found.graph:
        found = smaller
    kept = {node.name: found.kept[node.name] if node.name in found.graph.nx else _none(node) for node in graph}
    return Shrunk(found.graph, found.tensors, kept)


def _step(before: Shrunk) -> Shrunk:
    """Take away what can go at once."""
    import torch

    found = alive(before.graph, before.tensors)
    graph = without_dead_terms(before.graph, found)
    kept = coupled(graph, before.tensors, found)
    read = reads(graph, before.tensors, found, kept)
    narrowed = narrow(graph, kept, read)
    tensors = {
        node.name: _cut(graph, before.tensors, kept, read, node)
        for node in graph
        if any(kept[node.name]) and node.name in before.tensors
    }
    selects = {name: cut["channels"] for name, cut in tensors.items() if isinstance(graph[name].op, Select)}
    numbers = {name: tuple(channels.tolist()) for name, channels in selects.items()}
    left, selected = simple_selects(narrowed.graph, numbers | narrowed.selected)
    left = plain(left)
    tensors |= {name: {"channels": torch.tensor(some)} for name, some in selected.items()}
    total = {name: _once_more(some, kept.get(name)) for name, some in before.kept.items()}
    return Shrunk(left, {node.name: tensors[node.name] for node in left if node.name in tensors}, total)


def _cut(
    graph: Graph, tensors: Tensors, kept: Mapping[str, Kept], read: Mapping[Place, Kept], node: Node
) -> Mapping[str, Tensor]:
    """What is left of the tensors of a node."""
    sides = tuple(read.get((node.name, edge.slot), kept[edge.source]) for edge in graph.inputs(node.name))
    if all(map(all, (*sides, kept[node.name]))):
        return tensors[node.name]
    return node.op.cut(tensors[node.name], sides, kept[node.name], *shapes(graph, node.name))


def _once_more(kept: Kept, of_those: Kept | None) -> Kept:
    """What is left in the end, of what was left before; nothing is new where the node is gone.

    >>> _once_more((True, False, True), (False, True))
    (False, False, True)
    """
    left = iter(of_those or ())
    return tuple(stays and next(left, False) for stays in kept)


def _none(node: Node) -> Kept:
    return (False,) * node.shape[0]
