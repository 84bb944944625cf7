"""The switches of a graph, and which of them are gone, new, called otherwise or shared otherwise."""

from __future__ import annotations

from dataclasses import dataclass

from bayesnas_graph.ir import Edge, Graph
from bayesnas_graph.language.json.matching import Matching


@dataclass(frozen=True, slots=True)
class Switch:
    """All gates of one group."""

    group: str
    cell: str | None  # None outside every cell
    place: str  # the choice it belongs to, named from the cell on
    candidate: str | None  # None for an operation that is optional
    gates: tuple[str, ...]  # the name of each of its gates

    @property
    def uses(self) -> int:
        """How many edges it switches."""
        return len(self.gates)


@dataclass(frozen=True, slots=True)
class SwitchPair:
    """Switches before and after that are on the same edges: one of each if merely its name is another."""

    before: tuple[Switch, ...]
    after: tuple[Switch, ...]


@dataclass(frozen=True, slots=True)
class SwitchChanges:
    """What became of the switches."""

    added: tuple[Switch, ...] = ()
    removed: tuple[Switch, ...] = ()
    renamed: tuple[SwitchPair, ...] = ()
    regrouped: tuple[SwitchPair, ...] = ()


def cell_uses(graph: Graph) -> dict[str, str]:
    """The beginning of the names in each use of a cell, with the name of the cell."""
    found = {}
    for gate in graph.gates:
        cell, colon, inside = gate.group.partition(":")
        if colon and gate.name.endswith(inside):
            found[gate.name.removesuffix(inside)] = cell
    return found


def switches(graph: Graph) -> dict[str, Switch]:
    """The switches by group, in the order of the graph."""
    uses = cell_uses(graph)
    edges: dict[str, list[Edge]] = {}
    for edge in graph.edges:
        if edge.gate is not None:
            edges.setdefault(edge.gate.group, []).append(edge)
    return {group: _switch(group, members, uses) for group, members in edges.items()}


def _switch(group: str, edges: list[Edge], uses: dict[str, str]) -> Switch:
    first = edges[0]
    assert first.gate is not None, "only edges with a gate are in a group"
    cell, colon, inside = group.partition(":")
    prefix = first.gate.name.removesuffix(inside)
    in_cell = bool(colon) and uses.get(prefix) == cell and first.target.startswith(prefix)
    place = first.target.removeprefix(prefix) if in_cell else first.target
    path = inside if in_cell else group
    candidate = None if path == place else path.removeprefix(f"{place}.")
    gates = tuple(edge.gate.name for edge in edges if edge.gate is not None)
    return Switch(group, cell if in_cell else None, place, candidate, gates)


def compare_switches(before: Graph, after: Graph, matching: Matching) -> SwitchChanges:
    """Follow every switch from one graph to the other along the edges that both have."""
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
            if groups:  # `choose` may read one value twice; then equal names belong together
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


def within(uses: dict[str, str], name: str) -> tuple[str | None, str]:
    """The innermost cell that a node stands in, and its name from there on."""
    parts = name.split(".")
    for length in range(len(parts) - 1, -1, -1):
        prefix = "".join(f"{part}." for part in parts[:length])
        if prefix in uses:
            return uses[prefix], name.removeprefix(prefix)
    return None, name
