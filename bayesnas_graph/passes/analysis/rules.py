"""The rules of a space: which settings of its switches are architectures.

A choice that must keep candidates and a `require` statement about edges are both constraints: of some edges, so many
are kept. Limits on choices are in `limits.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from bayesnas_graph.ir import Constraint, Graph, Node, Term, WrittenEdge
from bayesnas_graph.ir.walks import reached


class RuleInput(NamedTuple):
    """A node that another reads, the switch between them if there is one, and the choice of that switch."""

    node: int
    group: str | None
    choice: str


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
    """

    def __init__(self, graph: Graph) -> None:
        number = {node.name: i for i, node in enumerate(graph)}
        self.outputs = [number[name] for name in graph.outputs]
        self.visited = 0  # nodes visited so far: a measure of time that does not depend on the machine
        choices = [_of_choice(graph, node, number) for node in graph if node.op.candidate_least]
        self.rules = (*choices, *(_of_constraint(graph, constraint, number) for constraint in graph.constraints))
        if not self.rules:
            return
        self.tolerates_missing_inputs = [node.op.tolerates_missing_inputs for node in graph]
        self.inputs = [
            [
                RuleInput(number[e.source], e.gate.group if e.gate else None, e.gate.choice if e.gate else "")
                for e in graph.inputs(node.name)
            ]
            for node in graph
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
        self._is_free = [[source.choice in demanded for source in sources] for sources in self.inputs]

    def __bool__(self) -> bool:
        return bool(self.rules)

    def violated(self, off: frozenset[str]) -> list[Violation]:
        """The rules that do not hold once these switches are closed."""
        return self.state(off).violations() if self.rules else []

    def state(self, off: frozenset[str]) -> State:
        """What is computed and used once these switches are closed."""
        arriving, alive = self._arriving(off, free=False), self._arriving(off, free=True)

        def sources(i: int) -> Iterable[int]:
            return (s.node for s in self.inputs[i] if alive[s.node] and s.group not in off)

        used = reached([i for i in self.outputs if alive[i]], sources)
        self.visited += 3 * len(self.inputs)
        return State(self, off, arriving, alive, used)

    def _arriving(self, off: frozenset[str], *, free: bool) -> list[bool]:
        """Which nodes are computed; with `free`, as if the switches that constraints demand were on."""
        arriving: list[bool] = []
        for i, sources in enumerate(self.inputs):
            here = [
                arriving[source.node] and (source.group not in off or (free and is_free))
                for source, is_free in zip(sources, self._is_free[i], strict=True)
            ]
            arriving.append(all(here) or (any(here) and self.tolerates_missing_inputs[i]))
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
