"""Graph to graph: one pass per file, named after what it does; the order is one tuple."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.group_switches import group_switches
from bayesnas_graph.passes.infer_shapes import infer_shapes
from bayesnas_graph.passes.insert_zero_identity import insert_zero_identity
from bayesnas_graph.passes.merge_common_subexpressions import merge_common_subexpressions
from bayesnas_graph.passes.verify import verify

Pass = Callable[[Graph], Graph]

__all__ = [
    "Pass",
    "group_switches",
    "infer_shapes",
    "insert_zero_identity",
    "merge_common_subexpressions",
    "passes",
    "run",
    "verify",
]


def passes(
    *, zero: Literal["before", "after"] = "after", mode: Literal["written", "proxyless"] = "written", merge: bool = True
) -> tuple[Pass, ...]:
    """The way from an elaborated graph to one that can be lowered."""
    order: tuple[Pass, ...] = (
        infer_shapes,
        partial(insert_zero_identity, where=zero),
        partial(group_switches, mode=mode),
    )
    return (*order, merge_common_subexpressions) if merge else order


def run(graph: Graph, order: Sequence[Pass]) -> Graph:
    """Apply passes one after another, each result checked."""
    for step in order:
        graph = step(graph)
        verify(graph)
    return graph
