"""How many candidates the choices of a graph may keep."""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

from bayesnas_graph.ir import Graph, Node


class Limit(NamedTuple):
    """Of these switches, at most `most` are on, and at least `least` while their choice is used."""

    groups: tuple[str, ...]
    least: int
    most: int

    @property
    def is_strict(self) -> bool:
        """Whether it forbids anything."""
        return self.least > 0 or self.most < len(self.groups)

    def exceeded(self, on: Set[str]) -> bool:
        """Return whether too many of them are on."""
        return sum(group in on for group in self.groups) > self.most


def limits(graph: Graph) -> list[Limit]:
    """The limits of all choices that have one, for the candidates that are left; shared ones are listed once."""
    found = (limit_of(graph, node) for node in graph if node.op.candidate_limit is not None or node.op.candidate_least)
    return list(dict.fromkeys(found))


def limit_of(graph: Graph, node: Node) -> Limit:
    """The limit of a choice or an optional operation, for the candidates that are left."""
    groups = tuple(edge.gate.group for edge in graph.inputs(node.name) if edge.gate)
    most = node.op.candidate_limit
    return Limit(groups, min(node.op.candidate_least, len(groups)), len(groups) if most is None else most)


def all_limits(graph: Graph) -> dict[str, Limit]:
    """The limit of every choice and optional operation by the name of its node, also where it forbids nothing."""
    return {node.name: limit_of(graph, node) for node in graph if node.op.is_choice or node.op.is_optional}
