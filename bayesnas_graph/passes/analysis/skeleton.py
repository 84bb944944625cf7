"""The graph of a space reduced to what decides whether a switch matters.

A node that only passes on whether its one input arrives is merged with that input. Candidates that read the same value
are one bundle: whatever is kept of them, the same values arrive. What is left is cut at every vertex that all paths
pass: the parts between two cuts are connected or not independently of each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.analysis.limits import Limit, all_limits
from bayesnas_graph.passes.analysis.parts import (
    Bundle,
    BundleLimit,
    Component,
    EdgeRule,
    EdgeTerm,
    Location,
    Part,
    Vertex,
    Way,
)


@dataclass(frozen=True)
class Skeleton:
    """The reduced graph of a space, as components that are independent of each other."""

    bundles: tuple[Bundle, ...]
    always: frozenset[int]  # bundles that are on wherever they are used: `choose exactly 1`
    components: tuple[Component, ...]

    def free(self, component: Component) -> list[int]:
        """The bundles of a component that may be on or off."""
        return [bundle for bundle in component.bundles if bundle not in self.always]

    @staticmethod
    def of(graph: Graph) -> Skeleton:
        """Reduce an elaborated graph, which has no zero switches."""
        vertices, choices, number = _vertices(graph, _named_in_constraints(graph))
        bundles, bundle_of, always, bundle_limits = _bundled(vertices, choices, all_limits(graph))
        least = {limit.bundles: limit.least for limit in bundle_limits}
        found = [_vertex(vertex, bundle_of, least) for vertex in vertices]
        ends = [number[name] for name in graph.outputs]
        parts, place = _cut([*found, Vertex(tuple(Way(end, None) for end in dict.fromkeys(ends)), needs_all=True)])
        rules = _rules(graph, {name: place[i] for name, i in number.items() if i in place}, bundle_of)
        return Skeleton(tuple(bundles), frozenset(always), tuple(_components(parts, bundle_limits, rules)))


def _named_in_constraints(graph: Graph) -> frozenset[str]:
    """The nodes that requirements are about: whether they are used matters, so they are not merged with others."""
    named: set[str] = set()
    for constraint in graph.constraints:
        named.update(constraint.around)
        for term in constraint.terms:
            named.update(name for name in (term.edge.source, term.edge.target) if name)
    return frozenset(named)


class _Raw(NamedTuple):
    """A vertex whose inputs have single switches."""

    inputs: tuple[tuple[int, str | None], ...]
    needs_all: bool


def vertex_numbers(graph: Graph) -> dict[str, int]:
    """A number for every node: nodes with the same number are lost together, and 0 is never lost."""
    return _vertices(graph, frozenset())[2]


def _vertices(graph: Graph, own: frozenset[str]) -> tuple[list[_Raw], dict[int, str], dict[str, int]]:
    """The vertices, the choices among them with the names of their nodes, and the vertex of every node.

    Vertex 0 stands for all inputs of the network. The nodes in `own` are not merged with others.
    """
    vertices = [_Raw((), needs_all=True)]
    known: dict[_Raw, int] = {}
    choices: dict[int, str] = {}
    number: dict[str, int] = {}

    def plain(sources: Iterable[int], *, needs_all: bool, alone: bool) -> int:
        ordered = dict.fromkeys(source for source in sources if source or not needs_all or alone)
        if alone:
            vertices.append(_Raw(tuple((source, None) for source in ordered), needs_all))
            return len(vertices) - 1
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
            alone = node.name in own and not node.op.is_input
            number[node.name] = plain(sources, needs_all=not node.op.tolerates_missing_inputs, alone=alone)
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


def _cut(vertices: Sequence[Vertex]) -> tuple[list[Part], dict[int, Location]]:
    """The parts between the vertices that all paths to the last one pass, and the place of every vertex.

    A cut is the last vertex of a part, and also the first of the next.
    """
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
    parts: list[Part] = []
    start = 0
    at = {order[0]: Location(0, 0)}
    for i in range(1, len(order)):
        at[order[i]] = Location(len(parts), i - start)
        reach = max(reach, farthest[i - 1])
        if reach > i:
            continue
        inside = [vertices[order[j]] for j in range(start + 1, i + 1)]
        parts.append(Part(tuple(_renumbered(vertex, place, start) for vertex in inside)))
        start = i
    return parts, at


def _rules(graph: Graph, at: dict[str, Location], bundle_of: dict[str, int]) -> list[tuple[EdgeRule, frozenset[int]]]:
    """The requirements, each with the bundles that it demands."""
    of_choice: dict[str, dict[int, None]] = defaultdict(dict)
    for gate in graph.gates:
        of_choice[gate.choice][bundle_of[gate.group]] = None
    found = []
    for constraint in graph.constraints:
        terms = []
        for term in constraint.terms:
            edge = term.edge
            source, target = at[edge.source], at[edge.target] if edge.target else None
            if target is not None and source.part != target.part:
                source = Location(target.part, 0)  # the cut before the part
            into = graph.inputs(edge.target) if edge.target else ()
            gates = [e.gate for e in into if e.source == edge.source]
            entering = tuple(dict.fromkeys(bundle_of[gate.group] for gate in gates if gate is not None))
            inside = tuple(dict.fromkeys(bundle for choice in edge.inside for bundle in of_choice[choice]))
            own = entering if all(gates) else ()
            terms.append(EdgeTerm(source, target, own, term.kept, inside if edge.closable else ()))
        around = tuple(at[name] for name in constraint.around if name in at)
        demands = constraint.least > 0 and all(term.kept for term in constraint.terms)
        choices = (choice for term in constraint.terms for choice in term.edge.inside) if demands else ()
        demanded = frozenset(bundle for choice in choices for bundle in of_choice[choice])
        found.append((EdgeRule(tuple(terms), constraint.least, constraint.most, around), demanded))
    return found


def _renumbered(vertex: Vertex, place: dict[int, int], start: int) -> Vertex:
    return vertex._replace(ways=tuple(Way(place[way.source] - start, way.bundle) for way in vertex.ways))


def _components(
    parts: Sequence[Part], bundle_limits: Sequence[BundleLimit], rules: Sequence[tuple[EdgeRule, frozenset[int]]]
) -> list[Component]:
    """Parts that share bundles, limits or rules together; equal parts once, and parts without switches not at all."""
    together = _Together(len(parts))
    for i, part in enumerate(parts):
        for bundle in part.bundles:
            together.join(i, ("bundle", bundle))
    for limit in bundle_limits:
        for bundle in limit.bundles:
            together.join(("limit", limit), ("bundle", bundle))
    for rule, _ in rules:
        for i in _parts_of(rule):
            together.join(("rule", id(rule)), i)
    members: dict[object, list[int]] = defaultdict(list)
    ruled = set[int]().union(*(_parts_of(rule) for rule, _ in rules))
    for i, part in enumerate(parts):
        if part.bundles or i in ruled:
            members[together.find(i)].append(i)
    limits_of: dict[object, list[BundleLimit]] = defaultdict(list)
    for limit in bundle_limits:
        limits_of[together.find(("limit", limit))].append(limit)
    rules_of: dict[object, list[tuple[EdgeRule, frozenset[int]]]] = defaultdict(list)
    for rule, demanded in rules:
        rules_of[together.find(("rule", id(rule)))].append((rule, demanded))
    return [
        _component([(i, parts[i]) for i in own], limits_of[leader], rules_of[leader]) for leader, own in members.items()
    ]


def _parts_of(rule: EdgeRule) -> set[int]:
    """The parts that the vertices of a rule are in."""
    ends = [place for term in rule.terms for place in (term.source, term.target) if place is not None]
    return {place.part for place in (*ends, *rule.around)}


def _component(
    own: Sequence[tuple[int, Part]],
    bundle_limits: Sequence[BundleLimit],
    rules: Sequence[tuple[EdgeRule, frozenset[int]]],
) -> Component:
    distinct = {part: i for i, part in enumerate(dict.fromkeys(part for _, part in own))}
    index = {i: distinct[part] for i, part in own}

    def moved(place: Location) -> Location:
        return place._replace(part=index[place.part])

    placed: dict[EdgeRule, None] = {}
    for rule, _ in rules:
        terms = (
            term._replace(source=moved(term.source), target=moved(term.target) if term.target else None)
            for term in rule.terms
        )
        placed[rule._replace(terms=tuple(terms), around=tuple(map(moved, rule.around)))] = None
    bundles = sorted(set[int]().union(*(part.bundles for part in distinct)))
    demanded = frozenset[int]().union(*(some for _, some in rules))
    return Component(tuple(distinct), tuple(bundles), tuple(bundle_limits), tuple(placed), demanded)


class _Together:
    """Sets of things that belong together."""

    def __init__(self, count: int) -> None:
        self._leader: dict[object, object] = {i: i for i in range(count)}

    def find(self, thing: object) -> object:
        """The thing that stands for all that belong together with this one."""
        self._leader.setdefault(thing, thing)
        while self._leader[thing] != thing:
            self._leader[thing] = self._leader[self._leader[thing]]
            thing = self._leader[thing]
        return thing

    def join(self, one: object, other: object) -> None:
        """Say that two things belong together."""
        self._leader[self.find(other)] = self.find(one)
