"""Walks along the edges of a graph of any kind."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from heapq import heapify, heappop, heappush
from typing import TypeVar

V = TypeVar("V", bound=Hashable)


def reached(start: Iterable[V], following: Callable[[V], Iterable[V]]) -> set[V]:
    """All vertices that can be reached from some, these included; `following` gives the next ones."""
    found = set(start)
    waiting = list(found)
    while waiting:
        new = set(following(waiting.pop())) - found
        found |= new
        waiting += new
    return found


def in_order(vertices: Iterable[V], edges: Iterable[tuple[V, V]]) -> list[V]:
    """The vertices, each after the sources of its edges, otherwise in the given order.

    Edges are pairs of source and target. Vertices on cycles are omitted, and so are those behind them.

    >>> in_order("abc", [("c", "a")])
    ['b', 'c', 'a']
    """
    given = list(vertices)
    rank = {vertex: i for i, vertex in enumerate(given)}
    waiting = dict.fromkeys(given, 0)
    readers: dict[V, list[V]] = {}
    for source, target in edges:
        waiting[target] += 1
        readers.setdefault(source, []).append(target)
    ready = [rank[vertex] for vertex, count in waiting.items() if count == 0]
    heapify(ready)
    found = []
    while ready:
        found.append(given[heappop(ready)])
        for reader in readers.get(found[-1], ()):
            waiting[reader] -= 1
            if waiting[reader] == 0:
                heappush(ready, rank[reader])
    return found
