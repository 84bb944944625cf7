"""Work without weights that several edges of one source repeat is done once."""

from __future__ import annotations

from dataclasses import replace

from bayesnas_graph.ir import Edge, Graph, Node


def merge_common_subexpressions(graph: Graph) -> Graph:
    """Compute each expression once.

    Two nodes are one expression when operation, shapes and inputs agree, gates included, so that what a
    search must tell apart stays apart. Operations with weights are not merged: equal text does not mean
    equal weights. A norm without weights is merged with what it reads, for its statistics are then the
    same; of a merged node the first keeps its name. Cells stay whole: nothing is merged across their borders.
    """
    cells = {scope.name for scope in graph.scopes if scope.role == "cell"}
    first: dict[object, str] = {}
    now: dict[str, str] = {}  # name before -> name after
    nodes: list[Node] = []
    edges: list[Edge] = []
    for node in graph:
        inputs = [replace(edge, source=now[edge.source]) for edge in graph.inputs(node.name)]
        read = [(edge.source, edge.gate) for edge in inputs]
        expression = type(node.op), node.op, tuple(read), _cell(node.name, cells)
        if inputs and node.op.mergeable and expression in first:
            now[node.name] = first[expression]
            continue
        now[node.name] = node.name
        first.setdefault(expression, node.name)
        nodes.append(node)
        edges += inputs
    return graph.replace(nodes, edges, [now[name] for name in graph.outputs])


def _cell(name: str, cells: set[str]) -> str:
    """The innermost cell that a node stands in; empty outside of cells."""
    while name and name not in cells:
        name = name.rpartition(".")[0]
    return name
