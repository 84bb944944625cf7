"""The switches that each switch depends on, arranged so that all can be computed together.

Information flows through a switch if and only if the switch is on and something before it is on. For the strengths
`s` of switches, "or" is addition and "and" is a harmonic sum, so a switch with predecessors has

    1 / gamma = 1 / s + 1 / (the sum of what its predecessors pass on)

The predecessors of a switch are found by walking back from it over edges without a gate.

- The inputs of the network are always on. A switch that they reach without another switch depends on nothing.
- A sum, a mean, a concatenation and a choice work with missing inputs: any switch before them is enough.
  All other operations need all their inputs.
- As in logic, duplicates count once: `x or x` is `x`, and `x and x` is `x`. A block without switches passes on
  its input unchanged, however many branches and skips it has.

A switch passes on its own `s` if only one hop counts, as in the paper, and its own `gamma` if the whole path counts.
A zero switch is not a hop of its own: it always passes on both itself and its predecessors.

A zero switch turns off the candidates of its choice, on either side of them: when it is off, they lead nowhere. In
front of them, it is a predecessor anyway. Behind them it is not, and is counted for each of them in addition to the
predecessors: see `Dependency.inside`. What the candidates pass on excludes it, because it is counted at its own place.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir import Edge, Gate, Graph, Op


@dataclass(frozen=True, slots=True)
class Level:
    """Sums that can be computed after all earlier levels, and then the terms that read them.

    Sum number `sums[i]` has the term `terms[i]`. Term number `readers[i]` depends on sum number `reads[i]`.
    """

    terms: tuple[int, ...]
    sums: tuple[int, ...]
    reads: tuple[int, ...]
    readers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Dependency:
    """How the switches of a graph depend on each other, as numbers.

    Switches are numbered like `Graph.gates`, that is, by edge: a gate on two edges is two switches of one group.
    They are the first terms; the other terms are operations that need several sums at once. The number of levels
    is the number of terms on the longest path through the graph, excluding operations that only pass values on and
    terms that depend on nothing.
    """

    gates: tuple[Gate, ...]
    spans: tuple[Span | None, ...] = field(compare=False, repr=False)  # of every gate, in the text
    groups: tuple[str, ...]
    group: tuple[int, ...]  # of every gate, as an index into `groups`
    is_zero: tuple[bool, ...]  # of every gate, whether it is a zero switch
    inside: tuple[int, ...]  # gates of choices with a zero switch behind them, ...
    outside: tuple[int, ...]  # ... and that zero switch; one entry for each choice around a gate
    levels: tuple[Level, ...]
    terms: int  # their number
    sums: int


def dependency(graph: Graph) -> Dependency:
    """Find the switches that every switch of a graph depends on.

    Takes time proportional to the total length of the sums, for most graphs about their size.
    """
    edges = [edge for edge in graph.edges if edge.gate is not None]
    number = {edge: i for i, edge in enumerate(edges)}
    program = _Program(len(edges))
    handed_on: dict[str, _Sum | None] = {}
    for node in graph:
        inputs: list[_Sum | None] = []
        for edge in graph.inputs(node.name):
            before = handed_on[edge.source]
            inputs.append(before if edge.gate is None else program.switch(number[edge], before))
        handed_on[node.name] = _ALWAYS if node.op.is_input else _joined(node.op, inputs, program)
    pairs = _behind_choices(graph, number)
    gates = graph.gates
    groups = {group: i for i, group in enumerate(dict.fromkeys(gate.group for gate in gates))}
    return Dependency(
        gates=gates,
        spans=tuple(edge.switch_span for edge in edges),
        groups=tuple(groups),
        group=tuple(groups[gate.group] for gate in gates),
        is_zero=tuple(gate.is_zero for gate in gates),
        inside=tuple(inside for inside, _ in pairs),
        outside=tuple(outside for _, outside in pairs),
        levels=program.levels(),
        terms=program.terms,
        sums=len(program.sums),
    )


_Sum = frozenset[int]  # terms; one of them is enough
_ALWAYS = None  # in place of a sum: always on


def _joined(op: Op, inputs: list[_Sum | None], program: _Program) -> _Sum | None:
    """The sum that an operation passes on, given those it reads."""
    depending = [before for before in inputs if before is not _ALWAYS]
    if op.tolerates_missing_inputs:
        return frozenset[int]().union(*depending) if len(depending) == len(inputs) else _ALWAYS
    return program.all_of(depending)


class _Program:
    """Terms and sums, each assigned to the first level at which it can be computed."""

    def __init__(self, switches: int) -> None:
        self.terms = switches
        self.sums: dict[_Sum, int] = {}  # sum -> its number
        self._needs: dict[_Sum, frozenset[_Sum]] = {}  # of the terms that are not switches
        self._term_of: dict[frozenset[_Sum], _Sum] = {}  # the inverse
        self._depth: dict[int, int] = {}  # of a term: the number of levels before it is known
        self._level: dict[_Sum, int] = {}  # at which a sum is computed
        self._added: dict[int, list[tuple[int, int]]] = defaultdict(list)  # by level: a term, its sum
        self._read: dict[int, list[tuple[int, int]]] = defaultdict(list)  # by level: a sum, its reader

    def switch(self, number: int, before: _Sum | None) -> _Sum:
        """Add a switch with its predecessors."""
        self._place(number, [] if before is _ALWAYS else [before])
        return frozenset((number,))

    def all_of(self, needed: list[_Sum]) -> _Sum | None:
        """A term that needs several sums together; one sum or none needs no term."""
        parts = frozenset[_Sum]().union(*(self._needs.get(each, {each}) for each in needed))
        if len(parts) < 2:
            return next(iter(parts), _ALWAYS)
        if parts not in self._term_of:
            term, self.terms = self.terms, self.terms + 1
            self._place(term, sorted(parts, key=sorted))
            self._term_of[parts] = frozenset((term,))
            self._needs[self._term_of[parts]] = parts
        return self._term_of[parts]

    def _place(self, term: int, needed: list[_Sum]) -> None:
        for each in needed:
            if each not in self.sums:
                self.sums[each] = len(self.sums)
                self._level[each] = max(self._depth[one] for one in each)
                self._added[self._level[each]] += ((one, self.sums[each]) for one in sorted(each))
        self._depth[term] = max((self._level[each] + 1 for each in needed), default=0)
        self._read[self._depth[term] - 1] += ((self.sums[each], term) for each in needed)

    def levels(self) -> tuple[Level, ...]:
        """All levels. Terms that depend on nothing are known before the first."""
        return tuple(
            Level(
                terms=tuple(term for term, _ in self._added[level]),
                sums=tuple(number for _, number in self._added[level]),
                reads=tuple(number for number, _ in self._read[level]),
                readers=tuple(term for _, term in self._read[level]),
            )
            for level in range(max(self._depth.values(), default=0))
        )


def _behind_choices(graph: Graph, number: dict[Edge, int]) -> list[tuple[int, int]]:
    """Pairs of a switch and the zero switch behind a choice around it."""
    zeros: dict[str, int] = {}  # by choice; a zero switch that reads another choice is in front of its own
    for edge, i in number.items():
        if edge.gate is not None and edge.gate.is_zero and edge.gate.choice == edge.source:
            zeros[edge.source] = i
    pairs: list[tuple[int, int]] = []
    for node in reversed(list(graph)):
        gated = [edge for edge in graph.inputs(node.name) if edge.gate is not None]
        choices = sorted(choice for choice in graph.choices_around(node.name) if choice in zeros) if gated else []
        pairs += ((number[edge], zeros[choice]) for edge in gated for choice in choices)
    return pairs
