"""The search for a small architecture, where not all switches can be closed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Set
from itertools import cycle

from bayesnas_graph.passes.analysis.nesting import Nesting
from bayesnas_graph.passes.analysis.prices import Prices, Source

PATIENCE = 1_000_000  # nodes a search may visit before it returns its best result: a second or two

On = frozenset[str]


class Descent:
    """From the cheapest ways to the outputs downwards, one switch forbidden or insisted on at a time.

    It ends when no switch gains anything. That need not be the minimum: switches that uses share, and
    inputs that come along unasked, can make it worth while to change many at once. Among thousands of
    random spaces it missed the minimum once. Equal spaces give equal results.
    """

    def __init__(self, prices: Prices, nesting: Nesting) -> None:
        self.prices = prices
        self.worth = nesting.worth
        self.surcharge = nesting.most
        self.stop = prices.visited + PATIENCE
        # Of every switch the first use.
        self.uses = {use.group: use for use in nesting.uses if use.group}
        self.sources = {s.group: s.node for sources in reversed(prices.inputs) for s in sources if s.group}

    def run(self) -> tuple[On, int]:
        """The switches of the smallest architecture found, and its price."""
        on, best = self._start()
        ways = self._ways(on=on)
        tried = 0  # switches since the last one that gained something
        for group in cycle(sorted(self.prices.groups, key=self.worth.__getitem__)):
            if tried == len(self.prices.groups) or self.prices.visited > self.stop:
                break
            tried += 1
            other = self._without(group) if group in on else self._with(group, on, ways)
            cost = None if other is None else self.prices.of(other)
            if other is not None and cost is not None and cost < best:
                on, best, tried = other, cost, 0
                ways = self._ways(on=on)
        return on, best

    def _start(self) -> tuple[On, int]:
        """The cheapest ways; or, if they do not fit together, something in every choice."""
        everywhere = filled(self.prices, sorted(self.prices.groups, key=self.worth.__getitem__))
        for on in (self._way(), everywhere):
            if on is not None and self.prices.of(on) is not None:
                on = self._halved(on, sorted(on, key=lambda group: (-self.worth[group], group)))
                cost = self.prices.of(on)
                assert cost is not None, "only what can be closed was closed"
                return on, cost
        raise AssertionError("with something on in every choice, nothing is lost")

    # ---- steps

    def _without(self, group: str) -> On | None:
        """The cheapest ways that do not need a switch."""
        way = self._way(frozenset([group]))
        return None if way is None else self._reduced(way, way)

    def _with(self, group: str, on: On, ways: dict[int, list[int]]) -> On | None:
        """Open one more switch and all that it needs, if others can be closed for it."""
        needed = self._passed(ways, [self.sources[group]])
        if needed is None:
            return None
        added = {group, *needed, *self.uses[group].enclosing()} - on
        both = on | added
        for limit in self.prices.limits:
            if limit.exceeded(both):
                both -= limit.groups - added
        less = self._reduced(both, on)
        return None if less >= on else self._reduced(less, added)

    def _reduced(self, on: On, some: Set[str]) -> On:
        """Close as many of these switches as possible, the most expensive first."""
        costs = {group: self.prices.of(on - {group}) for group in sorted(some & on)}
        for _, group in sorted((cost, group) for group, cost in costs.items() if cost is not None):
            if self.prices.of(on - {group}) is not None:
                on = on - {group}
        return on

    def _halved(self, on: On, order: list[str]) -> On:
        """Close what can be closed of many switches: all of them together, or else of either half."""
        if self.prices.of(on - set(order)) is not None:
            return on - set(order)
        if len(order) > 1:
            half = len(order) // 2
            on = self._halved(self._halved(on, order[:half]), order[half:])
        return on

    # ---- ways

    def _way(self, forbidden: Set[str] = frozenset()) -> On | None:
        """The switches on the cheapest ways to the outputs. Of a choice that may keep k, the k passed most often."""
        while True:
            passed = self._passed(self._ways(forbidden), self.prices.outputs)
            if passed is None:
                return None
            exceeded = next((limit for limit in self.prices.limits if limit.exceeded(passed.keys())), None)
            if exceeded is None:
                return frozenset(passed)
            ranked = sorted(exceeded.groups & passed.keys(), key=lambda group: (-passed[group], group))
            forbidden = forbidden | set(ranked[exceeded.most :])

    def _ways(self, forbidden: Set[str] = frozenset(), on: Set[str] | None = None) -> dict[int, list[int]]:
        """For every node that can be computed, the positions of the inputs with which it is cheapest.

        That is an estimate, which knows neither what else flows into a sum nor that concatenations become
        narrower. With `on`, as few other switches as possible are passed.
        """
        least: dict[int, int] = {}
        found: dict[int, list[int]] = {}

        def price(source: Source) -> int:
            closed = on is not None and source.group is not None and source.group not in on
            return least[source.node] + (self.surcharge if closed else 0)

        for i, sources in enumerate(self.prices.inputs):
            here = [p for p, source in enumerate(sources) if source.node in least and source.group not in forbidden]
            if here and self.prices.tolerates_missing_inputs[i]:
                here = [min(here, key=lambda p: price(sources[p]))]
            elif len(here) < len(sources):
                continue
            found[i] = here
            least[i] = self.prices.single[i] + sum(price(sources[p]) for p in here)
        self.prices.visited += len(self.prices.inputs)
        return found

    def _passed(self, ways: dict[int, list[int]], nodes: list[int]) -> Counter[str] | None:
        """The switches on the paths to some nodes, and how often each occurs; None if there is no path."""
        passed: Counter[str] = Counter()
        seen: set[int] = set()
        waiting = list(nodes)
        while waiting:
            i = waiting.pop()
            if i not in ways:
                return None
            if i not in seen:
                seen.add(i)
                for source, group in (self.prices.inputs[i][position] for position in ways[i]):
                    waiting.append(source)
                    passed.update([group] if group else [])
        return passed


def filled(prices: Prices, order: Iterable[str]) -> On:
    """As many switches on as the limits allow, the first in order first."""
    on: set[str] = set()
    for group in order:
        on.add(group)
        if any(group in limit.groups and limit.exceeded(on) for limit in prices.limits):
            on.remove(group)
    return frozenset(on)
