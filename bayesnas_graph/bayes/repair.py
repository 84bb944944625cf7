"""Turn a decision into a valid architecture: within limits, connected, and of the requested size.

`decide` considers every switch separately. The result may not be valid: a `choose 1` keeps two candidates, an output is
lost, or more is closed than the requested size requires. Each function here repairs one of these problems and returns
a new decision, preferring switches with higher scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from bayesnas_graph.bayes.decision import Decision, Why
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.prune import Disconnected, Misfit, prune

Scores = Mapping[str, float]  # of every group; higher is better


def reconnect(graph: Graph, decision: Decision, scores: Scores) -> Decision:
    """Reopen switches until no output is lost: each time the best of those that disconnect an output.

    If the remaining shapes do not match, everything stays open.
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
    """Close surplus candidates: `choose 1` keeps the best.

    If uses of a cell share their switches, the best may be unreachable in some use. Candidates stay if closing them
    would lose an output.
    """
    decision = close_dead_ends(graph, decision)
    surplus: set[str] = set()
    for candidates, limit in limits(graph):
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
    """Close switches, the worst first, until the graph fits or nothing more can be closed.

    Raises Disconnected or Misfit if the decision is not valid to begin with.
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
    """Reopen switches, the best first, as long as the graph fits and choices stay within their limits.

    A single switch may have no effect while its path is still closed: it is opened anyway, and takes effect once the
    others are open.
    """
    found = limits(graph)
    for group in _best_first(decision.off, scores):
        larger = decision.changed([group], Why.ROOM)
        within = all(len(set(candidates) - larger.off) <= limit for candidates, limit in found if group in candidates)
        if within and _holds(graph, larger) and fits(prune(graph, larger.off)):
            decision = larger
    return close_dead_ends(graph, decision)


def limits(graph: Graph) -> list[tuple[tuple[str, ...], int]]:
    """The candidates that are left and the limit of every choice that has one."""
    found: dict[tuple[str, ...], int] = {}
    for node in graph:
        if node.op.candidate_limit is not None:
            found[tuple(edge.gate.group for edge in graph.inputs(node.name) if edge.gate)] = node.op.candidate_limit
    return list(found.items())


def close_dead_ends(graph: Graph, decision: Decision) -> Decision:
    """Close switches that are not on a path from an input to an output."""
    left = {gate.group for gate in prune(graph, decision.off).gates}
    stranded = [verdict.name for verdict in decision.verdicts if verdict.keep and verdict.name not in left]
    return decision.changed(stranded, Why.DEAD_END)


def _holds(graph: Graph, decision: Decision) -> bool:
    """Return whether the pruned graph is connected and its shapes match."""
    try:
        prune(graph, decision.off)
    except (Disconnected, Misfit):
        return False
    return True


def _best_first(groups: Iterable[str], scores: Scores) -> list[str]:
    return sorted(groups, key=lambda group: (-scores[group], group))
