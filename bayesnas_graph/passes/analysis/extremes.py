"""The smallest and the largest architecture of a space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, cycle
from math import inf
from operator import itemgetter

from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.analysis.bounds import Bounds
from bayesnas_graph.passes.analysis.descent import PATIENCE, Descent, filled
from bayesnas_graph.passes.analysis.feasible import check_feasible
from bayesnas_graph.passes.analysis.prices import Measure, Prices


@dataclass(frozen=True, slots=True)
class Extreme:
    """An architecture as the groups of its closed switches, and its price."""

    cost: int
    off: frozenset[str]
    proven: bool  # whether it is known to be optimal


@dataclass(frozen=True, slots=True)
class CostRange:
    """The smallest and the largest cost of the architectures of a space."""

    smallest: Extreme
    largest: Extreme


@dataclass(frozen=True, slots=True)
class Extremes:
    """The ranges of parameters and of multiply-adds per sample, which may be reached by different architectures."""

    parameters: CostRange
    flops: CostRange


def extremes(graph: Graph) -> Extremes:
    """Find the smallest and the largest architectures. Raises NasError if no architecture meets all requirements.

    An architecture is a setting of the switches that `prune` accepts and that respects the limits of choices and the
    requirements of the space. Its cost is that of the pruned graph.

    Opening a switch adds operations and widens concatenations, so it never makes an architecture cheaper. The largest
    one therefore has all switches on, except that a choice that may keep k candidates keeps the k most expensive,
    summed over all uses. This can fail for choices inside candidates of other choices, if uses share them and differ in
    which candidate is most expensive. So the result is compared with a bound (see `Bounds`): it is proven if it
    reaches the bound; otherwise it is the largest found after swapping single candidates.

    The smallest has all switches off, if the network is then still connected and its shapes match; this is proven.
    Otherwise all settings are tried if there are few; if there are many, it is the smallest that a search finds (see
    `Descent`), which is also compared with a bound.
    """
    check_feasible(graph)
    return Extremes(_range(graph, "parameters"), _range(graph, "flops"))


def _range(graph: Graph, measure: Measure) -> CostRange:
    bounds = Bounds(Prices(graph, measure))
    return CostRange(_smallest(bounds), _largest(bounds))


def _smallest(bounds: Bounds) -> Extreme:
    prices = bounds.prices
    least = prices.of(frozenset())
    if least is not None:
        return Extreme(least, frozenset(prices.groups), proven=True)
    exhaustive = 2 ** len(prices.groups) * len(prices.ops) <= PATIENCE
    on, cost = _least(prices) if exhaustive else Descent(bounds).run()
    return Extreme(cost, frozenset(prices.groups) - on, proven=exhaustive or cost == bounds.least.price)


def _least(prices: Prices) -> tuple[frozenset[str], int]:
    """The smallest architecture; among equals, the first with the fewest open switches."""
    sizes = range(len(prices.groups) + 1)
    settings = (frozenset(on) for size in sizes for on in combinations(prices.groups, size))
    costs = ((on, prices.of(on)) for on in settings)
    return min(((on, cost) for on, cost in costs if cost is not None), key=itemgetter(1))


def _largest(bounds: Bounds) -> Extreme:
    prices, worth = bounds.prices, bounds.nesting.worth
    scores = {group: float(worth[group]) for group in prices.groups}
    on, cost = bounds.most.on, prices.of(bounds.most.on)
    if cost is None:
        on, cost = _most(prices, filled(prices, sorted(prices.groups, key=lambda group: -worth[group])), scores)
    changes, stop = _changes(prices, scores), prices.visited + PATIENCE
    tried = 0  # since the last improvement
    for old, new in cycle(changes):
        if tried == len(changes) or cost == bounds.most.price or prices.visited > stop:
            break
        tried += 1
        if new in on or (old and old not in on):
            continue
        other = on - {old} | {new} if old else prices.obeying(on | {new}, {**scores, new: inf})
        price = None if other is None else prices.of(other)
        if other is not None and price is not None and price > cost:
            on, cost, tried = other, price, 0
    return Extreme(cost, frozenset(prices.groups) - on, proven=cost == bounds.most.price)


def _most(prices: Prices, most: frozenset[str], worth: Mapping[str, float]) -> tuple[frozenset[str], int]:
    """An expensive architecture, by closing what a requirement does not allow, the cheapest first."""
    on, stop = most, prices.visited + PATIENCE
    constrained = {group for groups in prices.constrained for group in groups}
    few = 4 * len(constrained) * len(prices.ops) < PATIENCE  # so that all can be compared, many times
    while few and prices.visited < stop and prices.breaks_rules(on):
        smaller = ((prices.unruled(on - {group}), group) for group in sorted(on & constrained))
        left = [(cost, group) for cost, group in smaller if cost is not None]
        if not left:
            break
        on = on - {max(left, key=itemgetter(0))[1]}  # of several, the first
    found = (prices.obeying(one, worth) for one in dict.fromkeys((on, most)))
    costs = [(cost, one) for one in found if one is not None and (cost := prices.of(one)) is not None]
    assert costs, "with a candidate on in every choice, no output is lost, and `check_feasible` found an architecture"
    cost, on = max(costs, key=itemgetter(0))
    return on, cost


def _changes(prices: Prices, scores: Mapping[str, float]) -> list[tuple[str, str]]:
    """Switches to close, if any, and to open: one candidate or edge in place of another, or one that rules allow."""
    pairs = [(old, new) for limit in prices.limits for new in limit.groups for old in limit.groups]
    for constrained in prices.constrained:  # one edge in place of another
        by_score = sorted(constrained, key=lambda group: (scores[group], group))
        pairs += [(old, new) for old in by_score for new in by_score]
    pairs += [("", group) for group in sorted(prices.groups)] if prices.rules else []
    return [(old, new) for old, new in dict.fromkeys(pairs) if old != new]
