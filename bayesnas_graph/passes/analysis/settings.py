"""The number of architectures in a space, as ways to set its switches."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import prod

from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.analysis.limits import Limit, all_limits


@dataclass(frozen=True, slots=True)
class SwitchCounts:
    """The switches of a space; switches shared by uses of a cell count once."""

    choices: int  # choices and optional operations, shared ones counted once
    candidates: int  # switches of candidates and of optional operations
    gates: int  # the same, counted in every use
    settings: int  # the number of ways to set them


def switches(graph: Graph) -> SwitchCounts:
    """Count the switches of an elaborated graph, and the ways to set them.

    A choice among n candidates can be set in 2^n ways, including all off; if it keeps from k to l, in as many ways as
    there are subsets of so many candidates. An optional operation is on or off. Choices are set independently of each
    other, so the numbers multiply. But a choice inside a candidate counts only where that candidate is on. If it has
    uses in several candidates, it is inside what is around all of them.
    """
    inside = _nested(graph)
    ways: dict[Limit, int] = {}
    behind: dict[str, int] = defaultdict(lambda: 1)  # switch -> the ways to set what is inside its candidate
    outermost = 1
    for limit, outer in reversed(inside.items()):  # inner choices first
        ways[limit] = subsets([behind[group] for group in limit.groups], limit.least, limit.most)
        if outer is None:
            outermost *= ways[limit]
        else:
            behind[outer] *= ways[limit]
    candidates = {group for limit in ways for group in limit.groups}
    return SwitchCounts(len(ways), len(candidates), len(graph.gates), outermost)


def _nested(graph: Graph) -> dict[Limit, str | None]:
    """Every choice with the innermost switch that is around all its uses, outer choices first."""
    group_of = {gate.name: gate.group for gate in graph.gates}
    around: dict[Limit, list[str]] = {}
    for name, limit in all_limits(graph).items():
        groups = [group_of[gate] for gate in graph[name].behind if gate in group_of]
        known = around.setdefault(limit, groups)
        if known is not groups:
            around[limit] = [group for group in known if group in groups]
    depth = {limit: len(groups) for limit, groups in around.items()}
    return {limit: around[limit][-1] if around[limit] else None for limit in sorted(around, key=depth.__getitem__)}


def subsets(ways: list[int], least: int, most: int) -> int:
    """The number of ways to keep from `least` to `most` of some candidates, each of which can be set in so many ways.

    >>> subsets([1] * 4, 0, 4), subsets([1] * 4, 0, 1), subsets([1, 1, 5], 1, 1)
    (16, 5, 7)
    """
    if least == 0 and most >= len(ways):
        return prod(1 + way for way in ways)
    by_size = [1]  # the ways to keep 0, 1, ... of the candidates so far
    for way in ways:
        longer = [*by_size, 0][: most + 1]
        for size in range(1, len(longer)):
            longer[size] += by_size[size - 1] * way
        by_size = longer
    return sum(by_size[least:])
