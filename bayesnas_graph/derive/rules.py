"""Which switches stay: what the search decided, or a fixed number of the best, or as many as a budget allows.

A rule makes one decision of another, with a reason for every switch. Whether what is left holds together is asked
afterwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from bayesnas_graph.analysis import cost
from bayesnas_graph.bayes import Decision, Ranking, Why
from bayesnas_graph.bayes.settle import enlarged
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.ir import Graph
from bayesnas_graph.ops import Choice, Join
from bayesnas_graph.passes import Disconnected, Misfit, prune

Scores = Mapping[str, float]


@dataclass(frozen=True)
class Rule:
    """How an architecture is derived. Without any number, every switch whose entropy is positive stays."""

    per_edge: int | None = None  # candidates of every choice
    per_node: int | None = None  # choices that lead into a node
    params: int | None = None  # weights at most
    flops: int | None = None  # multiply-adds at most
    rank: Ranking = "relevance"

    def __str__(self) -> str:
        parts = []
        if self.per_node is not None:
            parts.append(f"{_counted(self.per_node, 'edge')} into every node")
        if self.ranked_per_edge is not None:
            parts.append(f"{_counted(self.ranked_per_edge, 'candidate')} on every edge")
        if self.params is not None:
            parts.append(f"at most {self.params:,} weights")
        if self.flops is not None:
            parts.append(f"at most {self.flops:,} multiply-adds")
        return f"{', '.join(parts)}, by {self.rank}" if parts else "every switch with a positive entropy"

    @property
    def ranked_per_edge(self) -> int | None:
        """Candidates of a choice, which is one where only edges were counted."""
        return 1 if self.per_edge is None and self.per_node is not None else self.per_edge

    @property
    def sized(self) -> bool:
        """Whether there is a budget."""
        return self.params is not None or self.flops is not None

    def fits(self, graph: Graph) -> bool:
        """Whether an architecture is within the budget."""
        found = cost(graph)
        few = self.params is None or found.parameters <= self.params
        return few and (self.flops is None or found.flops <= self.flops)


def apply(rule: Rule, graph: Graph, decision: Decision) -> Decision:
    """What a rule makes of a decision. Raises NasError if nothing within its budget holds together."""
    scores = {verdict.name: verdict.worth(rule.rank) for verdict in decision.verdicts}
    if rule.ranked_per_edge is not None:
        decision = _ranked(rule.ranked_per_edge, rule.per_node, graph, decision, scores)
    return _sized(rule, graph, decision, scores) if rule.sized else decision


@dataclass(frozen=True)
class _Choice:
    """The switches of a choice, the same for all uses of a cell."""

    candidates: tuple[str, ...]
    zero: str | None
    node: str  # that it leads into, by the name it has where it was met first


def _ranked(count: int, per_node: int | None, graph: Graph, decision: Decision, scores: Scores) -> Decision:
    """The best candidates of every choice, of the best choices into every node."""
    best: dict[str, Why] = {}
    into: dict[str, list[_Choice]] = defaultdict(list)
    for choice in _choices(graph):
        into[choice.node].append(choice)
    for choices in into.values():
        strongest = sorted(choices, key=lambda choice: -max(scores[name] for name in choice.candidates))
        for place, choice in enumerate(strongest):
            is_in = per_node is None or place < per_node
            for rank, name in enumerate(sorted(choice.candidates, key=lambda name: (-scores[name], name))):
                best[name] = Why.NODE if not is_in else Why.BEST if rank < count else Why.LIMIT
            if choice.zero is not None:
                best[choice.zero] = Why.BEST if is_in else Why.NODE
    verdicts = (
        replace(verdict, why=best[verdict.name], keep=best[verdict.name].keep) if verdict.name in best else verdict
        for verdict in decision.verdicts
    )
    return replace(decision, verdicts=tuple(verdicts))


def _choices(graph: Graph) -> list[_Choice]:
    """All choices, each once however many uses share it."""
    readers: dict[str, list[str]] = defaultdict(list)
    for edge in graph.edges:
        readers[edge.source].append(edge.target)
    groups = {gate.name: gate.group for gate in graph.gates}
    found: dict[tuple[str, ...], _Choice] = {}
    for node in graph:
        if not isinstance(node.op, Choice):
            continue
        candidates = tuple(edge.gate.group for edge in graph.inputs(node.name) if edge.gate)
        if candidates in found:
            continue
        zero = groups.get(f"{node.name}.zero")
        found[candidates] = _Choice(candidates, zero, _joined_at(graph, readers, node.name))
    return list(found.values())


def _joined_at(graph: Graph, readers: Mapping[str, list[str]], name: str) -> str:
    """The node at which a value meets others, or the last that it alone leads to."""
    while len(readers[name]) == 1:
        name = readers[name][0]
        if isinstance(graph[name].op, Join) and len(graph.inputs(name)) > 1:
            break
    return name


def _sized(rule: Rule, graph: Graph, decision: Decision, scores: Scores) -> Decision:
    """As much as there is room for: the worst go until the rest fits, and then the best come back that fit as well."""
    try:
        left = prune(graph, decision.off)
    except (Disconnected, Misfit):
        return decision  # which is told later, and why
    for name in sorted(left_groups(left), key=lambda name: (scores[name], name)):
        if rule.fits(left):
            break
        try:
            smaller = prune(left, {name})
        except (Disconnected, Misfit):
            continue
        left, decision = smaller, decision.changed({name}, Why.SIZE)
    if not rule.fits(left):
        found = cost(left)
        left_over = f"{found.parameters:,} weights and {found.flops:,} multiply-adds"
        message = f"no more switches can be closed, and {left_over} are left"
        help = "allow more, or begin with less: `--keep-per-edge 1` goes with a budget"
        raise NasError([Diagnostic("NAS614", message, help=help)])
    return enlarged(graph, decision, scores, rule.fits)


def left_groups(graph: Graph) -> set[str]:
    """The switches that are still in a graph."""
    return {gate.group for gate in graph.gates}


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"
