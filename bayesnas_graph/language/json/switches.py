"""The switches of a graph, and which of them were removed, added, renamed or regrouped."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bayesnas_graph.ir import Edge, Gate, Graph, Scope, local_name
from bayesnas_graph.language.json.matching import Matching


@dataclass(frozen=True, slots=True)
class Switch:
    """All gates of one group."""

    group: str
    cell: str | None  # None outside cells
    place: str  # the id of its choice, relative to the cell
    candidate: str | None  # None for an optional operation
    gates: tuple[str, ...]  # the name of each of its gates
    choice: str  # the displayed form of `place`
    text: str  # its displayed name

    @property
    def uses(self) -> int:
        """The number of edges it switches."""
        return len(self.gates)


@dataclass(frozen=True, slots=True)
class SwitchPair:
    """Switches before and after on the same edges: one of each if only the name changed."""

    before: tuple[Switch, ...]
    after: tuple[Switch, ...]


@dataclass(frozen=True, slots=True)
class SwitchChanges:
    """Changes to the switches."""

    added: tuple[Switch, ...] = ()
    removed: tuple[Switch, ...] = ()
    renamed: tuple[SwitchPair, ...] = ()
    regrouped: tuple[SwitchPair, ...] = ()


def cell_uses(graph: Graph) -> dict[str, str]:
    """The uses of cells with switches: scope name -> cell name."""
    found = {}
    for edge in graph.edges:
        if edge.gate is not None and (scope := _cell_around(graph, edge, edge.gate)) is not None:
            found[scope.name] = edge.gate.part
    return found


def _cell_around(graph: Graph, edge: Edge, gate: Gate) -> Scope | None:
    """The use of a cell, or of a motif searched like a cell, whose uses share this gate."""
    if gate.group == gate.name:
        return None
    motifs = [scope for scope in graph.enclosing(edge.target) if scope.role != "choice"]
    return next((scope for scope in motifs if not gate.use or scope.role == "cell"), None)


def switches(graph: Graph) -> dict[str, Switch]:
    """The switches by group, in the order of the graph."""
    edges: dict[str, list[Edge]] = {}
    for edge in graph.edges:
        if edge.gate is not None:
            edges.setdefault(edge.gate.group, []).append(edge)
    return {group: _switch(graph, group, members) for group, members in edges.items()}


def _switch(graph: Graph, group: str, edges: list[Edge]) -> Switch:
    first, gate = edges[0], graph.switches[group]
    scope = _cell_around(graph, first, gate)
    return Switch(
        group,
        cell=gate.part if scope else None,
        place=local_name(scope.name, gate.choice) if scope else gate.choice,
        candidate=None if gate.kind == "optional" else gate.label,
        gates=tuple(edge.gate.name for edge in edges if edge.gate is not None),
        choice=gate.place,
        text=gate.text,
    )


def compare_switches(before: Graph, after: Graph, matching: Matching) -> SwitchChanges:
    """Match the switches of two graphs along the edges that both have."""
    old, new = switches(before), switches(after)
    links: set[tuple[str, str]] = set()
    there: dict[tuple[str, str], list[str]] = {}
    for edge in after.edges:
        if edge.gate is not None:
            there.setdefault((edge.source, edge.target), []).append(edge.gate.group)
    for edge in before.edges:
        if edge.gate is not None:
            ends = matching.after.get(edge.source, ""), matching.after.get(edge.target, "")
            groups = there.get(ends, [])
            if groups:  # `choose` may read one value twice; then equal names are matched
                groups.remove(same := edge.gate.group if edge.gate.group in groups else groups[0])
                links.add((edge.gate.group, same))
    linked_old, linked_new = {a for a, _ in links}, {b for _, b in links}
    by_name = [group for group in old if group in new and group not in linked_old and group not in linked_new]
    links.update((group, group) for group in by_name)
    linked_old.update(by_name)
    linked_new.update(by_name)
    renamed, regrouped = [], []
    for left, right in _together(links, list(old)):
        pair = SwitchPair(tuple(old[group] for group in left), tuple(new[group] for group in right))
        if len(left) > 1 or len(right) > 1:
            regrouped.append(pair)
        elif left != right:
            renamed.append(pair)
    return SwitchChanges(
        added=tuple(switch for group, switch in new.items() if group not in linked_new),
        removed=tuple(switch for group, switch in old.items() if group not in linked_old),
        renamed=tuple(renamed),
        regrouped=tuple(regrouped),
    )


def _together(links: set[tuple[str, str]], order: list[str]) -> list[tuple[list[str], list[str]]]:
    """Groups that are linked, directly or through others, in the order of the first graph."""
    forward: dict[str, list[str]] = {}
    backward: dict[str, list[str]] = {}
    for a, b in sorted(links):
        forward.setdefault(a, []).append(b)
        backward.setdefault(b, []).append(a)
    seen: set[str] = set()
    found = []
    for start in order:
        if start in seen or start not in forward:
            continue
        left, right = {start: None}, dict.fromkeys(forward[start])
        waiting = [start]
        while waiting:
            for b in forward[waiting.pop()]:
                right[b] = None
                for a in backward[b]:
                    if a not in left:
                        left[a] = None
                        waiting.append(a)
        seen.update(left)
        found.append((list(left), list(right)))
    return found


def within(around: Iterable[Scope], uses: dict[str, str], name: str) -> tuple[str | None, str]:
    """The innermost cell among the scopes around something, and its name relative to that cell."""
    for scope in around:
        if scope.name in uses:
            return uses[scope.name], local_name(scope.name, name)
    return None, name
