"""The distinct connected networks of a space: how many there are, and each by its number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import comb, prod

from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.analysis.lanes import Lanes, evaluate
from bayesnas_graph.passes.analysis.misfits import may_misfit
from bayesnas_graph.passes.analysis.parts import Bundle, Component
from bayesnas_graph.passes.analysis.prices import Prices
from bayesnas_graph.passes.analysis.settings import switches
from bayesnas_graph.passes.analysis.skeleton import Skeleton
from bayesnas_graph.passes.analysis.units import Unit, units_of

MOST_BITS = 2**31  # edges times settings to evaluate in one space: a second or less
MOST_LANES = 2**22  # settings at once
MOST_MEMORY = 2**29  # bits: vertices times settings at once
MOST_NODES = 1_000_000  # nodes to visit where every network is built to see whether its shapes match


@dataclass(frozen=True)
class NetworkCount:
    """The number of distinct connected networks of a space; if it is not exact, a bound."""

    count: int
    exact: bool


@dataclass(frozen=True)
class Enumerated:
    """The networks of a component, numbered."""

    bundles: tuple[Bundle, ...]
    component: Component
    lanes: Lanes
    states: tuple[tuple[int, int], ...]  # the ways to choose within bundles, and the lanes that have so many

    @cached_property
    def count(self) -> int:
        """The number of networks."""
        return sum(ways * lanes.bit_count() for ways, lanes in self.states)

    def network(self, number: int) -> set[str]:
        """The switches of the network of this number."""
        for ways, lanes in self.states:
            size = ways * lanes.bit_count()
            if number < size:
                lane, number = _bit(lanes, number // ways), number % ways
                break
            number -= size
        else:
            raise IndexError(number)
        groups: set[str] = set()
        for i in self.component.bundles:
            if self.lanes.on[i] >> lane & 1:
                bundle = self.bundles[i]
                number, rest = divmod(number, bundle.ways)
                groups |= subset(bundle, rest)
        return groups


def subset(bundle: Bundle, number: int) -> set[str]:
    """The switches that are on in one of the ways to have some of a bundle on.

    >>> [sorted(subset(Bundle(("a", "b"), 1, 2), number)) for number in range(3)]
    [['a'], ['b'], ['a', 'b']]
    """
    size, count = bundle.least, len(bundle.groups)
    while number >= comb(count, size):
        number -= comb(count, size)
        size += 1
    found: set[str] = set()
    for place, group in enumerate(bundle.groups):
        if size == 0:
            break
        including = comb(count - place - 1, size - 1)
        if number < including:
            found.add(group)
            size -= 1
        else:
            number -= including
    return found


def _bit(lanes: int, number: int) -> int:
    """The position of the set bit of this number.

    >>> _bit(0b10110, 2)
    4
    """
    start = 0
    while lanes > 1:
        half = lanes.bit_length() // 2
        low = lanes & ((1 << half) - 1)
        if number < low.bit_count():
            lanes = low
        else:
            number -= low.bit_count()
            lanes, start = lanes >> half, start + half
    return start


class Networks:
    """The networks of a space, by component: enumerated where there are not too many settings."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.skeleton = Skeleton.of(graph)
        self.may_misfit = may_misfit(graph)
        left = MOST_BITS
        self.enumerated: list[Enumerated | None] = []
        for component in self.skeleton.components:
            units = [part for unit in units_of(self.skeleton, component) for part in unit.split()]
            work = self._work(component, units)
            found = None if work is None or work > left else self._enumerate(component, units)
            left -= work if work is not None and found is not None else 0
            self.enumerated.append(found)

    def _work(self, component: Component, units: list[Unit]) -> int | None:
        """Edges times settings; None if there are too many settings."""
        lanes = 1
        for unit in units:
            lanes *= unit.states
            if lanes > MOST_LANES:
                return None
        largest = max(len(part.vertices) for part in component.parts)
        return None if lanes * largest > MOST_MEMORY else lanes * sum(part.size for part in component.parts)

    def _enumerate(self, component: Component, units: list[Unit]) -> Enumerated | None:
        count, stride = prod(unit.states for unit in units), 1
        wanted: dict[int, int] = {}
        for unit in units:
            wanted |= unit.lanes(stride, count)
            stride *= unit.states
        lanes = evaluate(component, self.skeleton.always, wanted, (1 << count) - 1)
        states = {1: lanes.valid} if lanes.valid else {}
        steps = MOST_BITS // count
        for i in component.bundles:
            ways = self.skeleton.bundles[i].ways
            if ways == 1:
                continue
            steps -= len(states)
            if steps < 0:
                return None
            states = _split(states, ways, lanes.on[i])
        return Enumerated(self.skeleton.bundles, component, lanes, tuple(sorted(states.items())))

    @cached_property
    def is_enumerated(self) -> bool:
        """Whether every network has a number. Shapes may still not match in some."""
        return all(found is not None for found in self.enumerated)

    @cached_property
    def bound(self) -> int:
        """The number of networks, or more where a component is not enumerated."""
        if self.is_enumerated:
            return prod(found.count for found in self.enumerated if found is not None)
        most = prod(
            self._settings(component) if found is None else found.count
            for component, found in zip(self.skeleton.components, self.enumerated, strict=True)
        )
        return min(most, switches(self.graph).settings)

    def _settings(self, component: Component) -> int:
        """The ways to set the switches of a component, ignoring whether they are on a path."""
        always = (self.skeleton.bundles[i].ways for i in component.bundles if i in self.skeleton.always)
        return prod(always) * prod(unit.total for unit in units_of(self.skeleton, component))

    def network(self, number: int) -> frozenset[str]:
        """The switches of the network of this number. All components must be enumerated."""
        groups: set[str] = set()
        for found in self.enumerated:
            assert found is not None, "all components are enumerated"
            number, rest = divmod(number, found.count)
            groups |= found.network(rest)
        return frozenset(groups)

    def all(self) -> Iterator[frozenset[str]]:
        """Every network by its switches."""
        return map(self.network, range(self.bound))

    def count(self) -> NetworkCount:
        """Count the networks."""
        if not self.is_enumerated or not self.may_misfit:
            return NetworkCount(self.bound, self.is_enumerated)
        if self.bound * len(self.graph) > MOST_NODES:
            return NetworkCount(self.bound, exact=False)
        prices = Prices(self.graph, "parameters")
        return NetworkCount(sum(prices.of(on) is not None for on in self.all()), exact=True)


def _split(states: dict[int, int], ways: int, on: int) -> dict[int, int]:
    """Lanes by the product of the ways so far, after one more bundle that has `ways` in the lanes where it is on."""
    found: dict[int, int] = {}
    for product, lanes in states.items():
        for key, some in ((product, lanes & ~on), (product * ways, lanes & on)):
            if some:
                found[key] = found.get(key, 0) | some
    return found


def networks(graph: Graph) -> NetworkCount:
    """Count the distinct connected networks of an elaborated graph.

    Two settings of the switches that leave the same operations are one network. An operation is left if it is on a path
    from an input to an output.
    """
    return Networks(graph).count() if graph.gates else NetworkCount(1, exact=True)
