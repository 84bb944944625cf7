"""The variance `gamma` of every switch, given the switches before it.

`analysis.dependency` finds which switches depend on which. Here the variances are computed, all switches of a level
at once, so the number of operations grows with the depth of the graph, not with its size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

import torch
from torch import Tensor

from bayesnas_graph.ir.literals import Reach
from bayesnas_graph.passes.analysis.dependency import Dependency


@dataclass(frozen=True, slots=True)
class _Level:
    """See `analysis.dependency.Level`."""

    terms: Tensor
    sums: Tensor
    reads: Tensor
    readers: Tensor

    def to(self, device: torch.device | str) -> _Level:
        return _Level(*(getattr(self, field.name).to(device) for field in fields(self)))


@dataclass(frozen=True, slots=True)
class Structure:
    """A `Dependency` as tensors, created once per graph and used in every update."""

    levels: tuple[_Level, ...]
    group: Tensor  # of every switch
    is_zero: Tensor  # of every switch
    inside: Tensor
    outside: Tensor
    groups: int
    terms: int
    sums: int

    @staticmethod
    def of(found: Dependency) -> Structure:
        """The tensors of a dependency, on the CPU."""
        return Structure(
            levels=tuple(
                _Level(_index(level.terms), _index(level.sums), _index(level.reads), _index(level.readers))
                for level in found.levels
            ),
            group=_index(found.group),
            is_zero=torch.tensor(found.is_zero, dtype=torch.bool),
            inside=_index(found.inside),
            outside=_index(found.outside),
            groups=len(found.groups),
            terms=found.terms,
            sums=found.sums,
        )

    def to(self, device: torch.device | str) -> Structure:
        """A copy on another device."""
        return replace(
            self,
            levels=tuple(level.to(device) for level in self.levels),
            group=self.group.to(device),
            is_zero=self.is_zero.to(device),
            inside=self.inside.to(device),
            outside=self.outside.to(device),
        )

    def spread(self, of_groups: Tensor) -> Tensor:
        """Spread values of groups to their switches."""
        return of_groups[self.group]

    def reduce(self, of_switches: Tensor) -> Tensor:
        """Reduce values of switches to their groups by the maximum: a group is off only if it is off everywhere."""
        return of_switches.new_zeros(self.groups).scatter_reduce_(0, self.group, of_switches, "amax")


def independent(structure: Structure, s: Tensor) -> Tensor:  # noqa: ARG001
    """The variance of every switch by itself, without dependencies: a baseline for the others."""
    return s.clamp(max=torch.finfo(s.dtype).max)


def one_hop(structure: Structure, s: Tensor) -> Tensor:
    """The variance of every switch, given its own, counting only the switches directly before it."""
    return _gamma(structure, s, hands_on_itself=~structure.is_zero)


def whole_path(structure: Structure, s: Tensor) -> Tensor:
    """The variance of every switch, given its own, counting all switches before it."""
    return _gamma(structure, s, hands_on_itself=torch.zeros_like(structure.is_zero))


DEPENDENCIES: dict[Reach, Callable[[Structure, Tensor], Tensor]] = {
    "none": independent,
    "one_hop": one_hop,
    "whole_path": whole_path,
}


@torch.no_grad()
def _gamma(structure: Structure, s: Tensor, hands_on_itself: Tensor) -> Tensor:
    """One walk over the levels. `s` may be infinite; the result is at most the largest float."""
    switches = len(structure.group)
    others = structure.terms - switches  # terms that are not switches: only their inputs can turn them off
    alone = torch.cat([s, s.new_full((others,), torch.inf)])
    stops = torch.cat([hands_on_itself, hands_on_itself.new_zeros(others)])
    flow = alone.clone()  # of every term, given its predecessors
    handed_on = alone.clone()
    total = s.new_zeros(structure.sums)
    resistance = torch.zeros_like(alone)  # the reciprocal of the flow into a term
    for level in structure.levels:
        total.index_add_(0, level.sums, handed_on[level.terms])
        resistance.index_add_(0, level.readers, total[level.reads].reciprocal())
        flow[level.readers] = _both(alone[level.readers], resistance[level.readers])
        handed_on[level.readers] = torch.where(stops[level.readers], alone[level.readers], flow[level.readers])
    zeros = s.new_zeros(switches).index_add_(0, structure.inside, alone[structure.outside].reciprocal())
    return _both(flow[:switches], zeros).clamp(max=torch.finfo(s.dtype).max)


def _both(a: Tensor, resistance: Tensor) -> Tensor:
    """The harmonic sum of `a` and a value given by its reciprocal.

    Reciprocals of zero are infinite and vice versa. Nothing is subtracted or multiplied, so nothing becomes nan.
    The minimum corrects for rounding.
    """
    return torch.minimum(a, (a.reciprocal() + resistance).reciprocal())


def _index(numbers: Sequence[int]) -> Tensor:
    return torch.tensor(numbers, dtype=torch.long)
