"""The results of an iteration, between two phases of training."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bayesnas_graph.bayes import Decision
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.analysis import Cost
from bayesnas_graph.search.budget import Shrink
from bayesnas_graph.search.problem import Problem
from bayesnas_graph.search.progress import SearchProgress


@dataclass(frozen=True, eq=False)
class Iteration:
    """The results of an iteration."""

    number: int
    decision: Decision  # about the switches that were still open
    architecture: Decision  # about all switches, if the search ended here
    graph: Graph  # that architecture
    cost: Cost
    reopened: tuple[str, ...]  # switches that stay open only because an output depends on them
    intensities: tuple[float, float]
    shrink: Shrink | None  # how far the penalty can still move the remaining gates, if it is what closes them


def complete(problem: Problem, progress: SearchProgress, decision: Decision) -> Decision:
    """Return a decision with the switches that were closed before, in the order of the graph."""
    known = {verdict.name: verdict for verdict in (*progress.closed, *decision.verdicts)}
    groups = dict.fromkeys(gate.group for gate in problem.graph.gates)
    return replace(decision, verdicts=tuple(known[group] for group in groups))
