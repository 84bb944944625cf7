"""Prepares a graph for writing: in reading order, with names and motifs that a text can have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from bayesnas_graph.codegen.unparse.order import in_order, in_scopes
from bayesnas_graph.codegen.unparse.paths import PathNames
from bayesnas_graph.ir import Edge, Graph, Node, Scope
from bayesnas_graph.ir.ops.plugins import is_primitive

MAX_DEPTH = 64  # of nested motifs; deeper ones are dissolved


@dataclass(frozen=True)
class Tidy:
    """A graph, the same graph with all scopes, and the node or scope of the given graph for each of its own."""

    graph: Graph
    scoped: Graph
    origins: dict[str, str]


def tidy(graph: Graph) -> Tidy:
    """The graph, ready to be written.

    Nodes that reach no output are removed. Only the scopes of whole motifs stay. Raises ValueError if the graph is not
    a fixed network of primitives.
    """
    nodes = [graph[name] for name in in_order(graph)]
    for node in nodes:
        _check(graph, node)
    paths = PathNames(nodes)
    names = paths.nodes
    origins = {names[node.name]: node.name for node in nodes}
    called = {scope.name: name for scope in graph.scopes if (name := paths.scope(scope.name)) is not None}
    for old, name in called.items():
        origins.setdefault(name, old)
    order = [names[node.name] for node in graph if node.name in names]
    scoped = _renamed(graph.keep_scopes(called), {node.name: names[node.name] for node in nodes}, called)
    motifs = scoped.keep_scopes({scope.name for scope in scoped.scopes if scope.role != "choice"})
    whole = motifs.keep_scopes({scope.name for scope in _whole(motifs, order)})
    ordered = whole.replace([whole[name] for name in in_scopes(whole)], whole.edges, whole.outputs)
    return Tidy(ordered, scoped, origins)


def _renamed(graph: Graph, names: Mapping[str, str], called: Mapping[str, str]) -> Graph:
    """The graph of the nodes and scopes that have new names, in the order of these. Inputs are in no scope."""
    nodes = []
    for old, name in names.items():
        node = graph[old]
        scope = "" if node.op.is_input else called.get(node.scope, "")
        nodes.append(Node(name, node.op, node.shape, scope=scope, weights=node.weights))
    edges = [Edge(names[edge.source], name, edge.slot) for old, name in names.items() for edge in graph.inputs(old)]
    scopes = [
        Scope(
            called[scope.name],
            scope.kind,
            scope.role,
            scope.outputs,
            parent=called.get(scope.parent, ""),
            weights=scope.weights,
            arguments=scope.arguments,
        )
        for scope in graph.scopes
    ]
    return Graph(graph.name, nodes, edges, [names[name] for name in graph.outputs], scopes, kinds=graph.kinds)


def _check(graph: Graph, node: Node) -> None:
    is_written = is_primitive(node.op) and not node.op.passes_through
    if not (is_written or node.op.is_input or node.op.is_python):
        raise ValueError(f"`{node.op.label}` is not an operation of a fixed network")
    if any(edge.gate is not None for edge in graph.inputs(node.name)):
        raise ValueError("a graph with switches is not a fixed network")


def _whole(graph: Graph, order: list[str]) -> list[Scope]:
    """The scopes of which only outputs are read outside.

    If one has several outputs, a path could lead out of it and back in, unless its nodes are consecutive in the order
    of the given graph.
    """
    around = {node.name: [scope.name for scope in graph.enclosing(node.name)] for node in graph}
    gives: dict[str, set[str]] = defaultdict(set)
    for edge in graph.edges:
        for scope in set(around[edge.source]).difference(around[edge.target]):
            gives[scope].add(edge.source)
    for name in graph.outputs:
        for scope in around[name]:
            gives[scope].add(name)
    positions: dict[str, list[int]] = defaultdict(list)
    for i, name in enumerate(order):
        for scope in around[name]:
            positions[scope].append(i)
    return [
        scope
        for scope in graph.scopes
        if len(gives[scope.name]) <= scope.outputs
        and len(graph.scopes_from(scope.parent)) < MAX_DEPTH
        and (len(gives[scope.name]) <= 1 or _are_consecutive(positions[scope.name]))
    ]


def _are_consecutive(positions: list[int]) -> bool:
    return positions[-1] - positions[0] + 1 == len(positions)
