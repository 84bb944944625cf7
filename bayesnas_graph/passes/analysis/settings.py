"""The number of architectures in a space."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, prod

from bayesnas_graph.ir import Graph


@dataclass(frozen=True, slots=True)
class SwitchCounts:
    """The switches of a space; switches shared by uses of a cell count once."""

    choices: int  # choices and optional operations, shared ones counted once
    candidates: int  # switches of candidates and of optional operations
    gates: int  # the same, counted in every use
    settings: int  # the number of ways to set them


def switches(graph: Graph) -> SwitchCounts:
    """Count the switches of an elaborated graph, and the ways to set them.

    A choice among n candidates can be set in 2^n ways, including all off; if it may keep at most k, in as many ways as
    there are subsets of at most k candidates. If it must keep some, smaller subsets do not count. An optional operation
    is on or off. Choices are set independently of each other, so the numbers multiply.
    """
    ways: dict[tuple[str, ...], int] = {}
    for node in graph:
        if node.op.is_choice or node.op.is_optional:
            groups = tuple(edge.gate.group for edge in graph.inputs(node.name) if edge.gate)
            ways[groups] = _subsets(len(groups), node.op.candidate_limit, node.op.candidate_least)
    candidates = {group for groups in ways for group in groups}
    return SwitchCounts(len(ways), len(candidates), len(graph.gates), prod(ways.values()))


def _subsets(count: int, limit: int | None, least: int = 0) -> int:
    """The number of subsets of a set with at least `least` and at most `limit` elements.

    >>> _subsets(4, None), _subsets(4, 1), _subsets(4, 9), _subsets(4, 1, 1)
    (16, 5, 16, 4)
    """
    return sum(comb(count, size) for size in range(least, min(count, count if limit is None else limit) + 1))
