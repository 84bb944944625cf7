"""The rules of a space: which settings of its switches are architectures.

A choice that must keep candidates and a `require` statement about edges are both constraints: of some edges, so many
are kept. Limits on choices are in `limits.py`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from bayesnas_graph.ir import Constraint, Graph, Node, Term, WrittenEdge


class RuleInput(NamedTuple):
    """A node that another reads, the switch between them if there is one, and the choice of that switch."""

    node: int
    group: str | None
    choice: str


class Way(NamedTuple):
    """A node that another reads through any of some switches."""

    node: int
    groups: frozenset[str | None]  # None among them if there is no switch
    is_free: bool  # whether a constraint demands one of the switches


@dataclass(frozen=True, slots=True)
class RuleEdge:
    """An edge of a constraint, with nodes as numbers."""

    counts_if_kept: bool
    source: int | None  # None if it was pruned
    target: int | None  # None if there is no join
    slots: tuple[int, ...]  # where it enters its target
    inside: tuple[str, ...]  # the choices and optional operations on it
    closable: bool


@dataclass(frozen=True, slots=True)
class Rule:
    """A constraint, with nodes as numbers."""

    constraint: Constraint
    edges: tuple[RuleEdge, ...]
    around: frozenset[int]
    of_choice: bool = False  # whether it says how many candidates a choice must keep

    @property
    def demands(self) -> bool:
        """Whether it needs edges to be kept, whatever else is."""
        return self.constraint.least > 0 and all(edge.counts_if_kept for edge in self.edges)


class Violation(NamedTuple):
    """A rule that does not hold, and how many more of its terms must hold; negative if there are too many."""

    rule: Rule
    missing: int


def violated(graph: Graph, off: Collection[str]) -> list[Constraint]:
    """The constraints that do not hold once these switches are closed. To ask often, keep a `Rules`."""
    return [violation.rule.constraint for violation in Rules(graph).violated(frozenset(off))]


class Rules:
    """The constraints of a graph, indexed for checking many settings of its switches.

    A constraint counts only while its motif or node is used. A node is used if an output needs its value, and if it
    could be computed: where a constraint demands edges, the switches on them are taken to be on. So a node that must
    have two inputs cannot be lost by closing all of them, but a node after a value that is never computed, or inside an
    operation that is off, is simply gone.

    Nodes are numbered in order. A node that only reads another one, without a switch, has the number of that one:
    operations in a row count once, which makes the graph of a cell many times smaller.
    """

    def __init__(self, graph: Graph) -> None:
        self.number = number = _numbers(graph)
        self.outputs = [number[name] for name in graph.outputs]
        self.visited = 0  # nodes visited so far: a measure of time that does not depend on the machine
        choices = [_of_choice(graph, node, number) for node in graph if node.op.candidate_least]
        self.rules = (*choices, *(_of_constraint(graph, constraint, number) for constraint in graph.constraints))
        if not self.rules:
            return
        first = {number[node.name]: node for node in reversed(list(graph))}
        nodes = [first[i] for i in range(len(first))]
        self.tolerates_missing_inputs = [node.op.tolerates_missing_inputs for node in nodes]
        self.inputs = [
            [
                RuleInput(number[e.source], e.gate.group if e.gate else None, e.gate.choice if e.gate else "")
                for e in graph.inputs(node.name)
            ]
            for node in nodes
        ]
        self.readers: list[list[tuple[int, str | None]]] = [[] for _ in self.inputs]
        for i, sources in enumerate(self.inputs):
            for source in sources:
                self.readers[source.node].append((i, source.group))
        self.groups_of: dict[str, list[str]] = {}  # a choice or optional operation -> its switches
        for gate in graph.gates:
            self.groups_of.setdefault(gate.choice, []).append(gate.group)
        self.zeros = frozenset(gate.group for gate in graph.gates if gate.is_zero)
        demanded = {choice for rule in self.rules if rule.demands for edge in rule.edges for choice in edge.inside}
        self._ways = [_ways(sources, demanded) for sources in self.inputs]

    def __bool__(self) -> bool:
        return bool(self.rules)

    def violated(self, off: frozenset[str]) -> list[Violation]:
        """The rules that do not hold once these switches are closed."""
        return self.state(off).violations() if self.rules else []

    def state(self, off: frozenset[str]) -> State:
        """What is computed and used once these switches are closed."""
        arriving, alive = self._arriving(off, free=False), self._arriving(off, free=True)
        used = {i for i in self.outputs if alive[i]}
        for i in reversed(range(len(self.inputs))):
            if i in used:
                used.update(way.node for way in self._ways[i] if alive[way.node] and not way.groups <= off)
        self.visited += 3 * len(self.inputs)
        return State(self, off, arriving, alive, used)

    def _arriving(self, off: frozenset[str], *, free: bool) -> list[bool]:
        """Which nodes are computed; with `free`, as if the switches that constraints demand were on."""
        arriving: list[bool] = []
        for ways, is_any_enough in zip(self._ways, self.tolerates_missing_inputs, strict=True):
            arrives = not ways or not is_any_enough
            for node, groups, is_free in ways:
                is_open = arriving[node] and ((free and is_free) or not groups <= off)
                if is_open is is_any_enough:
                    arrives = is_open
                    break
            arriving.append(arrives)
        return arriving


@dataclass(frozen=True)
class State:
    """A setting of the switches: what is computed, what could be, and what is used."""

    rules: Rules
    off: frozenset[str]
    arriving: list[bool]
    alive: list[bool]
    used: set[int]

    def violations(self) -> list[Violation]:
        """The rules that do not hold."""
        found = []
        for rule in self.rules.rules:
            if rule.around.isdisjoint(self.used):
                continue
            holding = sum(self.keeps(edge) is edge.counts_if_kept for edge in rule.edges)
            least = rule.constraint.least
            if rule.of_choice:  # only candidates that could be computed count
                least = min(least, sum(edge.source is not None and self.alive[edge.source] for edge in rule.edges))
            missing = least - holding if holding < least else min(0, rule.constraint.most - holding)
            if missing:
                found.append(Violation(rule, missing))
        return found

    def keeps(self, edge: RuleEdge) -> bool:
        """Return whether an edge is kept: it carries a value to a node that is used."""
        if edge.source is None or not self.arriving[edge.source]:
            return False
        if edge.target is None:
            return edge.source in self.used
        inputs = self.rules.inputs[edge.target]
        return edge.target in self.used and any(inputs[slot].group not in self.off for slot in edge.slots)


def _ways(sources: list[RuleInput], demanded: set[str]) -> list[Way]:
    """The ways into a node, by the node they come from."""
    groups: dict[tuple[int, bool], list[str | None]] = {}
    for source in sources:
        groups.setdefault((source.node, source.choice in demanded), []).append(source.group)
    return [Way(node, frozenset(some), is_free) for (node, is_free), some in groups.items()]


def _numbers(graph: Graph) -> dict[str, int]:
    """The number of every node; see `Rules`. The nodes that outputs and constraints name have a number of their own."""
    named = {*graph.outputs}
    for constraint in graph.constraints:
        written = [term.edge for term in constraint.terms]
        named |= {*constraint.around, *(name for edge in written for name in (edge.source, edge.target))}
    numbers: dict[str, int] = {}
    count = 0
    for node in graph:
        edges = graph.inputs(node.name)
        if len(edges) == 1 and edges[0].gate is None and node.name not in named:
            numbers[node.name] = numbers[edges[0].source]
        else:
            numbers[node.name] = count
            count += 1
    return numbers


def _of_constraint(graph: Graph, constraint: Constraint, number: dict[str, int]) -> Rule:
    edges = []
    for term in constraint.terms:
        edge = term.edge
        source, target = number.get(edge.source), number.get(edge.target)
        if edge.target and target is None:
            source = None  # the edge is gone
        into = graph.inputs(edge.target) if target is not None else ()
        slots = tuple(e.slot for e in into if e.source == edge.source)
        edges.append(RuleEdge(term.kept, source, target, slots, edge.inside, edge.closable))
    return Rule(constraint, tuple(edges), frozenset(number[name] for name in constraint.around if name in number))


def _of_choice(graph: Graph, node: Node, number: dict[str, int]) -> Rule:
    """The rule of a choice that must keep candidates."""
    into, place = graph.inputs(node.name), number[node.name]
    edges = tuple(RuleEdge(True, number[e.source], place, (e.slot,), (node.name,), False) for e in into)
    terms = tuple(Term(WrittenEdge(e.source, node.name, (node.name,))) for e in into)
    gate = into[0].gate
    assert gate is not None, "the edges of a choice are gated"
    least = min(node.op.candidate_least, len(into))
    text = f"exactly {least} of {len(into)} candidates of {gate.place}"
    constraint = Constraint(terms, least, len(terms), (node.name,), text, gate.part, node.span)
    return Rule(constraint, edges, frozenset([place]), of_choice=True)
