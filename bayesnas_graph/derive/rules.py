"""Rules for keeping switches: as the search decided, a fixed number of the best, or as many as a budget allows.

A rule turns one decision into another, with a reason for every switch. Connectivity is checked afterwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from bayesnas_graph.bayes import Decision, Ranking, Why
from bayesnas_graph.bayes.repair import grow_to_fit, keep_enough, meet_requirements, shrink_to_fit
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes import Disconnected, Misfit, prune
from bayesnas_graph.passes.analysis import ChoiceSwitches, choices, cost

Scores = Mapping[str, float]


@dataclass(frozen=True)
class Rule:
    """A rule for deriving an architecture. By default, every switch with positive entropy is kept."""

    per_edge: int | None = None  # candidates kept per choice
    per_node: int | None = None  # choices kept per node
    params: int | None = None  # maximum number of parameters
    flops: int | None = None  # maximum number of multiply-adds
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
        """Candidates per choice; 1 if only edges are limited."""
        return 1 if self.per_edge is None and self.per_node is not None else self.per_edge

    @property
    def decides(self) -> bool:
        """Whether the rule changes the decision of the search."""
        return self.sized or self.ranked_per_edge is not None

    @property
    def sized(self) -> bool:
        """Whether there is a budget."""
        return self.params is not None or self.flops is not None

    def fits(self, graph: Graph) -> bool:
        """Return whether an architecture is within the budget."""
        size = cost(graph)
        fits_params = self.params is None or size.parameters <= self.params
        return fits_params and (self.flops is None or size.flops <= self.flops)


def apply(rule: Rule, graph: Graph, decision: Decision) -> Decision:
    """Apply a rule to a decision. Raises NasError if nothing within its budget is connected."""
    scores = {verdict.name: verdict.score(rule.rank) for verdict in decision.verdicts}
    if rule.ranked_per_edge is not None:
        decision = _ranked(rule.ranked_per_edge, rule.per_node, graph, decision, scores)
    return _sized(rule, graph, decision, scores) if rule.sized else decision


def _ranked(count: int, per_node: int | None, graph: Graph, decision: Decision, scores: Scores) -> Decision:
    """Keep the best candidates of every choice, of the best choices into every node.

    A choice that must keep candidates comes before others into its node, and none keeps more than it may.
    """
    best: dict[str, Why] = {}
    into: dict[str, list[ChoiceSwitches]] = defaultdict(list)
    for choice in choices(graph):
        into[choice.node].append(choice)
    for rivals in into.values():
        worth = {choice: max(scores[name] for name in choice.candidates) for choice in rivals}
        strongest = sorted(rivals, key=lambda choice: (not choice.least, -worth[choice]))
        for place, choice in enumerate(strongest):
            is_in = per_node is None or place < per_node or bool(choice.least)
            most = max(choice.least, min(count, choice.most or count))
            for rank, name in enumerate(sorted(choice.candidates, key=lambda name: (-scores[name], name))):
                best[name] = Why.NODE if not is_in else Why.BEST if rank < most else Why.LIMIT
            if choice.zero is not None:
                best[choice.zero] = Why.BEST if is_in else Why.NODE
    verdicts = (
        replace(verdict, why=best[verdict.name], keep=best[verdict.name].keep) if verdict.name in best else verdict
        for verdict in decision.verdicts
    )
    decision = keep_enough(graph, replace(decision, verdicts=tuple(verdicts)), scores)
    try:
        return meet_requirements(graph, decision, scores)
    except (Disconnected, Misfit):
        return decision  # the caller reports why


def _sized(rule: Rule, graph: Graph, decision: Decision, scores: Scores) -> Decision:
    """Keep as much as fits: close the worst switches until the rest fits, then reopen the best that still fit."""
    try:
        decision = shrink_to_fit(graph, decision, scores, rule.fits)
        pruned = prune(graph, decision.off)
    except (Disconnected, Misfit):
        return decision  # the caller reports why
    if not rule.fits(pruned):
        size = cost(pruned)
        left_over = f"{size.parameters:,} parameters and {size.flops:,} multiply-adds"
        message = f"no more switches can be closed, but {left_over} remain"
        help = "raise the budget, or combine the budget with `--keep-per-edge 1`"
        raise NasError([Diagnostic("NAS614", message, help=help)])
    return grow_to_fit(graph, decision, scores, rule.fits)


def left_groups(graph: Graph) -> set[str]:
    """Return the switches that are still in a graph."""
    return {gate.group for gate in graph.gates}


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"
