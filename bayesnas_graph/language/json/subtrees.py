"""Nodes that were added or removed together: an added motif is one change, not a hundred."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from bayesnas_graph.ir import Graph, Node, Scope


@dataclass(frozen=True, slots=True)
class Subtree:
    """A node, or all nodes whose names begin with this name and a dot."""

    name: str
    size: int
    around: tuple[Scope, ...]  # the scopes around all of it, the innermost first


def paths(name: str) -> Iterator[str]:
    """The prefixes of a name, shortest first, and the name itself.

    >>> list(paths("a.b.c"))
    ['a', 'a.b', 'a.b.c']
    """
    end = name.find(".")
    while end >= 0:
        yield name[:end]
        end = name.find(".", end + 1)
    yield name


def subtrees(nodes: Sequence[Node], graph: Graph, reported: Set[str]) -> list[Subtree]:
    """The largest subtrees of the graph that consist of these nodes only, except nodes with a gate in `reported`."""
    own, whole = _below(nodes), _below(graph)
    inside, all_inside = _members(graph, nodes), _members(graph, graph)
    found: dict[str, Subtree] = {}
    for node in nodes:
        if not reported.isdisjoint(graph.gates_of(node.name)):
            continue
        top = next((path for path in paths(node.name) if own[path] == whole[path]), node.name)
        around = (scope for scope in graph.enclosing(node.name) if inside[scope.name] < all_inside[scope.name])
        size = found[top].size + 1 if top in found else 1
        found[top] = Subtree(top, size, tuple(around))
    return list(found.values())


def _below(nodes: Iterable[Node]) -> Counter[str]:
    """The number of these nodes at every path, or below it."""
    return Counter(path for node in nodes for path in paths(node.name))


def _members(graph: Graph, nodes: Iterable[Node]) -> Counter[str]:
    """The number of these nodes in every scope."""
    return Counter(scope.name for node in nodes for scope in graph.enclosing(node.name))
