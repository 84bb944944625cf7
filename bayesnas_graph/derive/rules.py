"""Which switches stay: what the search decided, or a fixed number of the best, or as many as a budget allows.

A rule makes one decision of another, with a reason for every switch. Whether what is left holds together is asked
afterwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from bayesnas_graph.bayes import Decision, Ranking, Why
from bayesnas_graph.bayes.repair import grow_to_fit, shrink_to_fit
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes import Disconnected, Misfit, prune
from bayesnas_graph.passes.analysis import ChoiceSwitches, choices, cost

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
    def decides(self) -> bool:
        """Whether anything was asked for that the search has not decided."""
        return self.sized or self.ranked_per_edge is not None

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


def _ranked(count: int, per_node: int | None, graph: Graph, decision: Decision, scores: Scores) -> Decision:
    """The best candidates of every choice, of the best choices into every node."""
    best: dict[str, Why] = {}
    into: dict[str, list[ChoiceSwitches]] = defaultdict(list)
    for choice in choices(graph):
        into[choice.node].append(choice)
    for rivals in into.values():
        strongest = sorted(rivals, key=lambda choice: -max(scores[name] for name in choice.candidates))
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


def _sized(rule: Rule, graph: Graph, decision: Decision, scores: Scores) -> Decision:
    """As much as there is room for: the worst go until the rest fits, and then the best come back that fit as well."""
    try:
        decision = shrink_to_fit(graph, decision, scores, rule.fits)
        left = prune(graph, decision.off)
    except (Disconnected, Misfit):
        return decision  # which is told later, and why
    if not rule.fits(left):
        found = cost(left)
        left_over = f"{found.parameters:,} weights and {found.flops:,} multiply-adds"
        message = f"no more switches can be closed, and {left_over} are left"
        help = "allow more, or begin with less: `--keep-per-edge 1` goes with a budget"
        raise NasError([Diagnostic("NAS614", message, help=help)])
    return grow_to_fit(graph, decision, scores, rule.fits)


def left_groups(graph: Graph) -> set[str]:
    """The switches that are still in a graph."""
    return {gate.group for gate in graph.gates}


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"
