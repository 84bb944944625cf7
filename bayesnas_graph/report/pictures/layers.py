"""A graph in layers: the column of each vertex, and the order of each column from top to bottom.

Longest paths determine the columns, barycentres the order (Sugiyama, Tagawa, Toda: Methods for Visual Understanding of
Hierarchical System Structures, 1981). Where a wire passes through a column there is a bend, a vertex without size. All
wires from one vertex share their bends: they leave as one line and branch as late as possible.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

SWEEPS = 12


@dataclass(frozen=True)
class Layers:
    """Vertices by column. Numbers from `bends` on are bends."""

    columns: tuple[tuple[int, ...], ...]
    hops: tuple[tuple[int, int], ...]  # all from a column to the next
    bends: int


def layered(count: int, edges: Sequence[tuple[int, int]], late: frozenset[int]) -> Layers:
    """Arrange `count` vertices. Vertices in `late` are as far right as possible, the others as far left."""
    rank = _ranks(count, edges, late)
    columns: list[list[int]] = [[] for _ in range(max(rank, default=0) + 1)]
    for vertex in range(count):
        columns[rank[vertex]].append(vertex)
    hops: dict[tuple[int, int], None] = {}
    bends: dict[tuple[int, int], int] = {}
    for source, target in edges:
        at = source
        for column in range(rank[source] + 1, rank[target]):
            if (source, column) not in bends:
                bends[source, column] = count + len(bends)
                columns[column].append(bends[source, column])
            bend = bends[source, column]
            hops[at, bend] = None
            at = bend
        hops[at, target] = None
    return Layers(_ordered(columns, tuple(hops)), tuple(hops), count)


def _ranks(count: int, edges: Sequence[tuple[int, int]], late: frozenset[int]) -> list[int]:
    """The column of each vertex: after all vertices it reads."""
    after: dict[int, list[int]] = {vertex: [] for vertex in range(count)}
    waiting = [0] * count
    for source, target in edges:
        after[source].append(target)
        waiting[target] += 1
    rank = [0] * count
    ready = [vertex for vertex in range(count) if not waiting[vertex]]
    order = []
    while ready:
        vertex = ready.pop()
        order.append(vertex)
        for target in after[vertex]:
            rank[target] = max(rank[target], rank[vertex] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    for vertex in reversed(order):
        if vertex in late and after[vertex]:
            rank[vertex] = min(rank[target] for target in after[vertex]) - 1
    return rank


def _ordered(columns: list[list[int]], hops: tuple[tuple[int, int], ...]) -> tuple[tuple[int, ...], ...]:
    """The columns, with vertices reordered so that few hops cross."""
    before: dict[int, list[int]] = {}
    after: dict[int, list[int]] = {}
    for source, target in hops:
        after.setdefault(source, []).append(target)
        before.setdefault(target, []).append(source)
    best = [list(column) for column in columns]
    fewest = crossings(best, hops)
    current = [list(column) for column in columns]
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        order = range(1, len(current)) if forward else range(len(current) - 2, -1, -1)
        for number in order:
            fixed = current[number - 1 if forward else number + 1]
            place = {vertex: i for i, vertex in enumerate(fixed)}
            current[number] = _by_barycentre(current[number], before if forward else after, place)
        crossed = crossings(current, hops)
        if crossed < fewest:
            best, fewest = [list(column) for column in current], crossed
    return tuple(map(tuple, best))


def _by_barycentre(column: list[int], neighbours: Mapping[int, Sequence[int]], place: Mapping[int, int]) -> list[int]:
    def centre(item: tuple[int, int]) -> float:
        index, vertex = item
        places = [place[other] for other in neighbours.get(vertex, ()) if other in place]
        return sum(places) / len(places) if places else float(index)

    return [vertex for _, vertex in sorted(enumerate(column), key=centre)]


def crossings(columns: Sequence[Sequence[int]], hops: Iterable[tuple[int, int]]) -> int:
    """The number of pairs of hops that cross.

    >>> crossings([[0, 1], [2, 3]], [(0, 3), (1, 2)])
    1
    """
    place = {vertex: (number, i) for number, column in enumerate(columns) for i, vertex in enumerate(column)}
    between: dict[int, list[tuple[int, int]]] = {}
    for source, target in hops:
        between.setdefault(place[source][0], []).append((place[source][1], place[target][1]))
    total = 0
    for pairs in between.values():
        ends: list[int] = []  # of hops from further up, in order
        for _, group in groupby(sorted(pairs), key=itemgetter(0)):
            here = [end for _, end in group]
            total += sum(len(ends) - bisect_right(ends, end) for end in here)
            for end in here:
                insort(ends, end)
    return total
