"""Whether closing switches can leave shapes that do not match."""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from math import prod

from bayesnas_graph.ir import Graph, Shape, ShapeError
from bayesnas_graph.passes.analysis.skeleton import vertex_numbers

MOST_SHAPES = 64  # combinations of shapes to try at one node

Shapes = tuple[Shape, ...]


def may_misfit(graph: Graph) -> bool:
    """Return whether some setting of the switches may leave shapes that do not match.

    Only a concatenation that loses an input changes its shape. For every node, this finds the shapes that it may have,
    as if nodes that are not always lost together were lost independently: so the answer may be yes although it never
    happens, but not no.
    """
    number = vertex_numbers(graph)
    shapes: dict[str, set[Shape]] = {}
    for node in graph:
        edges = graph.inputs(node.name)
        inputs = [shapes[edge.source] for edge in edges]
        vertices = [number[edge.source] for edge in edges]
        narrows = node.op.concatenates and len(set(vertices)) > 1
        if not narrows and all(len(some) == 1 for some in inputs):
            shapes[node.name] = {node.shape}
            continue
        if narrows:
            combined = _left(inputs, vertices)
        else:
            combined = _combined(inputs, may_lose=node.op.is_pointwise and node.op.tolerates_missing_inputs)
        if combined is None:
            return True
        try:
            shapes[node.name] = {node.op.shape(*some) for some in combined}
        except ShapeError:
            return True
        if node.name in graph.outputs and shapes[node.name] != {node.shape}:
            return True
    return False


def _combined(inputs: list[set[Shape]], *, may_lose: bool) -> list[Shapes] | None:
    """All combinations of shapes; None if there are too many."""
    if may_lose and len(inputs) > 1:  # the inputs of a sum must agree, however many are left
        every = set[Shape]().union(*inputs)
        return None if len(every) > 1 else [tuple(every)]
    found: list[Shapes] = [()]
    for some in inputs:
        found = [(*before, shape) for before in found for shape in some]
        if len(found) > MOST_SHAPES:
            return None
    return found


def _left(inputs: list[set[Shape]], vertices: list[int]) -> list[Shapes] | None:
    """All combinations of inputs that may be left, up to their order; None if there are too many."""
    together: dict[int, list[set[Shape]]] = defaultdict(list)
    for some, vertex in zip(inputs, vertices, strict=True):
        together[vertex].append(some)
    found: set[Shapes] = {()}
    for vertex, members in together.items():
        if prod(len(some) for some in members) > MOST_SHAPES:
            return None
        longer = {tuple(sorted((*before, *some))) for before in found for some in product(*members)}
        found = found | longer if vertex else longer
        if len(found) > MOST_SHAPES:
            return None
    return [some for some in found if some]
