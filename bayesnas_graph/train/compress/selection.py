"""Selecting groups of weights to remove: the cheapest for what they save, while the total cost is small."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from bayesnas_graph.codegen.emit.weights import ByNode
from bayesnas_graph.diagnostics.words import at_least
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.analysis import Cost, cost, operations
from bayesnas_graph.passes.shrink import Shrunk, shrink
from bayesnas_graph.runtime.precision import precise
from bayesnas_graph.train.compress.connectivity import gets_through
from bayesnas_graph.train.compress.groups import Groups
from bayesnas_graph.train.compress.masks import Masks, alive, masked, without

Going = dict[Groups, Tensor]  # masks of the groups to remove


@dataclass(frozen=True)
class Size:
    """The size of a network."""

    parameters: int
    flops: int  # multiply-adds
    operations: int  # as papers on compression count them
    flops_at_least: bool = False  # whether some of both cannot be counted

    @property
    def flops_text(self) -> str:
        """The multiply-adds as text; it says so if there may be more."""
        return at_least(self.flops, self.flops_at_least)

    @property
    def operations_text(self) -> str:
        """The operations as text; it says so if there may be more."""
        return at_least(self.operations, self.flops_at_least)

    def to_plain(self) -> dict[str, int]:
        """Return the numbers by name."""
        plain = {"parameters": self.parameters, "flops": self.flops, "operations": self.operations}
        return {**plain, **({"flops_at_least": True} if self.flops_at_least else {})}

    @staticmethod
    def of(graph: Graph) -> Size:
        totals: Cost = cost(graph)
        return Size(totals.parameters, totals.flops, operations(graph), totals.flops_at_least)


@dataclass(frozen=True)
class SizeTarget:
    """The size to reach; None for as small as possible."""

    operations: int | None = None
    parameters: int | None = None

    @property
    def is_given(self) -> bool:
        """Whether there is a target."""
        return self.operations is not None or self.parameters is not None

    def is_met(self, size: Size) -> bool:
        """Return whether a network meets the target; False if there is none."""
        fits_operations = self.operations is None or size.operations <= self.operations
        return self.is_given and fits_operations and (self.parameters is None or size.parameters <= self.parameters)


@dataclass(frozen=True, eq=False)
class Ranked:
    """All remaining groups, in the order of removal."""

    groups: Sequence[Groups]
    alive: Mapping[Groups, Tensor]
    place: Mapping[Groups, Tensor]  # the number of groups removed before a group
    costs: Tensor  # of all remaining groups, in that order

    @staticmethod
    def by(scores: Mapping[Groups, Tensor], costs: Mapping[Groups, Tensor], masks: Masks) -> Ranked:
        """Rank groups by score, the lowest first."""
        groups = list(scores)
        remaining = {some: alive(some, masks) for some in groups}
        flat = torch.cat([torch.where(remaining[some], scores[some], torch.inf).flatten() for some in groups])
        order = flat.argsort(stable=True)
        places = torch.empty_like(order).scatter_(0, order, torch.arange(len(order), device=order.device))
        parts = torch.split(places, [remaining[some].numel() for some in groups])
        place = {some: part.view_as(remaining[some]) for some, part in zip(groups, parts, strict=True)}
        total = int(sum(int(one.sum()) for one in remaining.values()))
        return Ranked(groups, remaining, place, torch.cat([costs[some].flatten() for some in groups])[order[:total]])

    def first(self, count: int, spared: Collection[int] = ()) -> Going:
        """Return the first groups, except those with spared ranks."""
        places = self.costs.new_tensor(list(spared), dtype=torch.long)
        return {
            some: (self.place[some] < count) & self.alive[some] & ~torch.isin(self.place[some], places)
            for some in self.groups
        }

    def within(self, most: float) -> int:
        """Return how many groups can be removed within a total cost."""
        return int((precise(self.costs).cumsum(0) <= most).sum())


def per_operation(graph: Graph, costs: Mapping[Groups, Tensor], masks: Masks) -> dict[Groups, Tensor]:
    """Return the cost of groups per saved operation."""

    def saved(groups: Groups) -> Tensor:
        mask = masks[groups.layer]["weight"]
        positions = graph[groups.layer].op.flops(*graph.input_shapes(groups.layer)) // mask.numel()
        weight = groups.layer, "weight"  # what is removed together with a filter saves next to nothing

        def entries(node: str, name: str) -> Tensor:
            return mask * 2 * positions if (node, name) == weight else torch.zeros_like(masks[node][name])

        return groups.sums(entries)

    return {groups: removal_cost / saved(groups).clamp(min=1) for groups, removal_cost in costs.items()}


@dataclass(frozen=True, eq=False)
class Pruning:
    """The result of pruning."""

    masks: Masks
    shrunk: Shrunk
    size: Size


def prune(graph: Graph, weights: ByNode, masks: Masks, ranked: Ranked, most: int, target: SizeTarget) -> Pruning:
    """Remove the first groups, at most this many, and no more than the target requires.

    A group that the output depends on is kept, and the next one is removed instead.
    """
    spared = _spared(graph, weights, masks, ranked, most)

    def without_first(count: int) -> Pruning:
        return pruned(graph, weights, without(masks, ranked.first(count, spared)))

    smallest = without_first(most)
    if not target.is_met(smallest.size):
        return smallest
    return _fewest(without_first, most, lambda pruning: target.is_met(pruning.size))


def pruned(graph: Graph, weights: ByNode, masks: Masks) -> Pruning:
    """Return a network pruned by masks."""
    shrunk = shrink(graph, masked(weights, masks))
    return Pruning(masks, shrunk, Size.of(shrunk.graph))


def _fewest(make: Callable[[int], Pruning], most: int, enough: Callable[[Pruning], bool]) -> Pruning:
    """Return the smallest pruning that is enough, by bisection; the largest one is."""
    low, high, best = 0, most, make(most)
    while low < high:
        middle = (low + high) // 2
        pruning = make(middle)
        if enough(pruning):
            high, best = middle, pruning
        else:
            low = middle + 1
    return best


def _spared(graph: Graph, weights: ByNode, masks: Masks, ranked: Ranked, most: int) -> list[int]:
    """Return the ranks of the groups that must be kept, in order."""
    spared: list[int] = []

    def is_closed(count: int) -> bool:
        return not gets_through(graph, masked(weights, without(masks, ranked.first(count, spared))))

    if is_closed(0):  # sparing groups does not help
        return spared
    while is_closed(most):
        spared.append(bisect_left(range(most), True, key=is_closed) - 1)
    return spared
