"""Additions and multiplications, counted as in papers on compression.

Budgets and `stats` count multiply-adds (`cost`). This number is for comparison with tables in papers.
"""

from __future__ import annotations

from bayesnas_graph.ir import Graph


def operations(graph: Graph) -> int:
    """The additions and multiplications of a whole graph for one sample."""
    return sum(operations_by_node(graph).values())


def operations_by_node(graph: Graph) -> dict[str, int]:
    """The additions and multiplications of every node that has any."""
    counts = {
        node.name: node.op.operations(*(graph[edge.source].shape for edge in graph.inputs(node.name))) for node in graph
    }
    return {name: count for name, count in counts.items() if count}
