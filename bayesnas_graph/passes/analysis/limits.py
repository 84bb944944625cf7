"""How many candidates the choices of a graph may keep."""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

from bayesnas_graph.ir import Graph


class Limit(NamedTuple):
    """Of these switches, at most `most` are on, and at least `least` while their choice is used."""

    groups: tuple[str, ...]
    least: int
    most: int

    def exceeded(self, on: Set[str]) -> bool:
        """Return whether too many of them are on."""
        return sum(group in on for group in self.groups) > self.most


def limits(graph: Graph) -> list[Limit]:
    """The limits of all choices that have one, for the candidates that are left; shared ones are listed once."""
    found: dict[Limit, None] = {}
    for node in graph:
        most, least = node.op.candidate_limit, node.op.candidate_least
        if most is not None or least:
            groups = tuple(edge.gate.group for edge in graph.inputs(node.name) if edge.gate)
            found[Limit(groups, min(least, len(groups)), len(groups) if most is None else most)] = None
    return list(found)
