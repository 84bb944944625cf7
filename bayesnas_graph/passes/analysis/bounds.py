"""Bounds on the price of an architecture that take the rules of the space into account.

A search for the smallest or the largest architecture can stop as soon as it reaches its bound.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cached_property, reduce
from heapq import nlargest, nsmallest
from operator import itemgetter
from typing import NamedTuple

from bayesnas_graph.ir import Shape, ShapeError
from bayesnas_graph.passes.analysis.nesting import Nesting, SwitchUse
from bayesnas_graph.passes.analysis.prices import Prices
from bayesnas_graph.passes.widths import remaining


class ChoiceKind(NamedTuple):
    """What choices that share their switches have in common: how many candidates they keep."""

    groups: frozenset[str]
    least: int
    most: int


class RuleKind(NamedTuple):
    """What rules about edges that share their switches have in common: how many of the edges are kept."""

    edges: tuple[ChoiceKind, ...]
    least: int
    most: int


class EdgeRule(NamedTuple):
    """A rule about edges with a choice each, and the nodes while one of which is used it counts."""

    kind: RuleKind
    around: frozenset[int]
    choices: tuple[int, ...]


Values = Mapping[SwitchUse, int]


class Bound(NamedTuple):
    """A bound, and the switches with which it would be reached if choices and rules were independent."""

    price: int
    on: frozenset[str]


class Bounds:
    """Bounds on the prices of all architectures of a graph.

    Choices that share their switches are set together if they are behind one use of an outer switch; elsewhere they are
    set independently. Where rules overlap, one of them counts. So every architecture is within the bounds, but perhaps
    none reaches them.
    """

    def __init__(self, prices: Prices) -> None:
        self.prices = prices
        self.nesting = Nesting(prices)

    @cached_property
    def most(self) -> Bound:
        """A price that no architecture exceeds."""
        values: dict[SwitchUse, int] = {}
        kept: dict[SwitchUse, set[str]] = defaultdict(set)
        for use in reversed(self.nesting.uses):
            values[use] = use.own
            for rule, kinds in self._counted(use, values, use.inner).items():
                best = [self._largest(kind.most, counted) for kind, counted in kinds.items()]
                for bound in best if rule is None else nlargest(rule.most, best, key=itemgetter(0)):
                    values[use] += bound.price
                    kept[use] |= bound.on
        return self._bound(values, kept)

    @cached_property
    def least(self) -> Bound:
        """A price below which no architecture is."""
        values: dict[SwitchUse, int] = {}
        kept: dict[SwitchUse, set[str]] = defaultdict(set)
        for use in reversed(self.nesting.uses):
            nodes = self._computed[use]
            values[use] = sum(self._least_prices[i] for i in nodes if self.nesting.use_of[i] is use)
            alone = [i for i in use.inner if i in nodes and self._all_arrive(i)]
            for rule, kinds in self._counted(use, values, alone, nodes).items():
                best = [self._smallest(max(1, kind.least), counted) for kind, counted in kinds.items()]
                for bound in best if rule is None else nsmallest(rule.least, best, key=itemgetter(0)):
                    values[use] += bound.price
                    kept[use] |= bound.on
        return self._bound(values, kept)

    def _largest(self, count: int, values: Mapping[str, int]) -> Bound:
        some = nlargest(count, values, key=lambda group: (values[group], -self.prices.hidden[group]))
        return Bound(sum(values[group] for group in some), frozenset(some))

    def _smallest(self, count: int, values: Mapping[str, int]) -> Bound:
        some = nsmallest(count, values, key=lambda group: (values[group], -self.prices.hidden[group]))
        return Bound(sum(values[group] for group in some), frozenset(some))

    def _bound(self, values: Values, kept: Mapping[SwitchUse, Set[str]]) -> Bound:
        """The bound of the whole network, with the switches that are kept where what is around them is."""
        active, on = {self.nesting.uses[0]}, set[str]()
        for use in self.nesting.uses:  # outer before inner
            if use.outer in active and use.group in kept[use.outer]:
                active.add(use)
                on.add(use.group)
        return Bound(values[self.nesting.uses[0]], frozenset(on))

    def _counted(
        self, use: SwitchUse, values: Values, alone: Iterable[int], nodes: Set[int] | None = None
    ) -> Mapping[RuleKind | None, Mapping[ChoiceKind, Counter[str]]]:
        """The values of the candidates behind a use, by the rule about their choices, if there is one.

        Counts the choices in `alone`, and those in rules about one of the `nodes`.
        """
        rule_of: dict[int, RuleKind | None] = dict.fromkeys(alone)
        for rule in self._rules_in[use]:
            applies = nodes is None or not rule.around.isdisjoint(nodes)
            if applies and all(rule_of.get(choice) is None for choice in rule.choices):
                rule_of |= dict.fromkeys(rule.choices, rule.kind)
        counted: dict[RuleKind | None, dict[ChoiceKind, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        for choice, kind in rule_of.items():
            counted[kind][self._kind(choice)].update({inner.group: values[inner] for inner in use.inner[choice]})
        return counted

    def _kind(self, choice: int) -> ChoiceKind:
        op, groups = self.prices.ops[choice], frozenset(s.group for s in self.prices.inputs[choice] if s.group)
        most = len(groups) if op.candidate_limit is None else op.candidate_limit
        return ChoiceKind(groups, min(op.candidate_least, len(groups)), most)

    @cached_property
    def _rules_in(self) -> Mapping[SwitchUse, list[EdgeRule]]:
        """By use, the rules about edges that have a choice each and candidates that arrive; the shortest first.

        Such an edge is kept wherever its target is used, if one of its candidates is on.
        """
        number, found = self.prices.number, defaultdict[SwitchUse, list[EdgeRule]](list)
        constraints = [rule.constraint for rule in self.prices.rules.rules if not rule.of_choice]
        for constraint in sorted(constraints, key=lambda constraint: len(constraint.terms)):
            inside = [t.edge.inside if t.kept and t.edge.closable else () for t in constraint.terms]
            choices = [number[some[0]] for some in inside if len(some) == 1 and some[0] in number]
            kinds = tuple(map(self._kind, choices))
            uses = {self.nesting.use_of[choice] for choice in choices}
            is_simple = len(uses) == 1 and len(set(kinds)) == len(inside)
            if is_simple and all(map(self._all_arrive, choices)):
                around = frozenset(number[name] for name in constraint.around if name in number)
                rule = EdgeRule(RuleKind(kinds, constraint.least, constraint.most), around, tuple(choices))
                found[uses.pop()].append(rule)
        return found

    def _all_arrive(self, choice: int) -> bool:
        return all(self._arrives[source.node] for source in self.prices.inputs[choice])

    @cached_property
    def _arrives(self) -> list[bool]:
        """Which nodes are computed in every architecture that uses them.

        A choice that must keep a candidate is, and so is a node that must have an input.
        """
        prices, rules = self.prices, self.prices.rules
        state = rules.state(frozenset(prices.groups)) if rules else None
        alive = [state is None or state.alive[rules.number[name]] for name in prices.number]
        demanded = set[int]()
        for constraint in (rule.constraint for rule in rules.rules if rule.demands):
            targets = {term.edge.target for term in constraint.terms}
            if len(targets) == 1 and targets <= {*constraint.around}:
                demanded |= {prices.number[target] for target in targets}
        arrives: list[bool] = []
        for i, sources in enumerate(prices.inputs):
            here = [source.group is None and arrives[source.node] for source in sources]
            arrives.append(
                alive[i] and (all(here) or (prices.tolerates_missing_inputs[i] and (any(here) or i in demanded)))
            )
        return arrives

    @cached_property
    def _computed(self) -> Mapping[SwitchUse, Set[int]]:
        """For every use, nodes that every architecture computes in which it is kept, behind it or further in front."""
        found: dict[SwitchUse, set[int]] = {}
        for use in reversed(self.nesting.uses):
            nodes = found[use] = set()
            waiting = list(use.ends)
            while waiting:
                i = waiting.pop()
                if i not in nodes:
                    nodes.add(i)
                    if self.nesting.use_of[i] is use:
                        waiting += [*self._sure_inputs(i), *self._common_inputs(i, use, found)]
        return found

    def _common_inputs(self, i: int, use: SwitchUse, computed: Mapping[SwitchUse, Set[int]]) -> Iterator[int]:
        """The nodes that are computed whichever candidates a node keeps, or whichever edges."""

        def always(kept: int, parts: list[Set[int]]) -> set[int]:
            times = Counter(node for part in parts for node in part)
            return {node for node, count in times.items() if count > len(parts) - kept}

        def with_choice(choice: int) -> set[int]:
            return always(max(1, self._kind(choice).least), [computed[inner] for inner in use.inner[choice]])

        before = self._always_before[i]
        if before is not None:
            yield before
        if i in use.inner and self._all_arrive(i):
            yield from with_choice(i)
        for rule in self._rules_in[use]:
            if i in rule.around:
                yield from always(rule.kind.least, [with_choice(choice) for choice in rule.choices])

    def _sure_inputs(self, i: int) -> list[int]:
        """The nodes that a node reads in every architecture that computes it."""
        sources = self.prices.inputs[i]
        if not self.prices.tolerates_missing_inputs[i]:
            return [source.node for source in sources]
        return [source.node for source in sources if source.group is None and self._arrives[source.node]]

    @cached_property
    def _always_before(self) -> list[int | None]:
        """For every node, the last one that is always computed if it is, as far as single paths show."""
        found: list[int | None] = []

        def common(one: int | None, other: int | None) -> int | None:
            while one != other:
                if one is None or other is None:
                    return None
                one, other = min(one, other), found[max(one, other)]
            return one

        for i, sources in enumerate(self.prices.inputs):
            sure = self._sure_inputs(i)
            if sure or not sources:
                found.append(max(sure, default=None))
            else:
                nodes: list[int | None] = [source.node for source in sources]
                found.append(reduce(common, nodes))
        return found

    @cached_property
    def _least_prices(self) -> list[int]:
        """The price of every node with the narrowest inputs it can have; 0 if they are not known.

        Parameters of shared weights are the price of the first node that uses them, and of those that exclude it.
        """
        shapes: list[Shape | None] = []
        found: list[int] = []
        counted: dict[str, list[int]] = defaultdict(list)
        for i, sources in enumerate(self.prices.inputs):
            inputs = [[shapes[source] for source in self._sure_inputs(i)]]
            if not inputs[0]:
                inputs = [[shapes[source.node]] for source in sources] or [[]]
            shape, price = self._narrowest(i, inputs)
            shapes.append(shape)
            if i in self.prices.shared and self.prices.measure == "parameters":
                same = counted[self.prices.shared[i]]
                price *= all(self._exclude_each_other(i, other) for other in same)
                same += [i] if price else []
            found.append(price)
        return found

    def _exclude_each_other(self, one: int, other: int) -> bool:
        """Whether two nodes are behind candidates of one choice, of which at most one is kept."""
        first, second = self.nesting.use_of.get(one), self.nesting.use_of.get(other)
        if first is None or second is None or first.outer is not second.outer or first.group == second.group:
            return False
        return any(limit.most == 1 and {first.group, second.group} <= {*limit.groups} for limit in self.prices.limits)

    def _narrowest(self, i: int, inputs: list[list[Shape | None]]) -> tuple[Shape | None, int]:
        """The least shape and price of a node that reads one of these lists of shapes."""
        width = remaining(self.prices.chosen[i], ()) if i in self.prices.chosen else None
        found = []
        for some in inputs:
            known = tuple(shape for shape in some if shape is not None)
            if len(known) < len(some):
                return None, 0
            try:
                found.append(self.prices.compute(i, known, width))
            except ShapeError:
                return None, 0
        shapes = [shape for shape, _ in found]
        if len({len(shape) for shape in shapes}) > 1:
            return None, 0
        narrowest = shapes[0] if len(set(shapes)) == 1 else tuple(map(min, zip(*shapes, strict=True)))
        return narrowest, min(price for _, price in found)
