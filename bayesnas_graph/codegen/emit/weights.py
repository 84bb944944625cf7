"""Transfers weights from one program to another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

from bayesnas_graph.codegen.emit.source import Emitted, Slot
from bayesnas_graph.passes import Rescaled
from bayesnas_graph.passes.analysis import Cut

if TYPE_CHECKING:
    from torch import Tensor

State = Mapping[str, "Tensor"]
ByNode = Mapping[str, Mapping[str, "Tensor"]]  # node -> name -> tensor


def transfer(
    state: State, source: Emitted, target: Emitted, cuts: Mapping[str, Sequence[Cut]] | None = None
) -> dict[str, Tensor]:
    """The state dict of one program of a space as that of another, however each was compiled.

    A weight belongs to a node. Merged nodes have one tensor where the plain program has several: the first is taken.
    Fused nodes have their tensors one after another in a wider one. Tensors that only the target has are omitted, and
    so are those that are not in the state, which may be that of an optimiser with tensors of the same shapes and names.
    If the target is a pruned graph, `cuts` (from `analysis.cuts`) says which entries of the tensors of a node are left.
    """
    return as_state(narrowed(by_node(state, source), cuts or {}), by_gate(state, source), target)


def as_state(tensors: ByNode, gates: State, target: Emitted) -> dict[str, Tensor]:
    """The state dict of a program, from the tensors of its nodes and gates."""
    import torch

    parts: dict[str, dict[int, Tensor]] = defaultdict(dict)  # a tensor of the target -> its parts
    counts: dict[str, int] = {}
    for node, slot in target.modules.items():
        for name, value in tensors.get(node, {}).items():
            parts[f"{slot.path}.{name}"].setdefault(slot.index, value)
            counts[f"{slot.path}.{name}"] = slot.count
    for gate, slot in target.gates.items():
        if gate in gates:
            parts[slot.path][slot.index] = gates[gate]
            counts[slot.path] = slot.count
    complete = {
        name: [pieces[i] for i in sorted(pieces)] for name, pieces in parts.items() if len(pieces) == counts[name]
    }
    return {name: pieces[0] if pieces[0].ndim == 0 else torch.cat(pieces) for name, pieces in complete.items()}


def by_node(state: State, program: Emitted) -> dict[str, dict[str, Tensor]]:
    """The tensors of every node of the elaborated graph, from the state dict of a program."""
    nodes: dict[str, list[tuple[str, Slot]]] = defaultdict(list)
    for node, slot in program.modules.items():
        nodes[slot.path].append((node, slot))
    tensors: dict[str, dict[str, Tensor]] = defaultdict(dict)
    for key, value in state.items():
        path, _, name = key.rpartition(".")
        while path and path not in nodes:  # a module of the user may contain modules
            path, _, outer = path.rpartition(".")
            name = f"{outer}.{name}"
        for node, slot in nodes.get(path, ()):
            tensors[node][name] = _part(value, slot)
    return tensors


def by_gate(state: State, program: Emitted) -> dict[str, Tensor]:
    """The values of the gates, each a tensor of one entry, from the state dict of a program."""
    return {gate: _part(state[slot.path], slot) for gate, slot in program.gates.items() if slot.path in state}


def rescaled(tensors: ByNode, gates: State, fixed: Rescaled) -> dict[str, dict[str, Tensor]]:
    """The tensors of a searched network as those of the fixed one, with the gates multiplied into the weights."""
    result = {node: dict(named) for node, named in tensors.items()}
    for node, names in fixed.factors.items():
        first, *others = (gates[name].view(()) for name in names)
        factor = prod(others, start=first)
        node_tensors = result.setdefault(node, {})
        for name in fixed.graph[node].op.scale_tensors():
            node_tensors[name] = node_tensors[name] * factor if name in node_tensors else factor
    return result


def narrowed(tensors: ByNode, cuts: Mapping[str, Sequence[Cut]]) -> dict[str, dict[str, Tensor]]:
    """The tensors without the channels that were removed."""
    return {
        node: {name: _cut(value, name, cuts.get(node, ())) for name, value in node_tensors.items()}
        for node, node_tensors in tensors.items()
    }


def _cut(value: Tensor, name: str, cuts: Sequence[Cut]) -> Tensor:
    """A tensor without the entries that were removed."""
    import torch

    for cut in cuts:
        if cut.name == name and value.ndim > cut.axis:
            value = value.index_select(cut.axis, torch.tensor(cut.entries, device=value.device))
    return value


def _part(value: Tensor, slot: Slot) -> Tensor:
    """Part of a tensor; a scalar, such as a count of batches, belongs to all."""
    return value if value.ndim == 0 else value.chunk(slot.count)[slot.index]
