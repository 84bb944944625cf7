"""Switches that are set together: the bundles of a choice, or the edges into a node that must have two inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb, prod
from random import Random

from bayesnas_graph.passes.analysis.parts import Component
from bayesnas_graph.passes.analysis.skeleton import Skeleton

MANY = 1000  # sets of bundles to list
LARGEST_TABLE = 50_000  # numbers in the table of a unit


class Unit:
    """Bundles of which certain numbers are on, such as those of a choice: a set is as likely as it has ways."""

    def __init__(self, bundles: tuple[int, ...], ways: list[int], sizes: Collection[int]) -> None:
        self.bundles = bundles
        self.ways = dict(zip(bundles, ways, strict=True))
        self.sizes = sorted(size for size in sizes if size <= len(bundles))
        # For every place and number: the ways to have exactly that many of the bundles from there on.
        self.table = [[1] + [0] * self.sizes[-1]]
        for way in reversed(ways):
            after = self.table[-1]
            self.table.append([after[k] + (way * after[k - 1] if k else 0) for k in range(len(after))])
        self.table.reverse()

    @property
    def total(self) -> int:
        """The ways to set all switches of the bundles."""
        return sum(self.table[0][size] for size in self.sizes)

    @property
    def states(self) -> int:
        """The sets of bundles that may be on."""
        return sum(comb(len(self.bundles), size) for size in self.sizes)

    def lanes(self, stride: int, count: int) -> dict[int, int]:
        """The lanes of every bundle, of `count` lanes that go through all states, each for `stride` lanes in a row."""
        sets = [frozenset(some) for size in self.sizes for some in combinations(self.bundles, size)]
        off, on = "0" * stride, "1" * stride
        found = {}
        for bundle in self.bundles:
            lanes = int("".join(on if bundle in some else off for some in reversed(sets)), 2)
            length = stride * len(sets)
            while length < count:
                lanes |= lanes << length
                length *= 2
            found[bundle] = lanes & ((1 << count) - 1)
        return found

    def split(self) -> list[Unit]:
        """The unit, or its bundles alone if there are many sets of them and hardly more without a rule."""
        if self.states <= MANY or 2 ** len(self.bundles) > 4 * self.states:
            return [self]
        return [Unit((bundle,), [ways], (0, 1)) for bundle, ways in self.ways.items()]

    def draw(self, random: Random) -> list[int]:
        """Return the bundles that are on."""
        return self._of_size(self._size(random, self.table[0]), random)

    def _size(self, random: Random, ways: Sequence[int]) -> int:
        number = random.randrange(sum(ways[size] for size in self.sizes))
        for size in self.sizes:
            if number < ways[size]:
                return size
            number -= ways[size]
        raise AssertionError("the numbers are those of the sizes")

    def _of_size(self, left: int, random: Random) -> list[int]:
        found = []
        for place, bundle in enumerate(self.bundles):
            if left and random.randrange(self.table[place][left]) >= self.table[place + 1][left]:
                left -= 1
                found.append(bundle)
        return found

    def propose(self, random: Random) -> list[int]:
        """Return bundles, each of which is as likely to be on as off if they are few; see `odds`."""
        size = random.choice(self.sizes)
        return sorted(random.sample(self.bundles, size))

    def odds(self, on: Collection[int]) -> Fraction:
        """How much more likely a set should be than `propose` makes it, up to a factor."""
        ways = prod(self.ways[bundle] for bundle in on)
        return Fraction(ways * comb(len(self.bundles), len(on)))


def units_of(skeleton: Skeleton, component: Component) -> list[Unit]:
    """What is set independently. A bundle with several limits is set alone, and the limits are checked later.

    The edges into a node that must have two inputs are set together: two of them, or none if the node is not used.
    """
    bundles = skeleton.bundles
    alone = dict.fromkeys(skeleton.free(component))
    units = []
    for some, sizes in (*_limited(component), *_required(component)):
        if all(bundle in alone for bundle in some) and len(some) * max(sizes) <= LARGEST_TABLE:
            units.append(Unit(some, [bundles[i].ways for i in some], sizes))
            for bundle in some:
                del alone[bundle]
    return units + [Unit((bundle,), [bundles[bundle].ways], (0, 1)) for bundle in alone]


def _limited(component: Component) -> Iterator[tuple[tuple[int, ...], Collection[int]]]:
    """The bundles of every choice, and how many may be on. Those in several are left out."""
    times = Counter(bundle for limit in component.limits for bundle in limit.bundles)
    for limit in component.limits:
        if all(times[bundle] == 1 for bundle in limit.bundles):
            yield limit.bundles, range(limit.most + 1)


def _required(component: Component) -> Iterator[tuple[tuple[int, ...], Collection[int]]]:
    """The bundles of edges that a rule counts, and how many may be on, if every edge has one bundle."""
    for rule in component.rules:
        edges = [term.closed_by for term in rule.terms]
        if all(term.counts_if_kept for term in rule.terms) and all(len(edge) == 1 for edge in edges):
            some = tuple(dict.fromkeys(edge[0] for edge in edges))
            if len(some) == len(edges):
                yield some, {0, *range(rule.least, rule.most + 1)}
