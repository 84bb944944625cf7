"""An auxiliary head: a second, small head in the middle of a network, which helps to train the layers before it.

It reads a value in the second half of the network: relu > global_avg_pool > linear. Its weighted loss is added to that
of the network. It is part of the trained graph only, not of the result.
"""

from __future__ import annotations

from bayesnas_graph.diagnostics import Diagnostic, NasError, did_you_mean
from bayesnas_graph.ir import Edge, Graph, Node, Op, Scope, Shape
from bayesnas_graph.ir.ops import Relu
from bayesnas_graph.ir.ops.linear import Linear
from bayesnas_graph.ir.ops.spatial import GlobalAvgPool
from bayesnas_graph.passes.names import FreshNames


def with_auxiliary_head(graph: Graph, value: str, count: int) -> Graph:
    """Return the network with a second output of this size."""
    fresh, nodes, edges = FreshNames(graph), list(graph), list(graph.edges)
    pooled = [GlobalAvgPool()] if len(graph[value].shape) > 1 else []
    head: list[Op] = [Relu(), *pooled, Linear(count)]
    shape = graph[value].shape
    for op in head:
        name, shape = fresh.name("", "auxiliary", op.name), op.shape(shape)
        nodes.append(Node(name, op, shape))
        edges.append(Edge(value, name, 0))
        value = name
    return graph.replace(nodes, edges, (*graph.outputs, value))


def place_of_head(graph: Graph, wanted: str | None) -> str:
    """Return the value that an auxiliary head reads: of a named operation or motif, or the default. Raises NasError.

    The default is where images reach their smallest size: the value of the outermost motif that reduces them and is
    followed by more operations of that size, such as the last reduction cell of a stack of cells.
    """
    if wanted is not None:
        return _named(graph, wanted)
    images = [node for node in graph if _is_map(node.shape)]
    first = next((node for node in images if node.op.is_input), None)
    smallest = images[-1].shape[1:] if images else None
    if first is None or smallest is None or first.shape[1:] == smallest:
        message = "no place for an auxiliary head: this network does not reduce the size of images"
        raise NasError([Diagnostic("NAS601", message, help="set `auxiliary_at` to an operation, or `auxiliary` to 0")])
    reached = next(node for node in images if node.shape[1:] == smallest)
    for scope in reversed(graph.enclosing(reached.name)):
        value = _made_by(graph, scope)
        if value is not None and graph[value].shape[1:] == smallest and _goes_on(graph, scope, value):
            return value
    return reached.name


def _named(graph: Graph, wanted: str) -> str:
    scope = next((scope for scope in graph.scopes if scope.name == wanted), None)
    value = wanted if wanted in graph.nx else None if scope is None else _made_by(graph, scope)
    if value is None:
        known = [node.name for node in graph] + [scope.name for scope in graph.scopes]
        message = f"`auxiliary_at`: the network has no operation or motif `{wanted}` with one output"
        help = did_you_mean(wanted, known) or "`bayesnas-graph compile` writes all names into `graph.json`"
        raise NasError([Diagnostic("NAS601", message, help=help)])
    return value


def _is_map(shape: Shape) -> bool:
    """Return whether a shape is an image of more than one pixel."""
    return len(shape) == 3 and shape[1] * shape[2] > 1


def _made_by(graph: Graph, scope: Scope) -> str | None:
    """Return the only value of a motif that is read outside; None if there are several."""
    inside = _inside(graph, scope)
    read = {edge.source for edge in graph.edges if edge.source in inside and edge.target not in inside}
    results = read | (inside & set(graph.outputs))
    return results.pop() if len(results) == 1 else None


def _goes_on(graph: Graph, scope: Scope, value: str) -> bool:
    """Return whether more values of the same size are computed outside of the motif, after this one."""
    inside, after = _inside(graph, scope), False
    for node in graph:
        after = after or node.name == value
        if after and node.name not in inside and node.shape[1:] == graph[value].shape[1:]:
            return True
    return False


def _inside(graph: Graph, scope: Scope) -> set[str]:
    return {node.name for node in graph if scope in graph.enclosing(node.name)}
