"""Count the cells of NAS-Bench-101 up to isomorphism: `python -m benchmarks.nasbench101`.

The benchmark publishes 423,624 cells: graphs that are the same except for the order of their vertices are one cell. The
shipped space counts graphs with numbered vertices. Here all of these are listed, without what is on no path from the
input to the output, and the two numbers are compared with the publication and with what `stats` counts.

Labels are not listed. Two graphs without labels are isomorphic if a permutation of the inner vertices takes one to the
other; with five inner vertices all 120 are tried, so the least image of a graph is an exact canonical form. The
labelings of a graph that differ under its automorphisms follow from Burnside's lemma: their number is the mean, over
the automorphisms, of the number of labelings that an automorphism leaves as they are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import load_network
from bayesnas_graph.passes.analysis import networks

PUBLISHED = 423_624

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Cells:
    """All cells with up to `inner` vertices between input and output, at most `edges` edges and some operations."""

    inner: int
    edges: int
    operations: int

    @staticmethod
    def of(graph: Graph) -> Cells:
        """The cells of the shipped space."""
        operations = [gate for gate in graph.switches.values() if gate.kind == "candidate"]
        inner = len({gate.choice for gate in operations})
        (most,) = {constraint.most for constraint in graph.constraints}
        assert most is not None
        return Cells(inner, most, len(operations) // inner)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs of vertices that may have an edge. Vertex 0 is the input, and the last is the output."""
        return [(i, j) for j in range(self.inner + 2) for i in range(j)]

    @cached_property
    def graphs(self) -> Flags:
        """A row per graph: which pairs have an edge. Every edge is on a path from the input to the output."""
        pairs = self.pairs
        has = _bits(np.arange(2 ** len(pairs), dtype=np.int64), len(pairs))
        has = has[has.sum(1) <= self.edges]
        after = np.zeros((len(has), self.inner + 2), dtype=np.bool_)  # can be reached from the input
        before = np.zeros_like(after)  # leads to the output
        after[:, 0] = before[:, -1] = True
        for k, (i, j) in enumerate(pairs):
            after[:, j] |= has[:, k] & after[:, i]
        for k, (i, j) in reversed(list(enumerate(pairs))):
            before[:, i] |= has[:, k] & before[:, j]
        used = after & before
        for k, (i, j) in enumerate(pairs):
            has[:, k] &= used[:, i] & used[:, j]
        codes = np.unique(has[used[:, 0]] @ (1 << np.arange(len(pairs), dtype=np.int64)))
        return _bits(codes, len(pairs))

    def used(self, graphs: Flags) -> Flags:
        """Which inner vertices have edges, a row per graph."""
        found = np.zeros((len(graphs), self.inner + 2), dtype=np.bool_)
        for k, pair in enumerate(self.pairs):
            found[:, pair] |= graphs[:, k, None]
        return found[:, 1:-1]

    def numbered(self) -> int:
        """The number of cells with numbered vertices: each inner vertex that is used has one of the operations."""
        return int((self.operations ** self.used(self.graphs).sum(1)).sum())

    def isomorphic(self) -> int:
        """The number of cells up to isomorphism."""
        size, orders = self.inner + 2, list(permutations(range(self.inner)))
        moved = [(0, *(1 + new for new in order), size - 1) for order in orders]
        places = [[1 << (to[i] * size + to[j]) for i, j in self.pairs] for to in moved]
        images = self.graphs @ np.array(places, dtype=np.int64).T  # a row per graph, a column per permutation
        _, first = np.unique(images.min(1), return_index=True)
        automorphism = images[first] == images[first][:, :1]  # the first permutation moves nothing
        used = self.used(self.graphs[first])
        kept = np.stack([self.operations ** _cycles(order, used) for order in orders], 1)
        orbits, rest = np.divmod((kept * automorphism).sum(1), automorphism.sum(1))
        assert not rest.any()
        return int(orbits.sum())


def _bits(codes: Integers, count: int) -> Flags:
    return (codes[:, None] >> np.arange(count) & 1).astype(np.bool_)


def _cycles(order: tuple[int, ...], used: Flags) -> Integers:
    """The number of cycles of a permutation among the vertices that are used, for each graph."""
    whole: Integers = np.stack([used[:, cycle].all(1) for cycle in cycles(order)]).sum(0)
    return whole


def cycles(order: tuple[int, ...]) -> Iterator[list[int]]:
    """The cycles of a permutation.

    >>> list(cycles((1, 0, 2)))
    [[0, 1], [2]]
    """
    left = set(range(len(order)))
    while left:
        cycle = [min(left)]
        while order[cycle[-1]] != cycle[0]:
            cycle.append(order[cycle[-1]])
        left -= set(cycle)
        yield cycle


def main() -> None:
    graph = load_network(Path("nasbench101")).network.graph()
    cells = Cells.of(graph)
    counted, numbered, isomorphic = networks(graph).count, cells.numbered(), cells.isomorphic()
    print(f"cells with numbered vertices  {numbered:,}, and {counted:,} by `stats`")
    print(f"cells up to isomorphism       {isomorphic:,}, and {PUBLISHED:,} published")
    sys.exit(0 if (numbered, isomorphic) == (counted, PUBLISHED) else 1)


if __name__ == "__main__":
    main()
