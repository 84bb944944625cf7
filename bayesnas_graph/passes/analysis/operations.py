"""Additions and multiplications, counted as papers on compression count them.

Budgets and `stats` count multiply-adds (`cost`). This other number is there to be compared with tables in papers.
"""

from __future__ import annotations

from bayesnas_graph.ir import Graph


def operations(graph: Graph) -> int:
    """Those of a graph for one sample, everything in it being computed."""
    return sum(operations_by_node(graph).values())


def operations_by_node(graph: Graph) -> dict[str, int]:
    """The same for every node that has any."""
    counts = {
        node.name: node.op.operations(*(graph[edge.source].shape for edge in graph.inputs(node.name))) for node in graph
    }
    return {name: count for name, count in counts.items() if count}
