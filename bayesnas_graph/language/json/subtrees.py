"""Nodes that were added or removed together: an added motif is one change, not a hundred."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from bayesnas_graph.ir import Graph, Node, Scope


@dataclass(frozen=True, slots=True)
class Subtree:
    """A node, or all nodes whose names begin with this name and a dot."""

    name: str
    size: int
    around: tuple[Scope, ...]  # the scopes around all of it, the innermost first


def part_of(names: Iterable[str]) -> dict[str, int]:
    """Count the names that are equal to each prefix, or below it.

    >>> part_of(["a.b", "a.c"])["a"]
    2
    """
    count: dict[str, int] = {}
    for name in names:
        for path in paths(name):
            count[path] = count.get(path, 0) + 1
    return count


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


def subtrees(nodes: Sequence[Node], graph: Graph, reported: Collection[str]) -> list[Subtree]:
    """The largest subtrees of the graph that consist of these nodes only, except those below a name in `reported`."""
    own, whole = part_of(node.name for node in nodes), part_of(node.name for node in graph)
    inside, all_inside = _members(graph, nodes), _members(graph, graph)
    found: dict[str, Subtree] = {}
    for node in nodes:
        route = list(paths(node.name))
        if any(path in reported for path in route):
            continue
        top = next(path for path in route if own[path] == whole[path])
        around = (scope for scope in graph.enclosing(node.name) if inside[scope.name] < all_inside[scope.name])
        size = found[top].size + 1 if top in found else 1
        found[top] = Subtree(top, size, tuple(around))
    return list(found.values())


def _members(graph: Graph, nodes: Iterable[Node]) -> Counter[str]:
    """The number of these nodes in every scope."""
    return Counter(scope.name for node in nodes for scope in graph.enclosing(node.name))
