"""Removes the channels that are superfluous because of zeros in the weights; the network computes the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayesnas_graph.ir import Graph, Mask, Node
from bayesnas_graph.passes import InputSlot, narrow, plain
from bayesnas_graph.passes.shrink.alive import Tensors, alive, without_dead_terms
from bayesnas_graph.passes.shrink.coupled import coupled
from bayesnas_graph.passes.shrink.reads import reads
from bayesnas_graph.passes.shrink.selects import simple_selects

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, eq=False)
class Shrunk:
    """A network with fewer channels."""

    graph: Graph
    tensors: Mapping[str, Mapping[str, Tensor]]  # node -> name -> tensor
    kept: Mapping[str, Mask]  # node of the original network -> which of its channels remain; none if it is removed


def shrink(graph: Graph, tensors: Tensors) -> Shrunk:
    """The smallest network without switches that the zeros in the weights allow.

    Its outputs in evaluation mode are the same, up to rounding. Channels that are zero or that no output depends on are
    removed, with everything tied to them, and so are whole layers and branches. A node that reads only a few channels
    of a value, while others read more, gets a `select` before it. The remaining nodes keep their names.

    Removing channels may untie others: for example, when a convolution loses one of two groups. So this is repeated
    until nothing changes, and a shrunk network cannot be shrunk again.
    """
    shrunk = Shrunk(plain(graph), tensors, {node.name: (True,) * node.shape[0] for node in graph})
    while (smaller := _step(shrunk)).graph != shrunk.graph:
        shrunk = smaller
    kept = {node.name: shrunk.kept[node.name] if node.name in shrunk.graph.nx else _none(node) for node in graph}
    return Shrunk(shrunk.graph, shrunk.tensors, kept)


def _step(before: Shrunk) -> Shrunk:
    """Remove everything that can be removed at once."""
    import torch

    channels = alive(before.graph, before.tensors)
    graph = without_dead_terms(before.graph, channels)
    kept = coupled(graph, before.tensors, channels)
    read = reads(graph, before.tensors, channels, kept)
    narrowed = narrow(graph, kept, read)
    tensors = {
        node.name: _sliced(graph, before.tensors, kept, read, node)
        for node in graph
        if any(kept[node.name]) and node.name in before.tensors
    }
    numbers = {
        name: tuple(node_tensors["channels"].tolist())
        for name, node_tensors in tensors.items()
        if graph[name].op.selects
    }
    remaining, selected = simple_selects(narrowed.graph, numbers | narrowed.selected)
    remaining = plain(remaining)
    device = next((value.device for of_node in before.tensors.values() for value in of_node.values()), None)
    tensors |= {name: {"channels": torch.tensor(entries, device=device)} for name, entries in selected.items()}
    total = {name: _composed(mask, kept.get(name)) for name, mask in before.kept.items()}
    return Shrunk(remaining, {node.name: tensors[node.name] for node in remaining if node.name in tensors}, total)


def _sliced(
    graph: Graph, tensors: Tensors, kept: Mapping[str, Mask], read: Mapping[InputSlot, Mask], node: Node
) -> Mapping[str, Tensor]:
    """The tensors of a node, sliced to the remaining channels."""
    sides = tuple(read.get((node.name, edge.slot), kept[edge.source]) for edge in graph.inputs(node.name))
    if all(map(all, (*sides, kept[node.name]))):
        return tensors[node.name]
    return node.op.sliced(tensors[node.name], sides, kept[node.name], *graph.input_shapes(node.name))


def _composed(kept: Mask, then: Mask | None) -> Mask:
    """A mask applied to the channels that remain after an earlier mask; None removes all.

    >>> _composed((True, False, True), (False, True))
    (False, False, True)
    """
    next_stays = iter(then or ())
    return tuple(stays and next(next_stays, False) for stays in kept)


def _none(node: Node) -> Mask:
    return (False,) * node.shape[0]
