"""From what the switches say to an architecture: what the text allows, what holds together, and how large it may be.

`decide` asks every switch. The answers may not add up: a choice of one keeps two candidates, an output is lost, or
more is closed than a wanted size asks for. Each function here mends one of these and returns another decision; where
one switch must be preferred to another, a score tells which is worth more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from bayesnas_graph.bayes.decision import Decision, Why
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.prune import Disconnected, Misfit, prune

Scores = Mapping[str, float]  # of every group; more is better


def reconnect(graph: Graph, decision: Decision, scores: Scores) -> Decision:
    """Open switches again for as long as an output is lost: of those at which a way to it ends, the best.

    If what is left does not fit together, all that was to be closed stays open.
    """
    while True:
        try:
            prune(graph, decision.off)
            return replace(decision, lost=(), cut=(), misfit=None)
        except Disconnected as error:
            decision = decision.changed(_best_first(error.cut, scores)[:1], Why.BRIDGE)
        except Misfit:
            decision = decision.changed(decision.off, Why.BRIDGE)


def enforce_limits(graph: Graph, decision: Decision, scores: Scores) -> Decision:
    """Close what a choice has too many of: `choose 1` keeps the best of its candidates.

    Where uses of a cell share their switches, the best may be one that nothing arrives at in some use. What cannot be
    closed there without a loss stays.
    """
    decision = close_dead_ends(graph, decision)
    surplus: set[str] = set()
    for candidates, limit in _limits(graph):
        kept = [group for group in candidates if group not in decision.off]
        surplus.update(_best_first(kept, scores)[limit:])
    together = decision.changed(surplus, Why.LIMIT)
    if _holds(graph, together):
        return close_dead_ends(graph, together)
    for group in reversed(_best_first(surplus, scores)):
        smaller = decision.changed([group], Why.LIMIT)
        decision = smaller if _holds(graph, smaller) else decision
    return close_dead_ends(graph, decision)


def shrink_to_fit(graph: Graph, decision: Decision, scores: Scores, fits: Callable[[Graph], bool]) -> Decision:
    """Close switches, the worst first, until what is left fits, or nothing more can go.

    Raises Disconnected or Misfit if there is nothing to begin with.
    """
    left = prune(graph, decision.off)
    for name in sorted({gate.group for gate in left.gates}, key=lambda name: (scores[name], name)):
        if fits(left):
            break
        try:
            smaller = prune(left, {name})
        except (Disconnected, Misfit):
            continue
        left, decision = smaller, decision.changed({name}, Why.SIZE)
    return decision


def grow_to_fit(graph: Graph, decision: Decision, scores: Scores, fits: Callable[[Graph], bool]) -> Decision:
    """Open switches again, the best first, as long as what they belong to fits and no choice has too many.

    A switch alone may add nothing, for what it leads to is still closed: it is opened all the same, and counts when
    the others follow.
    """
    limits = _limits(graph)
    for group in _best_first(decision.off, scores):
        larger = decision.changed([group], Why.ROOM)
        within = all(len(set(candidates) - larger.off) <= limit for candidates, limit in limits if group in candidates)
        if within and _holds(graph, larger) and fits(prune(graph, larger.off)):
            decision = larger
    return close_dead_ends(graph, decision)


def _limits(graph: Graph) -> list[tuple[tuple[str, ...], int]]:
    """The candidates of every choice that may keep only so many of them."""
    found: dict[tuple[str, ...], int] = {}
    for node in graph:
        if node.op.candidate_limit is not None:
            found[tuple(edge.gate.group for edge in graph.inputs(node.name) if edge.gate)] = node.op.candidate_limit
    return list(found.items())


def close_dead_ends(graph: Graph, decision: Decision) -> Decision:
    """Close what no longer lies on a way from an input to an output."""
    left = {gate.group for gate in prune(graph, decision.off).gates}
    stranded = [verdict.name for verdict in decision.verdicts if verdict.keep and verdict.name not in left]
    return decision.changed(stranded, Why.DEAD_END)


def _holds(graph: Graph, decision: Decision) -> bool:
    """Whether what is left is connected and fits together."""
    try:
        prune(graph, decision.off)
    except (Disconnected, Misfit):
        return False
    return True


def _best_first(groups: Iterable[str], scores: Scores) -> list[str]:
    return sorted(groups, key=lambda group: (-scores[group], group))
