"""The graph of a space reduced to what decides whether a switch matters.

A node that only passes on whether its one input arrives is merged with that input. Candidates that read the same value
are one bundle: whatever is kept of them, the same values arrive. What is left is cut at every vertex that all paths
pass: the parts between two cuts are connected or not independently of each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb
from typing import NamedTuple

from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.analysis.limits import Limit, all_limits


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


@dataclass(frozen=True)
class Skeleton:
    """The reduced graph of a space, as components that are independent of each other."""

    bundles: tuple[Bundle, ...]
    always: frozenset[int]  # bundles that are on wherever they are used: `choose exactly 1`
    components: tuple[Component, ...]

    @staticmethod
    def of(graph: Graph) -> Skeleton:
        """Reduce an elaborated graph, which has no zero switches."""
        vertices, choices, number = _vertices(graph)
        bundles, bundle_of, always, bundle_limits = _bundled(vertices, choices, all_limits(graph))
        least = {limit.bundles: limit.least for limit in bundle_limits}
        found = [_vertex(vertex, bundle_of, least) for vertex in vertices]
        ends = [number[name] for name in graph.outputs]
        parts = _cut([*found, Vertex(tuple(Way(end, None) for end in dict.fromkeys(ends)), needs_all=True)])
        return Skeleton(tuple(bundles), frozenset(always), tuple(_components(parts, bundle_limits)))


class _Raw(NamedTuple):
    """A vertex whose inputs have single switches."""

    inputs: tuple[tuple[int, str | None], ...]
    needs_all: bool


def vertex_numbers(graph: Graph) -> dict[str, int]:
    """A number for every node: nodes with the same number are lost together, and 0 is never lost."""
    return _vertices(graph)[2]


def _vertices(graph: Graph) -> tuple[list[_Raw], dict[int, str], dict[str, int]]:
    """The vertices, the choices among them with the names of their nodes, and the vertex of every node.

    Vertex 0 stands for all inputs of the network.
    """
    vertices = [_Raw((), needs_all=True)]
    known: dict[_Raw, int] = {}
    choices: dict[int, str] = {}
    number: dict[str, int] = {}

    def plain(sources: Iterable[int], *, needs_all: bool) -> int:
        ordered = dict.fromkeys(source for source in sources if source or not needs_all)
        if len(ordered) < 2:
            return next(iter(ordered), 0)
        vertex = _Raw(tuple((source, None) for source in ordered), needs_all)
        if vertex not in known:
            known[vertex] = len(vertices)
            vertices.append(vertex)
        return known[vertex]

    for node in graph:
        edges = graph.inputs(node.name)
        if node.op.is_choice or node.op.is_optional:
            number[node.name] = len(vertices)
            choices[len(vertices)] = node.name
            inputs = tuple((number[edge.source], edge.gate.group if edge.gate else None) for edge in edges)
            vertices.append(_Raw(inputs, needs_all=False))
        else:
            sources = (number[edge.source] for edge in edges)
            number[node.name] = plain(sources, needs_all=not node.op.tolerates_missing_inputs)
    return vertices, choices, number


def _bundled(
    vertices: Sequence[_Raw], choices: dict[int, str], by_node: dict[str, Limit]
) -> tuple[list[Bundle], dict[str, int], set[int], list[BundleLimit]]:
    """The bundles, the bundle of every switch, those that are always on, and the limits of several."""
    uses: dict[str, dict[tuple[int, int], None]] = defaultdict(dict)
    bound: dict[str, set[Limit]] = defaultdict(set)
    for target, name in choices.items():
        for source, group in vertices[target].inputs:
            if group is not None:
                uses[group][target, source] = None
        for group in by_node[name].groups:
            bound[group].add(by_node[name])
    alike: dict[tuple[tuple[int, int], ...], list[str]] = defaultdict(list)
    for group, places in uses.items():
        alike[tuple(places)].append(group)
    bundles: list[Bundle] = []
    whole: dict[Limit, int] = {}  # limits of a single bundle
    for members in alike.values():
        groups, of = tuple(members), bound[members[0]]
        only = next(iter(of)) if len(of) == 1 else None
        if not any(limit.is_strict for limit in of):
            bundles.append(Bundle(groups, 1, len(groups)))
        elif only is not None and set(only.groups) == set(groups):
            whole[only] = len(bundles)
            bundles.append(Bundle(groups, max(1, only.least), min(only.most, len(groups))))
        elif only is not None and only.most == 1:
            bundles.append(Bundle(groups, 1, 1))
        else:
            bundles += [Bundle((group,), 1, 1) for group in groups]
    bundle_of = {group: i for i, bundle in enumerate(bundles) for group in bundle.groups}
    always = {i for limit, i in whole.items() if limit.least}
    several: dict[BundleLimit, None] = {}
    for limit in dict.fromkeys(limit for limit in by_node.values() if limit.is_strict and limit not in whole):
        several[BundleLimit(tuple(dict.fromkeys(bundle_of[g] for g in limit.groups)), limit.least, limit.most)] = None
    return bundles, bundle_of, always, list(several)


def _vertex(vertex: _Raw, bundle_of: dict[str, int], least: dict[tuple[int, ...], int]) -> Vertex:
    inputs = (Way(source, None if group is None else bundle_of[group]) for source, group in vertex.inputs)
    ways = tuple(dict.fromkeys(inputs))
    bundles = tuple(way.bundle for way in ways if way.bundle is not None)
    return Vertex(ways, vertex.needs_all, least.get(bundles, 0))


def _cut(vertices: Sequence[Vertex]) -> list[Part]:
    """The parts between the vertices that all paths to the last one pass."""
    used = {len(vertices) - 1}
    for i in range(len(vertices) - 1, 0, -1):
        if i in used:
            used.update(way.source for way in vertices[i].ways)
    order = sorted(used | {0})
    place = {vertex: i for i, vertex in enumerate(order)}
    reach = 0  # the last vertex that is read across the current one
    farthest = [0] * len(order)
    for i in order:
        for way in vertices[i].ways:
            farthest[place[way.source]] = max(farthest[place[way.source]], place[i])
    parts, start = [], 0
    for i in range(1, len(order)):
        reach = max(reach, farthest[i - 1])
        if reach > i:
            continue
        inside = [vertices[order[j]] for j in range(start + 1, i + 1)]
        parts.append(Part(tuple(_renumbered(vertex, place, start) for vertex in inside)))
        start = i
    return parts


def _renumbered(vertex: Vertex, place: dict[int, int], start: int) -> Vertex:
    return vertex._replace(ways=tuple(Way(place[way.source] - start, way.bundle) for way in vertex.ways))


def _components(parts: Sequence[Part], bundle_limits: Sequence[BundleLimit]) -> list[Component]:
    """Parts that share bundles or limits together; equal parts once, and parts without switches not at all."""
    leader: dict[int, int] = {}

    def find(bundle: int) -> int:
        leader.setdefault(bundle, bundle)
        while leader[bundle] != bundle:
            leader[bundle] = leader[leader[bundle]]
            bundle = leader[bundle]
        return bundle

    for together in [*(part.bundles for part in parts), *(limit.bundles for limit in bundle_limits)]:
        first, *others = sorted(together) or [None]
        for other in others:
            leader[find(other)] = find(first)  # type: ignore[arg-type]  # there are others, so there is a first
    by_leader: dict[int, dict[Part, None]] = defaultdict(dict)
    for part in parts:
        if part.bundles:
            by_leader[find(min(part.bundles))][part] = None
    limits_of: dict[int, list[BundleLimit]] = defaultdict(list)
    for limit in bundle_limits:
        limits_of[find(limit.bundles[0])].append(limit)
    return [
        Component(tuple(own), tuple(sorted(set().union(*(part.bundles for part in own)))), tuple(limits_of[first]))
        for first, own in by_leader.items()
    ]
