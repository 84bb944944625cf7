"""Choices within candidates of choices, and the price of the operations behind each switch."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import reduce

from bayesnas_graph.passes.analysis.prices import Prices


@dataclass(eq=False)
class SwitchUse:
    """One use of a switch, and the price of the operations computed only for it. The root is the whole network."""

    group: str
    outer: SwitchUse | None
    depth: int
    ends: tuple[int, ...]  # the nodes that it passes on
    own: int = 0  # price of the operations that belong here
    inner: dict[int, list[SwitchUse]] = field(default_factory=lambda: defaultdict(list))  # choice -> its switches

    def enclosing(self) -> list[str]:
        """The switches that enclose it."""
        groups = []
        use = self.outer
        while use is not None and use.group:
            groups.append(use.group)
            use = use.outer
        return groups


class Nesting:
    """The uses of the switches of a graph, and their prices.

    An operation belongs to the first switch on all its paths to an output. It is only used if that switch
    and all switches around it are on.
    """

    def __init__(self, prices: Prices) -> None:
        root = SwitchUse("", None, 0, tuple(prices.outputs))
        self.uses = [root]  # outer before inner
        self.use_of = uses = dict.fromkeys(prices.outputs, root)  # by node
        counted_once = prices.measure == "parameters"
        for i in reversed(range(len(prices.ops))):
            if i not in uses:
                continue  # an input that nothing reads
            if not counted_once or i not in prices.shared:
                uses[i].own += prices.single[i]
            for source, group in prices.inputs[i]:
                use = uses[i] if group is None else self._inner(uses[i], i, source, group)
                uses[source] = _common(uses[source], use) if source in uses else use
        if counted_once:
            self._add_shared(prices, uses)
        self.worth: dict[str, int] = defaultdict(int)  # price behind each switch, in all its uses together
        self.most = self._value(prices)

    def _add_shared(self, prices: Prices, uses: dict[int, SwitchUse]) -> None:
        """Add the price of shared weights once: to one of the nodes that use them, if all are on together."""
        nodes: dict[str, list[int]] = defaultdict(list)
        for i, weights in prices.shared.items():
            nodes[weights] += [i] if i in uses else []
        for same in nodes.values():
            found = [uses[i] for i in same]
            if len({(use.group, *use.enclosing()) for use in found}) > 1:
                found = [reduce(_common, found)]
            if found:
                found[0].own += max(prices.single[i] for i in same)

    def _inner(self, outer: SwitchUse, choice: int, source: int, group: str) -> SwitchUse:
        use = SwitchUse(group, outer, outer.depth + 1, (source,))
        outer.inner[choice].append(use)
        self.uses.append(use)
        return use

    def _value(self, prices: Prices) -> int:
        """An upper bound on the price of an architecture.

        Choices that share their switches are set together if they belong to one use. In different uses they are set
        independently, and operations that several candidates read are always counted. So no architecture exceeds
        the result, but perhaps none reaches it.
        """
        value: dict[SwitchUse, int] = {}
        for use in reversed(self.uses):
            alike: dict[tuple[frozenset[str], int | None], Counter[str]] = defaultdict(Counter)
            for choice, candidates in use.inner.items():
                limit = prices.ops[choice].candidate_limit
                values = {candidate.group: value[candidate] for candidate in candidates}
                alike[frozenset(values), limit].update(values)
            best = (sum(sorted(values.values(), reverse=True)[:limit]) for (_, limit), values in alike.items())
            value[use] = use.own + sum(best)
            if use.group:
                self.worth[use.group] += value[use]
        return value[self.uses[0]]


def _common(one: SwitchUse, other: SwitchUse) -> SwitchUse:
    """The innermost use that contains both."""
    while one is not other:
        if one.depth < other.depth:
            one, other = other, one
        assert one.outer is not None, "all uses are in the root"
        one = one.outer
    return one
