"""The gauge: fixes the common scale of gates, which does not affect the loss and should not affect the penalty.

The value of a node is a sum of gated terms, and its readers mostly normalise it. So the common scale of all
gates into a node is nearly free. Without a gauge, the penalty shrinks all of them together until the graph is dead.
The gauge keeps the norm of the gates into a node at its initial value, the square root of their number. Then one
gate can only shrink as others grow: the gates compete.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from bayesnas_graph.bayes.groups import group_norms
from bayesnas_graph.bayes.units import unit
from bayesnas_graph.ir import Edge, Graph
from bayesnas_graph.runtime.precision import moved


@dataclass(frozen=True, slots=True, eq=False)
class Gauge:
    """The sets of gates with a common scale. Gate number `gates[i]` belongs to set number `sets[i]`."""

    gates: Tensor
    sets: Tensor
    norms: Tensor  # of every set, the square root of the number of its gates

    @staticmethod
    def of(graph: Graph, gates: Sequence[str]) -> Gauge:
        """The gauge of a graph, for gates in this order, on the CPU."""
        number = {name: i for i, name in enumerate(gates)}
        found = common_scales(graph)
        return Gauge(
            gates=torch.tensor([number[name] for names in found for name in names], dtype=torch.long),
            sets=torch.tensor([i for i, names in enumerate(found) for _ in names], dtype=torch.long),
            norms=torch.tensor([len(names) for names in found], dtype=torch.float64).sqrt(),
        )

    def to(self, device: torch.device | str) -> Gauge:
        """A copy on another device."""
        norms = moved(self.norms, device)
        return replace(self, gates=self.gates.to(device), sets=self.sets.to(device), norms=norms)


@torch.no_grad()
def rescale(gauge: Gauge, w: Tensor, r: Tensor | None = None) -> Tensor:
    """Rescale every set to its norm; with `r`, the magnitude of each gate's input, the norm is of `w r`.

    The ratios within a set stay the same. A set of zeros stays zero.

    >>> one_node = Gauge(torch.tensor([0, 1]), torch.tensor([0, 0]), torch.tensor([2.0]).sqrt())
    >>> rescale(one_node, torch.tensor([0.4, 0.0, 0.3]))
    tensor([1.4142, 0.0000, 0.3000])
    """
    size = w if r is None else w * unit(r)
    wanted = gauge.norms.to(w.dtype)
    norms = group_norms(size[gauge.gates], gauge.sets, len(wanted))
    divisor = torch.where(norms > 0, norms, wanted)
    return w.index_copy(0, gauge.gates, w[gauge.gates] / divisor[gauge.sets] * wanted[gauge.sets])


@torch.no_grad()
def in_gauge(gauge: Gauge, w: Tensor, r: Tensor) -> Tensor:
    """The magnitudes `r` of the gates' inputs, in units of the node they lead to.

    The loss does not depend on the scale of a node, so its unit is free. It is chosen so that the contributions `w r`
    have the norm of the gauge: right after a unit is measured, `rescale` changes nothing.

    >>> one_node = Gauge(torch.tensor([0, 1]), torch.tensor([0, 0]), torch.tensor([2.0]).sqrt())
    >>> in_gauge(one_node, torch.tensor([1.0, 1.0, 1.0]), torch.tensor([50.0, 50.0, 7.0]))
    tensor([1., 1., 7.])
    """
    size = unit(r)
    wanted = gauge.norms.to(w.dtype)
    norms = group_norms((w * size)[gauge.gates], gauge.sets, len(wanted))
    factor = torch.where(norms > 0, wanted / norms, 1)
    return size.index_copy(0, gauge.gates, size[gauge.gates] * factor[gauge.sets])


def common_scales(graph: Graph) -> list[tuple[str, ...]]:
    """The names of gates with a common scale, set by set.

    A node of the text is a sum, possibly nested, of choices and optional operations. Expanded, it is a sum of terms,
    each of which passes through gates: first that of its candidate, then the zero switch behind the choice. Gates
    at the same distance from the node form a set if every term passes through one of them: multiplying all of them
    then multiplies the node. If a term reaches the node without a gate, as a plain skip does, the node has a scale of
    its own, and its gates are not rescaled.

    A zero switch in front of a choice is not a factor of the node: there are operations in between. But the zero
    switches of the choices into one node form a set too; otherwise they would also shrink together.
    """
    places = _places(graph)
    sets: dict[tuple[str, int, bool], dict[str, None]] = defaultdict(dict)
    fewest: dict[str, int] = {}  # gates on the path of a term to this node
    for edge in graph.edges:
        if edge.gate is not None and _is_in_front(edge):
            if edge.gate.choice in places:
                node, gates = places[edge.gate.choice]
                sets[node, gates + 1, True][edge.gate.name] = None
        elif edge.target in places:
            node, gates = places[edge.target]
            if edge.gate is not None:
                gates += 1
                sets[node, gates, False][edge.gate.name] = None
            if places.get(edge.source, (edge.source, 0))[0] == edge.source:  # a term begins here
                fewest[node] = min(fewest.get(node, gates), gates)
    return [tuple(names) for (node, gates, _), names in sets.items() if gates <= fewest[node]]


def _places(graph: Graph) -> dict[str, tuple[str, int]]:
    """For every sum and gated value: the node it is part of, and the number of gates in between.

    A value read by one sum only is part of it. A value read by several, or by an operation, is a node.
    """
    readers: dict[str, list[Edge]] = defaultdict(list)
    for edge in graph.edges:
        readers[edge.source].append(edge)
    found: dict[str, tuple[str, int]] = {}
    for node in reversed(list(graph)):
        if not node.op.combines_linearly or any(_is_in_front(edge) for edge in graph.inputs(node.name)):
            continue
        reading = readers[node.name]
        found[node.name] = (node.name, 0)
        if len(reading) == 1 and node.name not in graph.outputs and reading[0].target in found:
            whole, gates = found[reading[0].target]
            found[node.name] = whole, gates + (reading[0].gate is not None)
    return found


def _is_in_front(edge: Edge) -> bool:
    """Return whether this edge belongs to a zero switch in front of its choice; one behind it reads the choice."""
    return edge.gate is not None and edge.gate.is_zero and edge.source != edge.gate.choice
