"""The switches of a graph as tensors, created once and used in every step of a search."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from bayesnas_graph.bayes.dependency import Structure
from bayesnas_graph.bayes.gauge import Gauge
from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.analysis.dependency import dependency
from bayesnas_graph.runtime.precision import gate_dtype


@dataclass(frozen=True, slots=True, eq=False)
class Switches:
    """Gates, groups, and their relations.

    A gate is a trained number with a value `w` and a curvature `h`. It may be on several edges, like the zero switch
    in front of a choice with two inputs. A group is a switch to decide about, with `gamma`, `omega` and `s`. It has
    one gate in each use of its cell, or one gate outside cells.
    """

    gates: tuple[str, ...]
    groups: tuple[str, ...]
    spans: tuple[tuple[Span, ...], ...]  # of every group, in the text
    group: Tensor  # of every gate
    members: Tensor  # the number of gates of every group
    is_zero: Tensor  # of every group, whether it is a zero switch
    gate: Tensor  # of every edge with a gate, in the order of `Graph.gates`
    structure: Structure  # the dependencies between these edges
    gauge: Gauge

    @staticmethod
    def of(graph: Graph) -> Switches:
        """The switches of a graph, on the CPU. Gates and groups are in the order of the graph."""
        found = dependency(graph)
        number = {name: i for i, name in enumerate(dict.fromkeys(gate.name for gate in found.gates))}
        group_of = {gate.name: group for gate, group in zip(found.gates, found.group, strict=True)}
        spans: list[dict[Span, None]] = [{} for _ in found.groups]
        for group, span in zip(found.group, found.spans, strict=True):
            if span is not None:
                spans[group][span] = None
        zeros = {group for group, is_zero in zip(found.group, found.is_zero, strict=True) if is_zero}
        of_gate = torch.tensor([group_of[name] for name in number], dtype=torch.long)
        return Switches(
            gates=tuple(number),
            groups=found.groups,
            spans=tuple(map(tuple, spans)),
            group=of_gate,
            members=torch.bincount(of_gate, minlength=len(found.groups)),
            is_zero=torch.tensor([group in zeros for group in range(len(found.groups))], dtype=torch.bool),
            gate=torch.tensor([number[gate.name] for gate in found.gates], dtype=torch.long),
            structure=Structure.of(found),
            gauge=Gauge.of(graph, tuple(number)),
        )

    def to(self, device: torch.device | str) -> Switches:
        """A copy on another device."""
        return replace(
            self,
            group=self.group.to(device),
            members=self.members.to(device),
            is_zero=self.is_zero.to(device),
            gate=self.gate.to(device),
            structure=self.structure.to(device),
            gauge=self.gauge.to(device),
        )

    def by_kind(self, operation: float, zero: float, dtype: torch.dtype | None = None) -> Tensor:
        """A number for every group: `operation`, or `zero` for zero switches."""
        dtype = dtype or gate_dtype(self.is_zero.device)
        return torch.full_like(self.is_zero, operation, dtype=dtype).masked_fill(self.is_zero, zero)
