"""Which parts of its weights a network keeps when it is pruned.

A concatenation that loses an input becomes narrower, and so do the operations that take their width from it. Operations
with a chosen width become narrower when their widest options are closed. For every remaining value, this finds the
channels of the original value that it still has, and so the remaining weights. Where kernels share their weights, the
centre is left if the largest is closed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bayesnas_graph.ir import Coupling, Graph, Mask, Node
from bayesnas_graph.ir.coupling import Sides


@dataclass(frozen=True, slots=True)
class Cut:
    """The remaining entries of a parameter or buffer along one of its axes."""

    name: str
    axis: int
    entries: tuple[int, ...]


def cuts(whole: Graph, pruned: Graph) -> dict[str, tuple[Cut, ...]]:
    """For every remaining node whose tensors became narrower, the remaining entries.

    `pruned` is the result of pruning `whole`.
    """
    kept: dict[str, Mask] = {}
    by_node: dict[str, tuple[Cut, ...]] = {}
    for node in pruned:
        before = whole[node.name]
        kept[node.name] = (True,) * before.shape[0]
        by_node[node.name] = tuple(Cut(*cut) for cut in before.op.tensor_cuts(node.op))
        if node.op.is_input or _is_as_before(whole, pruned, node):
            continue  # not every operation has a coupling rule, so it is used only where needed
        inputs = whole.inputs(node.name)
        coupling = before.op.coupling(*whole.input_shapes(node.name))
        remaining = {(edge.source, edge.gate) for edge in pruned.inputs(node.name)}
        sides = [kept[edge.source] if (edge.source, edge.gate) in remaining else None for edge in inputs]
        kept[node.name] = _left_of_output(node, before, coupling, sides)
        by_node[node.name] += tuple(_cuts(coupling, sides, kept[node.name]))
    return {name: some for name, some in by_node.items() if some}


def _is_as_before(whole: Graph, pruned: Graph, node: Node) -> bool:
    sources = [edge.source for edge in pruned.inputs(node.name)]
    return node.shape == whole[node.name].shape and all(pruned[name].shape == whole[name].shape for name in sources)


def _left_of_output(node: Node, before: Node, coupling: Coupling, sides: Sides) -> Mask:
    """The remaining channels of the output: those that depend on a remaining channel, or on no channel at all.

    If the operation takes its width from its input and has weights in between, they are those of the input. If it is
    narrower than written, because its width is chosen, they are the first.
    """
    width = before.shape[0]
    kept = coupling.remaining(sides, width)
    if sum(kept) == node.shape[0]:
        return kept
    if node.op != before.op:
        return tuple(i < node.shape[0] for i in range(width))
    side = next(side for side in sides if side is not None)
    return side if len(side) == width and sum(side) == node.shape[0] else tuple(i < node.shape[0] for i in range(width))


def _cuts(coupling: Coupling, sides: Sides, output: Mask) -> Iterator[Cut]:
    for axis in coupling.axes:
        kept = output if axis.follows == "output" else sides[0]
        if kept is not None and not all(kept):
            yield Cut(axis.name, axis.axis, tuple(i for i, stays in enumerate(kept) if stays))
