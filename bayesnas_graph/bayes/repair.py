"""Turn a decision into a valid architecture: within limits, connected, and of the requested size.

`decide` considers every switch separately. The result may not be valid: a `choose 1` keeps two candidates, a `choose
exactly 1` keeps none, a `require` does not hold, an output is lost, or more is closed than the requested size requires.
Each function here repairs one of these problems and returns a new decision, preferring switches with higher scores.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

from bayesnas_graph.bayes.decision import Decision, Why
from bayesnas_graph.ir import Constraint, Graph
from bayesnas_graph.passes.analysis import Rules, choices, cost_by_switch, limits, obey, openings
from bayesnas_graph.passes.prune import Disconnected, Misfit, prune

Scores = Mapping[str, float]  # of every group; higher is better
Fits = Callable[[Graph], bool]

PATIENCE = 1_000_000  # nodes of pruned graphs before a search for smaller candidates ends


def reconnect(graph: Graph, decision: Decision, scores: Scores) -> Decision:
    """Reopen switches until no output is lost: each time the best of those that disconnect an output.

    If the remaining shapes do not match, everything stays open. Choices that keep too few candidates get more, and so
    do nodes that must have more inputs.
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

    Nodes that must have more inputs than they keep get the best edges. What is opened may have such a choice inside it
    or before it.
    """
    return _keep_enough(Rules(graph), decision, scores)


def _keep_enough(rules: Rules, decision: Decision, scores: Scores) -> Decision:
    while rules:
        state = rules.state(decision.off)
        for rule, missing in state.violations():
            if rule.demands and missing > 0:
                closed = openings(state, [edge for edge in rule.edges if not state.keeps(edge)], scores)
                if not all(opened <= decision.off for opened in closed):
                    continue  # another rule has just opened one of these: count again
                opened = frozenset[str]().union(*closed[:missing])
                decision = decision.changed(opened, Why.LEAST if rule.of_choice else Why.DEMANDED)
        if decision.off == state.off:
            break
    return decision


def enforce_limits(graph: Graph, decision: Decision, scores: Scores) -> Decision:
    """Close surplus candidates, so that `choose 1` keeps the best, and obey the requirements of the space.

    If uses of a cell share their switches, the best may be unreachable in some use. Candidates stay if closing them
    would lose an output.
    """
    decision = close_dead_ends(graph, decision)
    surplus: set[str] = set()
    for limit in limits(graph):
        kept = [group for group in limit.groups if group not in decision.off]
        surplus.update(_best_first(kept, scores)[limit.most :])
    together = decision.changed(surplus, Why.LIMIT)
    rules = Rules(graph)
    excused = _broken(rules, decision.off)
    if _holds(graph, together, rules, excused):
        decision = together
    else:
        for group in reversed(_best_first(surplus, scores)):
            smaller = decision.changed([group], Why.LIMIT)
            decision = smaller if _holds(graph, smaller, rules, excused) else decision
    return meet_requirements(graph, close_dead_ends(graph, decision), scores)


def meet_requirements(graph: Graph, decision: Decision, scores: Scores) -> Decision:
    """Open and close switches until every `require` on edges holds; the same decision if that is not possible."""
    rules = Rules(graph)
    if not rules.violated(decision.off):
        return decision
    found = obey(rules, limits(graph), decision.off, scores, lambda off: _is_whole(graph, off))
    if found is None:
        return decision
    opened, closed = decision.off - found, found - decision.off
    return close_dead_ends(graph, decision.changed(opened, Why.DEMANDED).changed(closed, Why.REQUIRED))


def with_kept(decision: Decision, chosen: Decision) -> Decision:
    """A decision in which everything that another one keeps is open too."""
    both = decision.off - chosen.off
    for why in {verdict.why for verdict in chosen.verdicts if verdict.name in both}:
        decision = decision.changed([v.name for v in chosen.verdicts if v.name in both and v.why == why], why)
    return decision


def shrink_to_fit(graph: Graph, decision: Decision, scores: Scores, fits: Fits) -> Decision:
    """Close switches, the worst first, until the graph fits or nothing more can be closed.

    Where a choice needs all the candidates it has, a smaller one may take the place of another. Raises Disconnected or
    Misfit if the decision is not valid to begin with.
    """
    left = prune(graph, decision.off)
    rules = Rules(graph)
    excused = _broken(rules, decision.off)
    for name in sorted({gate.group for gate in left.gates}, key=lambda name: (scores[name], name)):
        if fits(left):
            break
        if not _broken(rules, decision.off | {name}) <= excused:
            continue
        try:
            smaller = prune(left, {name})
        except (Disconnected, Misfit):
            continue
        left, decision = smaller, decision.changed({name}, Why.SIZE)
    return _swap_to_fit(graph, decision, scores, fits)


def _swap_to_fit(graph: Graph, decision: Decision, scores: Scores, fits: Fits) -> Decision:
    """Keep smaller candidates in choices that must keep some, those with the smallest loss of score first.

    Where the space has requirements, this may be any choice.
    """
    needy = [choice.candidates for choice in choices(graph) if choice.least or graph.constraints]
    if not needy or fits(prune(graph, decision.off)):
        return decision
    size = {group: (behind.parameters, behind.flops) for group, behind in cost_by_switch(graph).items()}
    pairs = {(old, new) for groups in needy for old in groups for new in groups if size[new] < size[old]}
    swaps = sorted(pairs, key=lambda pair: (scores[pair[0]] - scores[pair[1]], *pair))
    rules, tries = Rules(graph), PATIENCE // len(graph)
    excused = _broken(rules, decision.off)
    improved = True
    while improved and tries > 0:
        improved = False
        for old, new in swaps:
            if old in decision.off or new not in decision.off or tries <= 0:
                continue
            tries -= 1
            other = _keep_enough(rules, decision.changed([old], Why.SIZE).changed([new], Why.LEAST), scores)
            if _holds(graph, other, rules, excused):
                decision, improved = close_dead_ends(graph, other), True
                if fits(prune(graph, decision.off)):
                    return decision
    return decision


def grow_to_fit(graph: Graph, decision: Decision, scores: Scores, fits: Fits) -> Decision:
    """Reopen switches, the best first, as long as the graph fits, and limits and requirements are kept.

    A single switch may have no effect while its path is still closed: it is opened anyway, and takes effect once the
    others are open. Requirements may allow a switch only once another is open, so then all are tried again.
    """
    found, rules = limits(graph), Rules(graph)
    excused = _broken(rules, decision.off)
    before = None
    while before != decision.off and (before is None or rules):
        before = decision.off
        for group in _best_first(before, scores):
            larger = _keep_enough(rules, decision.changed([group], Why.ROOM), scores)
            opened = decision.off - larger.off
            on = {verdict.name for verdict in larger.verdicts} - larger.off
            within = not any(limit.exceeded(on) for limit in found if not opened.isdisjoint(limit.groups))
            if within and _holds(graph, larger, rules, excused) and fits(prune(graph, larger.off)):
                decision = larger
    return close_dead_ends(graph, decision)


def close_dead_ends(graph: Graph, decision: Decision) -> Decision:
    """Close switches that are not on a path from an input to an output."""
    left = {gate.group for gate in prune(graph, decision.off).gates}
    stranded = [verdict.name for verdict in decision.verdicts if verdict.keep and verdict.name not in left]
    return decision.changed(stranded, Why.DEAD_END)


def _holds(graph: Graph, decision: Decision, rules: Rules, excused: set[Constraint]) -> bool:
    """Return whether a decision leaves a whole network, and breaks no rules but these."""
    return _broken(rules, decision.off) <= excused and _is_whole(graph, decision.off)


def _is_whole(graph: Graph, off: Collection[str]) -> bool:
    """Return whether the pruned graph is connected and its shapes match."""
    try:
        prune(graph, off)
    except (Disconnected, Misfit):
        return False
    return True


def _broken(rules: Rules, off: frozenset[str]) -> set[Constraint]:
    return {violation.rule.constraint for violation in rules.violated(off)}


def _best_first(groups: Iterable[str], scores: Scores) -> list[str]:
    return sorted(groups, key=lambda group: (-scores[group], group))
