"""The parts of the reduced graph of a space: vertices, bundles of switches, and the rules about them."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import NamedTuple


class Way(NamedTuple):
    """An input of a vertex, and the bundle of switches on it, if there are any."""

    source: int
    bundle: int | None


class Vertex(NamedTuple):
    """A value: it arrives if one of its inputs does, or if all of them do."""

    ways: tuple[Way, ...]
    needs_all: bool
    least: int = 0  # for a choice with several bundles, how many it must keep while it is used


class Bundle(NamedTuple):
    """Switches that read the same value in every use, so that one of them is worth as much as all."""

    groups: tuple[str, ...]
    least: int  # how many are on, if any
    most: int

    @property
    def ways(self) -> int:
        """The number of ways to have some of them on."""
        return sum(comb(len(self.groups), size) for size in range(self.least, self.most + 1))


class BundleLimit(NamedTuple):
    """The limit of a choice with several bundles, in bundles. `least` matters only where the choice is used."""

    bundles: tuple[int, ...]
    least: int
    most: int


class Location(NamedTuple):
    """A vertex of a part of a component."""

    part: int
    vertex: int


class EdgeTerm(NamedTuple):
    """An edge that a requirement counts if it is kept, or if it is not."""

    source: Location
    target: Location | None  # None if the node has no other edges
    bundles: tuple[int, ...]  # one of them is on where the edge enters its target; empty if it has no switch there
    counts_if_kept: bool
    closed_by: tuple[int, ...]  # the bundles that are off if it is


class EdgeRule(NamedTuple):
    """A requirement: so many of its terms hold while one of some vertices is used."""

    terms: tuple[EdgeTerm, ...]
    least: int
    most: int
    around: tuple[Location, ...]


@dataclass(frozen=True)
class Part:
    """The vertices between two cuts, numbered from the first cut, which is 0. The last is the second cut."""

    vertices: tuple[Vertex, ...]

    @property
    def bundles(self) -> set[int]:
        """The bundles in it."""
        return {way.bundle for vertex in self.vertices for way in vertex.ways if way.bundle is not None}

    @property
    def size(self) -> int:
        """The number of its edges."""
        return sum(len(vertex.ways) for vertex in self.vertices)


@dataclass(frozen=True)
class Component:
    """Parts that share switches. Different components have none in common."""

    parts: tuple[Part, ...]
    bundles: tuple[int, ...]
    limits: tuple[BundleLimit, ...]
    rules: tuple[EdgeRule, ...] = ()
    demanded: frozenset[int] = frozenset()  # bundles on edges that rules want to be kept
