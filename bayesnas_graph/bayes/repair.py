"""Turn a decision into a valid architecture: within limits, connected, and of the requested size.

`decide` considers every switch separately. The result may not be valid: a `choose 1` keeps two candidates, a `choose
exactly 1` keeps none, an output is lost, or more is closed than the requested size requires. Each function here repairs
one of these problems and returns a new decision, preferring switches with higher scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from bayesnas_graph.bayes.decision import Decision, Why
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.analysis import cost_by_switch, limits, shortages
from bayesnas_graph.passes.prune import Disconnected, Misfit, prune

Scores = Mapping[str, float]  # of every group; higher is better


def reconnect(graph: Graph, decision: Decision, scores: Scores) -> Decision:
    """Reopen switches until no output is lost: each time the best of those that disconnect an output.

    If the remaining shapes do not match, everything stays open. Choices that keep too few candidates get more.
    """
    while True:
        decision = keep_enough(graph, decision, scores)
        try:
            prune(graph, decision.off)
            return replace(decision, lost=(), cut=(), misfit=None)
        except Disconnected as error:
            decision = decision.changed(_best_first(error.cut, scores)[:1], Why.BRIDGE)
        except Misfit:
            decision = decision.changed(decision.off, Why.BRIDGE)


def keep_enough(graph: Graph, decision: Decision, scores: Scores) -> Decision:
    """Open the best candidates of choices that are used and keep too few: `choose exactly 1` keeps the best.

    A candidate that is opened may contain such a choice, and may have another one before it.
    """
    while short := shortages(graph, decision.off):
        opened = {group for lack in short for group in _best_first(lack.closed, scores)[: lack.missing]}
        decision = decision.changed(opened, Why.LEAST)
    return decision


def enforce_limits(graph: Graph, decision: Decision, scores: Scores) -> Decision:
    """Close surplus candidates: `choose 1` keeps the best.

    If uses of a cell share their switches, the best may be unreachable in some use. Candidates stay if closing them
    would lose an output.
    """
    decision = close_dead_ends(graph, decision)
    surplus: set[str] = set()
    for limit in limits(graph):
        kept = [group for group in limit.groups if group not in decision.off]
        surplus.update(_best_first(kept, scores)[limit.most :])
    together = decision.changed(surplus, Why.LIMIT)
    if _holds(graph, together):
        return close_dead_ends(graph, together)
    for group in reversed(_best_first(surplus, scores)):
        smaller = decision.changed([group], Why.LIMIT)
        decision = smaller if _holds(graph, smaller) else decision
    return close_dead_ends(graph, decision)


def shrink_to_fit(graph: Graph, decision: Decision, scores: Scores, fits: Callable[[Graph], bool]) -> Decision:
    """Close switches, the worst first, until the graph fits or nothing more can be closed.

    Where a choice needs all the candidates it has, a smaller one may take the place of another. Raises Disconnected or
    Misfit if the decision is not valid to begin with.
    """
    left = prune(graph, decision.off)
    for name in sorted({gate.group for gate in left.gates}, key=lambda name: (scores[name], name)):
        if fits(left):
            break
        if shortages(left, {name}):
            continue
        try:
            smaller = prune(left, {name})
        except (Disconnected, Misfit):
            continue
        left, decision = smaller, decision.changed({name}, Why.SIZE)
    return _swap_to_fit(graph, decision, scores, fits)


def _swap_to_fit(graph: Graph, decision: Decision, scores: Scores, fits: Callable[[Graph], bool]) -> Decision:
    """Keep smaller candidates in choices that must keep some, those with the smallest loss of score first."""
    needy = [limit for limit in limits(graph) if limit.least]
    if not needy or fits(prune(graph, decision.off)):
        return decision
    size = {group: (behind.parameters, behind.flops) for group, behind in cost_by_switch(graph).items()}
    pairs = {(old, new) for limit in needy for old in limit.groups for new in limit.groups if size[new] < size[old]}
    swaps = sorted(pairs, key=lambda pair: (scores[pair[0]] - scores[pair[1]], *pair))
    improved = True
    while improved:
        improved = False
        for old, new in swaps:
            if old in decision.off or new not in decision.off:
                continue
            other = keep_enough(graph, decision.changed([old], Why.SIZE).changed([new], Why.LEAST), scores)
            if _holds(graph, other):
                decision, improved = close_dead_ends(graph, other), True
                if fits(prune(graph, decision.off)):
                    return decision
    return decision


def grow_to_fit(graph: Graph, decision: Decision, scores: Scores, fits: Callable[[Graph], bool]) -> Decision:
    """Reopen switches, the best first, as long as the graph fits and choices stay within their limits.

    A single switch may have no effect while its path is still closed: it is opened anyway, and takes effect once the
    others are open.
    """
    found = limits(graph)
    for group in _best_first(decision.off, scores):
        larger = keep_enough(graph, decision.changed([group], Why.ROOM), scores)
        opened = decision.off - larger.off
        on = {verdict.name for verdict in larger.verdicts} - larger.off
        within = not any(limit.exceeded(on) for limit in found if not opened.isdisjoint(limit.groups))
        if within and _holds(graph, larger) and fits(prune(graph, larger.off)):
            decision = larger
    return close_dead_ends(graph, decision)


def close_dead_ends(graph: Graph, decision: Decision) -> Decision:
    """Close switches that are not on a path from an input to an output."""
    left = {gate.group for gate in prune(graph, decision.off).gates}
    stranded = [verdict.name for verdict in decision.verdicts if verdict.keep and verdict.name not in left]
    return decision.changed(stranded, Why.DEAD_END)


def _holds(graph: Graph, decision: Decision) -> bool:
    """Return whether the pruned graph is connected, its shapes match, and its choices keep enough candidates."""
    try:
        prune(graph, decision.off)
    except (Disconnected, Misfit):
        return False
    return not shortages(graph, decision.off)


def _best_first(groups: Iterable[str], scores: Scores) -> list[str]:
    return sorted(groups, key=lambda group: (-scores[group], group))
