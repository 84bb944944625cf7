"""How many candidates of its choices an architecture may keep."""

from __future__ import annotations

from typing import NamedTuple

from bayesnas_graph.ir import Graph


class Limit(NamedTuple):
    """Of these switches, at most `most` are on, and at least `least` while one of their uses is part of the network."""

    groups: tuple[str, ...]
    least: int
    most: int

    @property
    def is_strict(self) -> bool:
        """Whether it forbids anything."""
        return self.least > 0 or self.most < len(self.groups)


def limits(graph: Graph) -> dict[str, Limit]:
    """The limit of every choice and optional operation, by the name of its node."""
    found: dict[str, Limit] = {}
    for node in graph:
        if node.op.is_choice or node.op.is_optional:
            groups = tuple(edge.gate.group for edge in graph.inputs(node.name) if edge.gate)
            most = node.op.candidate_limit
            found[node.name] = Limit(groups, 0, len(groups) if most is None else most)
    return found
