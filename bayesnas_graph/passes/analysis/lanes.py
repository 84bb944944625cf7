"""Many settings of switches at once: a bit of an integer for each, so that `&` and `|` work on all of them.

Bit i of every integer belongs to setting i, its lane. A setting stands for a network if every switch that is on is on a
path from an input to an output, and all outputs are connected. Every network has exactly one such setting: the others
that lead to it have more switches on, which prune to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bayesnas_graph.passes.analysis.skeleton import BundleLimit, Component, Part, Vertex


@dataclass(frozen=True)
class Lanes:
    """The lanes that are networks, and for every bundle those in which it is on."""

    valid: int
    on: Mapping[int, int]


def every_setting(count: int) -> list[int]:
    """The lanes in which each of some bundles is on, for all 2^count settings.

    >>> [bin(lanes) for lanes in every_setting(2)]
    ['0b1010', '0b1100']
    """
    found = []
    for i in range(count):
        lanes = ((1 << (1 << i)) - 1) << (1 << i)
        for j in range(i + 1, count):
            lanes |= lanes << (1 << j)
        found.append(lanes)
    return found


def evaluate(component: Component, always: frozenset[int], wanted: Mapping[int, int], everything: int) -> Lanes:
    """Find the networks among the settings of a component.

    `wanted` has the lanes of every bundle that may be on or off, `everything` all lanes. A choice that must keep some
    candidates is tried with all of them open where a lane wants none: it then must not be on a path. Elsewhere it keeps
    enough of those that arrive. This agrees with `shortages`.
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
        valid &= within(limit, wanted, everything)
    return Lanes(valid, {b: alive[b] if b in always else wanted[b] for b in component.bundles})


def _flow(part: Part, opened: Mapping[int, int], alive: dict[int, int], everything: int) -> int:
    """The lanes in which the end of a part is reached and its choices keep enough.

    Adds the lanes in which its bundles are on a path to `alive`.
    """
    arrives = [everything]
    for vertex in part.vertices:
        lanes = everything if vertex.needs_all else 0
        for source, bundle in vertex.ways:
            if vertex.needs_all:
                lanes &= arrives[source]
            else:
                lanes |= arrives[source] if bundle is None else arrives[source] & opened[bundle]
        arrives.append(lanes)
    used = [0] * len(arrives)
    used[-1] = arrives[-1]
    short = 0
    for i in range(len(part.vertices), 0, -1):
        needed = used[i]
        if not needed:
            continue
        vertex = part.vertices[i - 1]
        if vertex.least > 1:
            short |= needed & _short(vertex, arrives, opened, everything)
        for source, bundle in vertex.ways:
            lanes = needed & arrives[source]
            if bundle is not None:
                lanes &= opened[bundle]
                alive[bundle] |= lanes
            used[source] |= lanes
    return arrives[-1] & ~short


def _short(vertex: Vertex, arrives: Sequence[int], opened: Mapping[int, int], everything: int) -> int:
    """The lanes in which a choice keeps fewer candidates than it must, of those that arrive."""
    kept = [arrives[way.source] & opened[way.bundle] for way in vertex.ways if way.bundle is not None]
    arriving = [arrives[way.source] for way in vertex.ways]
    short, more_arrive = 0, everything
    most = vertex.least - 1
    for exactly, arrive in zip(counted(kept, most, everything), counted(arriving, most, everything), strict=True):
        more_arrive &= ~arrive
        short |= exactly & more_arrive
    return short


def within(limit: BundleLimit, wanted: Mapping[int, int], everything: int) -> int:
    """The lanes that keep no more bundles than a limit allows."""
    lanes = 0
    for exact in counted([wanted[bundle] for bundle in limit.bundles], limit.most, everything):
        lanes |= exact
    return lanes


def counted(some: Sequence[int], most: int, everything: int) -> list[int]:
    """For every number up to `most`, the lanes in which exactly so many of some are on."""
    exact = [everything]
    for lanes in some:
        up = [number & lanes for number in exact]
        exact = [number & ~lanes for number in exact]
        if len(exact) <= most:
            exact.append(0)
        for size in range(1, len(exact)):
            exact[size] |= up[size - 1]
    return exact
