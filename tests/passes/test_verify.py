"""Graphs that break an invariant are noticed."""

from __future__ import annotations

import pytest

from bayesnas_graph.ir import Edge, Graph, Node
from bayesnas_graph.ir.ops import Choice, Input, Sum
from bayesnas_graph.passes.verify import InvalidGraph, verify

X = Node("x", Input(), (3,))


@pytest.mark.parametrize(
    ("nodes", "edges", "outputs", "problem"),
    [
        ([Node("y", Sum(), (3,)), X], [Edge("x", "y", 0)], ["y"], "too early"),
        ([X, Node("y", Sum(), (3,))], [Edge("x", "y", 1)], ["y"], "slots"),
        ([X, Node("y", Sum(), (3,))], [], ["y"], "inputs"),
        ([X, Node("y", Sum(), (4,))], [Edge("x", "y", 0)], ["y"], "shape"),
        ([X, Node("y", Choice(), (3,))], [Edge("x", "y", 0)], ["y"], "gate"),
        ([X, Node("y", Sum(), (3,), scope="m")], [Edge("x", "y", 0)], ["y"], "y is in m, which is no scope"),
        ([X, Node("y", Sum(), (3,))], [Edge("x", "y", 0)], ["x"], "never used"),
        ([X], [], ["z"], "no output"),
    ],
)
def test_invalid_graphs_are_detected(nodes: list[Node], edges: list[Edge], outputs: list[str], problem: str) -> None:
    with pytest.raises(InvalidGraph, match=problem):
        verify(Graph("g", nodes, edges, outputs))
