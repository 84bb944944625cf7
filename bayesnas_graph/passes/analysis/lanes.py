"""Many settings of switches at once: a bit of an integer for each, so that `&` and `|` work on all of them.

Bit i of every integer belongs to setting i, its lane. A setting stands for a network if every switch that is on is on a
path from an input to an output, and all outputs are connected. Every network has exactly one such setting: the others
that lead to it have more switches on, which prune to nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bayesnas_graph.passes.analysis.parts import Component, EdgeTerm, Part


@dataclass(frozen=True)
class Lanes:
    """The lanes that are networks, and for every bundle those in which it is on."""

    valid: int
    on: Mapping[int, int]


def evaluate(component: Component, always: frozenset[int], wanted: Mapping[int, int], everything: int) -> Lanes:
    """Find the networks among the settings of a component.

    `wanted` has the lanes of every bundle that may be on or off, `everything` all lanes. A choice that must keep some
    candidates is tried with all of them open where a lane wants none: it then must not be on a path. Elsewhere it keeps
    enough of those that arrive. This agrees with `Rules`, which says the same about one setting of a graph.
    """
    opened = {bundle: wanted.get(bundle, everything) for bundle in component.bundles}
    for limit in component.limits:
        if limit.least:
            some = 0
            for bundle in limit.bundles:
                some |= wanted[bundle]
            for bundle in limit.bundles:
                opened[bundle] |= everything & ~some
    valid = everything
    alive: dict[int, int] = dict.fromkeys(component.bundles, 0)
    for part in component.parts:
        valid &= _flow(part, opened, alive, everything)
    for bundle, lanes in wanted.items():
        valid &= ~(alive[bundle] ^ lanes)
    for limit in component.limits:
        kept = Number.of(wanted[bundle] for bundle in limit.bundles)
        valid &= ~kept.at_least(limit.most + 1, everything)
    on = {b: alive[b] if b in always else wanted[b] for b in component.bundles}
    return Lanes(valid & _obeying(component, always, on, everything) if component.rules else valid, on)


def _flow(part: Part, opened: Mapping[int, int], alive: dict[int, int], everything: int) -> int:
    """The lanes in which the end of a part is reached and its choices keep enough.

    Adds the lanes in which its bundles are on a path to `alive`.
    """
    arrives = _arriving(part, opened, everything)
    used = [0] * len(arrives)
    used[-1] = arrives[-1]
    short = 0
    for i in range(len(part.vertices), 0, -1):
        needed = used[i]
        if not needed:
            continue
        vertex = part.vertices[i - 1]
        if vertex.least > 1:
            kept = [arrives[way.source] & opened[way.bundle] for way in vertex.ways if way.bundle is not None]
            short |= needed & _short(kept, [arrives[way.source] for way in vertex.ways], vertex.least, everything)
        for source, bundle in vertex.ways:
            lanes = needed & arrives[source]
            if bundle is not None:
                lanes &= opened[bundle]
                alive[bundle] |= lanes
            used[source] |= lanes
    return arrives[-1] & ~short


def _arriving(part: Part, opened: Mapping[int, int], everything: int) -> list[int]:
    """For every vertex of a part, the lanes in which it is computed."""
    arrives = [everything]
    for vertex in part.vertices:
        lanes = everything if vertex.needs_all else 0
        for source, bundle in vertex.ways:
            if vertex.needs_all:
                lanes &= arrives[source]
            else:
                lanes |= arrives[source] if bundle is None else arrives[source] & opened[bundle]
        arrives.append(lanes)
    return arrives


def _obeying(component: Component, always: frozenset[int], on: Mapping[int, int], everything: int) -> int:
    """The lanes in which all rules hold, of those that are connected.

    As in `Rules`, a vertex is used if it is needed and could be computed with all demanded switches on.
    """
    demanded = component.demanded | always | {b for limit in component.limits if limit.least for b in limit.bundles}
    freely = {bundle: everything if bundle in demanded else lanes for bundle, lanes in on.items()}
    arrives, used = [_arriving(part, on, everything) for part in component.parts], []
    lanes = everything
    for part, arriving in zip(component.parts, arrives, strict=True):
        could = _arriving(part, freely, everything)
        needed = [0] * len(could)
        needed[-1] = everything
        for i in range(len(part.vertices), 0, -1):
            vertex = part.vertices[i - 1]
            least = vertex.least or int(any(way.bundle in always for way in vertex.ways))
            if least:
                kept = [arriving[way.source] & on[way.bundle] for way in vertex.ways if way.bundle is not None]
                lanes &= ~(needed[i] & _short(kept, [could[way.source] for way in vertex.ways], least, everything))
            for source, bundle in vertex.ways:
                needed[source] |= needed[i] & could[source] & (everything if bundle is None else on[bundle])
        used.append(needed)

    def holds(term: EdgeTerm) -> int:
        kept = arrives[term.source.part][term.source.vertex]
        kept &= used[(term.target or term.source).part][(term.target or term.source).vertex]
        if term.bundles:
            entering = 0
            for bundle in term.bundles:
                entering |= on[bundle]
            kept &= entering
        return kept if term.counts_if_kept else everything & ~kept

    for rule in component.rules:
        around = 0
        for place in rule.around:
            around |= used[place.part][place.vertex]
        holding = Number.of(map(holds, rule.terms))
        right = holding.at_least(rule.least, everything) & ~holding.at_least(rule.most + 1, everything)
        lanes &= right | ~around
    return lanes


def _short(kept: Sequence[int], could: Sequence[int], least: int, everything: int) -> int:
    """The lanes in which fewer than `least` candidates are kept, although more could be."""
    are_kept, could_be = Number.of(kept), Number.of(could)
    short = 0
    for number in range(1, least + 1):
        short |= could_be.at_least(number, everything) & ~are_kept.at_least(number, everything)
    return short


@dataclass(frozen=True)
class Number:
    """A number in every lane: its binary digits, the lowest first."""

    digits: tuple[int, ...]

    @staticmethod
    def of(some: Iterable[int]) -> Number:
        """How many of some are on.

        >>> [bin(digit) for digit in Number.of([0b0111, 0b0011, 0b0001]).digits]
        ['0b101', '0b11']
        """
        digits: list[int] = []
        for carry in some:
            for i, digit in enumerate(digits):
                digits[i], carry = digit ^ carry, digit & carry
                if not carry:
                    break
            if carry:
                digits.append(carry)
        return Number(tuple(digits))

    def at_least(self, number: int, everything: int) -> int:
        """The lanes in which it is at least so large."""
        if number >> len(self.digits):
            return 0
        lanes = everything
        for i, digit in enumerate(self.digits):
            lanes = digit & lanes if number >> i & 1 else digit | lanes
        return lanes
