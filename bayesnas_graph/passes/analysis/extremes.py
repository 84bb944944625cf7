"""The smallest and the largest architecture of a space."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from operator import itemgetter

from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.analysis.descent import PATIENCE, Descent, filled
from bayesnas_graph.passes.analysis.nesting import Nesting
from bayesnas_graph.passes.analysis.prices import Measure, Prices


@dataclass(frozen=True, slots=True)
class Extreme:
    """An architecture as the groups of its closed switches, and its price."""

    cost: int
    off: frozenset[str]
    proven: bool  # whether none is smaller or larger


@dataclass(frozen=True, slots=True)
class Range:
    """The costs between which the architectures of a space lie."""

    smallest: Extreme
    largest: Extreme


@dataclass(frozen=True, slots=True)
class Extremes:
    """The ranges of parameters and of multiply-adds per sample. The architectures at their ends may differ."""

    parameters: Range
    flops: Range


def extremes(graph: Graph) -> Extremes:
    """Find the smallest and the largest architectures.

    An architecture is a setting of the switches that `prune` accepts, with no more candidates of a choice
    on than it may keep. Its cost is that of the pruned graph.

    Opening a switch adds operations and makes concatenations wider, so it never makes an architecture
    cheaper. Hence the largest has all switches on, and of a choice that may keep k candidates the k
    costliest, in all uses together. Choices that stand in candidates of others can spoil that, if uses
    share them and differ in what is costliest. So it is compared with a bound (see `Nesting`) and proven
    where it reaches it; else it is the largest found after swapping single candidates.

    Likewise the smallest has all switches off, if that leaves the network connected and fits together,
    and this is proven. Else all settings are tried if they are few; if they are many, it is searched for,
    and is the smallest found (see `Descent`).
    """
    return Extremes(_range(graph, "parameters"), _range(graph, "flops"))


def _range(graph: Graph, measure: Measure) -> Range:
    prices = Prices(graph, measure)
    nesting = Nesting(prices)
    return Range(_smallest(prices, nesting), _largest(prices, nesting))


def _smallest(prices: Prices, nesting: Nesting) -> Extreme:
    least = prices.of(frozenset())
    if least is not None:
        return Extreme(least, frozenset(prices.groups), proven=True)
    few = 2 ** len(prices.groups) * len(prices.ops) <= PATIENCE
    on, cost = _least(prices) if few else Descent(prices, nesting).run()
    return Extreme(cost, frozenset(prices.groups) - on, proven=few)


def _least(prices: Prices) -> tuple[frozenset[str], int]:
    """The smallest architecture; among equals the first with the fewest open switches."""
    sizes = range(len(prices.groups) + 1)
    settings = (frozenset(on) for size in sizes for on in combinations(prices.groups, size))
    costs = ((on, prices.of(on)) for on in settings)
    return min(((on, cost) for on, cost in costs if cost is not None), key=itemgetter(1))


def _largest(prices: Prices, nesting: Nesting) -> Extreme:
    on = filled(prices, sorted(prices.groups, key=lambda group: -nesting.worth[group]))
    cost = prices.of(on)
    assert cost is not None, "with something on in every choice, nothing is lost"
    stop = prices.visited + PATIENCE
    improved = True
    while improved and cost < nesting.most:
        improved = False
        for other in _swaps(prices, on):
            found = prices.of(other)
            if found is not None and found > cost:
                on, cost, improved = other, found, True
                break
            if prices.visited > stop:
                break
    return Extreme(cost, frozenset(prices.groups) - on, proven=cost == nesting.most)


def _swaps(prices: Prices, on: frozenset[str]) -> Iterator[frozenset[str]]:
    """Settings with one candidate of a choice in place of another."""
    for limit in prices.limits:
        for candidate in sorted(limit.groups - on):
            yield from (on - {other} | {candidate} for other in sorted(limit.groups & on))
