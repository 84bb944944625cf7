"""The search for a small architecture, where not all switches can be closed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Set
from itertools import cycle

from bayesnas_graph.passes.analysis.bounds import Bounds
from bayesnas_graph.passes.analysis.limits import Limit
from bayesnas_graph.passes.analysis.prices import NodeInput, Prices

PATIENCE = 1_000_000  # nodes a search may visit before it returns its best result: a second or two

On = frozenset[str]


class Descent:
    """Descends from the cheapest paths to the outputs by forbidding or requiring one switch at a time.

    It ends when no single change is an improvement. This need not be the minimum: because of shared switches and
    joins with several inputs, it can pay to change many switches at once. Among thousands of random spaces, it missed
    the minimum once. The result is deterministic.
    """

    def __init__(self, bounds: Bounds) -> None:
        self.prices = prices = bounds.prices
        self.least = bounds.least
        nesting = bounds.nesting
        self.worth = nesting.worth
        self.surcharge = nesting.most
        self.stop = prices.visited + PATIENCE
        # The first use of every switch.
        self.uses = {use.group: use for use in nesting.uses if use.group}
        self.sources = {s.group: s.node for sources in reversed(prices.inputs) for s in sources if s.group}

    def run(self) -> tuple[On, int]:
        """The switches of the smallest architecture found, and its price."""
        on, best = self._start()
        ways = self._ways(on=on)
        tried = 0  # switches since the last improvement
        for group in cycle(sorted(self.prices.groups, key=self.worth.__getitem__)):
            if tried == len(self.prices.groups) or best == self.least.price or self.prices.visited > self.stop:
                break
            tried += 1
            other = self._without(group) if group in on else self._with(group, on, ways)
            cost = None if other is None else self.prices.of(other)
            if other is not None and cost is not None and cost < best:
                on, best, tried = other, cost, 0
                ways = self._ways(on=on)
        return on, best

    def _start(self) -> tuple[On, int]:
        """The setting of the bound, the cheapest paths, or else at least one candidate of every choice."""
        cost = self.prices.of(self.least.on)
        if cost is not None:
            return self.least.on, cost
        everywhere = filled(self.prices, sorted(self.prices.groups, key=self.worth.__getitem__))
        for on in (self._way(), self._completed(everywhere)):
            if on is not None and self.prices.of(on) is not None:
                on = self._halved(on, sorted(on, key=lambda group: (-self.worth[group], group)))
                cost = self.prices.of(on)
                assert cost is not None, "only switches that can be closed were closed"
                return on, cost
        raise AssertionError("with a candidate on in every choice, no output is lost")

    # ---- steps

    def _without(self, group: str) -> On | None:
        """The cheapest paths without a switch."""
        way = self._way(frozenset([group]))
        return None if way is None else self._reduced(way, way)

    def _with(self, group: str, on: On, ways: dict[int, list[int]]) -> On | None:
        """Open one more switch and everything it needs, if others can be closed in exchange."""
        needed = self._passed(ways, [self.sources[group]])
        if needed is None:
            return None
        added = {group, *needed, *self.uses[group].enclosing()} - on
        both = on | added
        for limit in self.prices.limits:
            if limit.exceeded(both):
                both -= set(limit.groups) - added
        both = self._completed(both)
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
        """Close as many of these switches as time allows: all together, or else recursively in each half."""
        if self.prices.visited > self.stop:
            return on
        if self.prices.of(on - set(order)) is not None:
            return on - set(order)
        if len(order) > 1:
            half = len(order) // 2
            on = self._halved(self._halved(on, order[:half]), order[half:])
        return on

    # ---- paths

    def _way(self, forbidden: Set[str] = frozenset()) -> On | None:
        """The switches on the cheapest paths to the outputs. Of a choice that may keep k, the k used most often."""
        while True:
            passed = self._passed(self._ways(forbidden), self.prices.outputs)
            if passed is None:
                return None
            exceeded = next((limit for limit in self.prices.limits if limit.exceeded(passed.keys())), None)
            if exceeded is None:
                return self._completed(frozenset(passed), forbidden)
            ranked = sorted(passed.keys() & set(exceeded.groups), key=lambda group: (-passed[group], group))
            forbidden = forbidden | set(ranked[exceeded.most :])

    def _completed(self, on: On, forbidden: Set[str] = frozenset()) -> On:
        """Open and close switches so that all rules are kept, preferring cheap ones; unchanged if none are found."""
        scores = {
            group: -self.worth[group] - (self.surcharge if group in forbidden else 0) for group in self.prices.groups
        }
        found = self.prices.obeying(on, scores)
        return on if found is None else found

    def _ways(self, forbidden: Set[str] = frozenset(), on: Set[str] | None = None) -> dict[int, list[int]]:
        """For every node that can be computed, the positions of the inputs with which it is cheapest.

        This is an estimate: it ignores the other inputs of sums, and that concatenations become narrower. With `on`,
        as few other switches as possible are used.
        """
        least: dict[int, int] = {}
        arriving: dict[int, list[int]] = {}

        def price(source: NodeInput) -> int:
            closed = on is not None and source.group is not None and source.group not in on
            return least[source.node] + (self.surcharge if closed else 0)

        for i, sources in enumerate(self.prices.inputs):
            here = [p for p, source in enumerate(sources) if source.node in least and source.group not in forbidden]
            if here and self.prices.tolerates_missing_inputs[i]:
                here = [min(here, key=lambda p: price(sources[p]))]
            elif len(here) < len(sources):
                continue
            arriving[i] = here
            least[i] = self.prices.single[i] + sum(price(sources[p]) for p in here)
        self.prices.visited += len(self.prices.inputs)
        return arriving

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
    """As many switches on as the limits allow, in this order."""
    limits: dict[str, list[Limit]] = {group: [] for group in prices.groups}
    for limit in prices.limits:
        for group in limit.groups:
            limits[group].append(limit)
    on: set[str] = set()
    for group in order:
        on.add(group)
        if any(limit.exceeded(on) for limit in limits[group]):
            on.remove(group)
    return frozenset(on)
