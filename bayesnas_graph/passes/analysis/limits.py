"""How many candidates the choices of a graph may keep, and the choices of an architecture that keep too few."""

from __future__ import annotations

from collections.abc import Collection, Set
from typing import NamedTuple

from bayesnas_graph.ir import Edge, Graph
from bayesnas_graph.ir.walks import reached


class Limit(NamedTuple):
    """Of these switches, at most `most` are on, and at least `least` while their choice is used."""

    groups: tuple[str, ...]
    least: int
    most: int

    def exceeded(self, on: Set[str]) -> bool:
        """Return whether too many of them are on."""
        return sum(group in on for group in self.groups) > self.most


class Shortage(NamedTuple):
    """A choice that is used and keeps too few of its candidates."""

    node: str
    closed: tuple[str, ...]  # the groups of its candidates that are off and could be on
    missing: int  # how many more it needs


def limits(graph: Graph) -> list[Limit]:
    """The limits of all choices that have one, for the candidates that are left; shared ones are listed once."""
    found: dict[Limit, None] = {}
    for node in graph:
        most, least = node.op.candidate_limit, node.op.candidate_least
        if most is not None or least:
            groups = tuple(edge.gate.group for edge in graph.inputs(node.name) if edge.gate)
            found[Limit(groups, min(least, len(groups)), len(groups) if most is None else most)] = None
    return list(found)


def shortages(graph: Graph, off: Collection[str]) -> list[Shortage]:
    """The choices that are used, once these switches are closed, and keep fewer candidates than they must.

    A choice is used if its value is, and only candidates that could be computed count. So a choice inside an operation
    that is off, or after a value that is never computed, may keep nothing.
    """
    least = {node.name: node.op.candidate_least for node in graph if node.op.candidate_least}
    if not least:
        return []
    closed = frozenset(off)
    alive: set[str] = set()  # could be computed, if every choice that must keep candidates kept all
    for node in graph:
        inputs = graph.inputs(node.name)
        if node.name in least:
            arriving = [edge for edge in inputs if edge.source in alive]
        else:
            arriving = [edge for edge in inputs if edge.source in alive and not _is_closed(edge, closed)]
        if len(arriving) == len(inputs) or (arriving and node.op.tolerates_missing_inputs):
            alive.add(node.name)

    def sources(name: str) -> list[str]:
        return [e.source for e in graph.inputs(name) if e.source in alive and not _is_closed(e, closed)]

    found = []
    used = reached([name for name in graph.outputs if name in alive], sources)
    for name, wanted in least.items():
        if name in used:
            edges = [edge for edge in graph.inputs(name) if edge.source in alive]
            shut = tuple(edge.gate.group for edge in edges if edge.gate is not None and edge.gate.group in closed)
            missing = min(wanted, len(edges)) - (len(edges) - len(shut))
            if missing > 0:
                found.append(Shortage(name, shut, missing))
    return found


def _is_closed(edge: Edge, closed: frozenset[str]) -> bool:
    return edge.gate is not None and edge.gate.group in closed
