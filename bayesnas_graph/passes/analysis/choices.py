"""The choices of a graph, with the switches that decide each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from bayesnas_graph.ir import Graph


@dataclass(frozen=True, slots=True)
class ChoiceSwitches:
    """The switches of a choice, the same for all uses of a cell."""

    candidates: tuple[str, ...]
    zero: str | None
    node: str  # the node it leads into, named as in the first use
    least: int = 0  # candidates that it must keep while it is used
    most: int | None = None  # candidates that it may keep; None if any number


def choices(graph: Graph) -> list[ChoiceSwitches]:
    """All choices; a choice shared by several uses is listed once."""
    readers: dict[str, list[str]] = defaultdict(list)
    for edge in graph.edges:
        readers[edge.source].append(edge.target)
    zeros = {gate.choice: gate.group for gate in graph.gates if gate.is_zero}
    by_candidates: dict[tuple[str, ...], ChoiceSwitches] = {}
    for node in graph:
        if not node.op.is_choice:
            continue
        candidates = tuple(edge.gate.group for edge in graph.inputs(node.name) if edge.gate)
        if candidates in by_candidates:
            continue
        least, most = min(node.op.candidate_least, len(candidates)), node.op.candidate_limit
        joined_at = _joined_at(graph, readers, node.name)
        by_candidates[candidates] = ChoiceSwitches(candidates, zeros.get(node.name), joined_at, least, most)
    return list(by_candidates.values())


def _joined_at(graph: Graph, readers: Mapping[str, list[str]], name: str) -> str:
    """The first join on the way from a node, or the last node before the path branches."""
    while len(readers[name]) == 1:
        name = readers[name][0]
        if graph[name].op.is_join and len(graph.inputs(name)) > 1:
            break
    return name
