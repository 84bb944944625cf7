"""The search for a setting of the switches that obeys the rules of a space, near a given one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from bayesnas_graph.passes.analysis.limits import Limit
from bayesnas_graph.passes.analysis.rules import RuleEdge, RuleInput, Rules, State, Violation

PATIENCE = 2_000_000  # nodes to visit before giving up: a few seconds

Off = frozenset[str]
Scores = Mapping[str, float]  # of every switch; higher is better


def obey(
    rules: Rules, limits: Sequence[Limit], off: Off, scores: Scores, holds: Callable[[Off], bool] | None = None
) -> Off | None:
    """Close and open switches until all outputs are connected and all rules and limits are kept.

    Each step repairs the first problem in the best way: it opens the best edges or candidates, or closes the worst.
    Where this leads nowhere, other ways are tried in depth-first order. `holds` has the last word. Limits that are
    exceeded at first may stay so. Returns None if nothing was found.
    """
    excused = [limit for limit in limits if _count(limit, off) > limit.most]
    strict = [limit for limit in limits if limit not in excused]
    stop = rules.visited + PATIENCE
    seen = {off}
    waiting = [off]
    while waiting and rules.visited < stop:
        off = waiting.pop()
        ways = _ways(rules, strict, off, scores)
        if ways is None:
            if holds is None or holds(off):
                return off
            continue
        for way in reversed(list(ways)):  # the best is tried first
            if way not in seen:
                seen.add(way)
                waiting.append(way)
    return None


def _count(limit: Limit, off: Off) -> int:
    return sum(group not in off for group in limit.groups)


def _ways(rules: Rules, limits: Sequence[Limit], off: Off, scores: Scores) -> Iterator[Off] | None:
    """Settings that repair the first problem, the best first; None if there is none."""
    state = rules.state(off)
    lost = next((i for i in rules.outputs if not state.arriving[i]), None)
    violations = state.violations()
    demanded = next((violation for violation in violations if violation.rule.demands and violation.missing > 0), None)
    if demanded is None and lost is not None:
        opened = sorted(_cut(state, lost), key=lambda group: (-scores[group], group))
        return iter([off - opening(state, lost, scores), *(off - {group} for group in opened)])
    if violations:
        return _repairs(state, demanded or violations[0], scores)
    for limit in limits:
        if _count(limit, off) > limit.most:
            worst = sorted((group for group in limit.groups if group not in off), key=lambda g: (scores[g], g))
            return (off | {group} for group in worst)
    return None


def _repairs(state: State, violation: Violation, scores: Scores) -> Iterator[Off]:
    """Settings that make one more term of a rule hold, or one less if too many do."""
    more = violation.missing > 0
    wrong = [e for e in violation.rule.edges if (state.keeps(e) is e.counts_if_kept) is not more]
    yield from (state.off - opened for opened in openings(state, [e for e in wrong if not state.keeps(e)], scores))
    closed = [groups for edge in wrong if state.keeps(edge) and (groups := closing(state, edge))]
    closed.sort(key=lambda groups: (_score(state, groups, scores), sorted(groups)))
    yield from (state.off | groups for groups in closed)


def openings(state: State, edges: Iterable[RuleEdge], scores: Scores) -> list[Off]:
    """For each of these edges that can be kept, the switches to open for it.

    The best come first, but after them edges from values that are not computed yet.
    """
    found = []
    for edge in edges:
        if edge.source is not None:
            opened = opening(state, edge.source, scores, _own_switch(state, edge))
            opened = _using(state, edge.source if edge.target is None else edge.target, scores, opened)
            if opened:
                found.append((not state.alive[edge.source], -_score(state, opened, scores), sorted(opened)))
    return [frozenset(opened) for _, _, opened in sorted(found)]


def _cut(state: State, lost: int) -> set[str]:
    """The closed switches that a value reaches and that separate it from a lost node."""
    cut: set[str] = set()
    seen, waiting = {lost}, [lost]
    while waiting:
        for source in state.rules.inputs[waiting.pop()]:
            if state.arriving[source.node]:
                cut |= {source.group} if source.group is not None and source.group in state.off else set()
            elif source.node not in seen:
                seen.add(source.node)
                waiting.append(source.node)
    return cut


def _score(state: State, groups: Off, scores: Scores) -> float:
    """The score of an edge: that of its best candidate."""
    return max(scores[group] for group in (groups - state.rules.zeros or groups))


def _own_switch(state: State, edge: RuleEdge) -> Off:
    """The switch of a candidate, if the edge is one and its switch is closed."""
    if edge.target is None:
        return frozenset()
    groups = (state.rules.inputs[edge.target][slot].group for slot in edge.slots)
    return frozenset(group for group in groups if group is not None and group in state.off)


def opening(state: State, node: int, scores: Scores, already: Off = frozenset()) -> Off:
    """The closed switches to open for a node to be computed, and those that are opened already.

    Of a choice, it is the best candidate. Choices that share their switches, such as the uses of a chosen number, all
    get the same one.
    """
    rules, opened, waiting, seen = state.rules, set(already), [node], {node}
    while waiting:
        i = waiting.pop()
        if state.arriving[i]:
            continue
        needed = rules.inputs[i]
        if rules.tolerates_missing_inputs[i]:
            needed = [max(needed, key=lambda s: _preference(state, s, scores, opened))]
        for source in needed:
            if source.group in state.off and source.group is not None:
                opened.add(source.group)
            if source.node not in seen:
                seen.add(source.node)
                waiting.append(source.node)
    return frozenset(opened)


def _using(state: State, node: int, scores: Scores, already: Off) -> Off:
    """The closed switches to open for the value of a node to be used, and those that are opened already.

    They are the fewest on a way to a node that is used.
    """
    if node in state.used:
        return already
    rules = state.rules
    before: dict[int, tuple[int, str | None]] = {}  # a node on the way -> the one before it, and the switch between
    near, far = [node], list[int]()  # in reach with as many closed switches as so far, and with one more
    seen = {node}
    end = None
    while end is None and (near or far):
        if not near:
            near, far = far, []
        i = near.pop()
        if i in state.used or i in rules.outputs:
            end = i
            break
        for reader, group in rules.readers[i]:
            if reader not in seen:
                seen.add(reader)
                before[reader] = i, group
                (far if group in state.off and group not in already else near).append(reader)
    opened = set(already)
    while end is not None and end != node:
        last, (end, group) = end, before[end]
        if group is not None and group in state.off:
            opened.add(group)
        if not rules.tolerates_missing_inputs[last]:
            for source in rules.inputs[last]:
                if source.node != end:
                    opened |= opening(state, source.node, scores, frozenset(opened))
    return frozenset(opened)


def _preference(
    state: State, source: RuleInput, scores: Scores, opened: Collection[str]
) -> tuple[bool, bool, bool, bool, float]:
    """How good an input is to compute a node from: values that are there come first."""
    is_open = source.group not in state.off
    score = scores[source.group] if source.group is not None else 0.0
    arrives = is_open and state.arriving[source.node]
    return arrives, source.group in opened, state.alive[source.node], is_open, score


def closing(state: State, edge: RuleEdge) -> Off:
    """The open switches to close for an edge to be off; empty if it cannot be."""
    if not edge.closable:
        return frozenset()
    return frozenset(g for choice in edge.inside for g in state.rules.groups_of.get(choice, ()) if g not in state.off)
