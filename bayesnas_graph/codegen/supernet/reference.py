"""The simplest way to run a graph: one module per node, one multiplication per gate.

It is slow and obviously correct. Every pass and every faster program must agree with it.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from bayesnas_graph.codegen.emit import Emitted, by_node
from bayesnas_graph.codegen.emit.weights import ByNode
from bayesnas_graph.ir import Graph, ModuleCall, Node
from bayesnas_graph.ir.ops.build import build_function, build_module


class ReferenceNetwork(nn.Module):
    """A graph as a module. Gates start at 1.

    Weights have the names of their nodes, with `/` for dots; shared weights have their own name, after a colon.
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph
        self.weights = nn.ModuleDict()
        self.functions = {}
        self.applied: dict[str, tuple[int, ...]] = {}  # further arguments of the module of a node
        for node in graph:
            if node.op.is_input:
                continue
            inputs = graph.input_shapes(node.name)
            call = node.op.torch(*inputs)
            if isinstance(call, ModuleCall):
                self.applied[node.name] = call.applied
                if _held(node) not in self.weights:
                    self.weights[_held(node)] = build_module(call)
            else:
                self.functions[node.name] = build_function(call, len(inputs))
        names = dict.fromkeys(gate.name for gate in graph.gates)
        self.gates = nn.ParameterDict({_key(name): nn.Parameter(torch.ones(())) for name in names})

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """All outputs of the graph, for its inputs in order."""
        values = self.values(*inputs)
        return tuple(values[name] for name in self.graph.outputs)

    def values(self, *inputs: Tensor) -> dict[str, Tensor]:
        """The value of every node."""
        next_inputs = iter(inputs)
        values: dict[str, Tensor] = {}
        for node in self.graph:
            if node.op.is_input:
                values[node.name] = next(next_inputs)
                continue
            read = []
            for edge in self.graph.inputs(node.name):
                value = values[edge.source]
                read.append(value * self.gate(edge.gate.name) if edge.gate else value)
            compute = self.functions.get(node.name) or self.weights[_held(node)]
            values[node.name] = compute(*read, *self.applied.get(node.name, ()))
        return values

    def gate(self, name: str) -> Tensor:
        """The value of a gate."""
        gate: Tensor = self.gates[_key(name)]
        return gate

    def module(self, node: str) -> nn.Module | None:
        """The module of a node; None if it has none."""
        key = _held(self.graph[node])
        return self.weights[key] if key in self.weights else None  # noqa: SIM401  # a ModuleDict has no `get`

    def load(self, state: Mapping[str, Tensor], program: Emitted) -> ReferenceNetwork:
        """Load the weights and gates of a program of the same graph, however it was compiled. Return the network."""
        self.take(by_node(state, program))
        with torch.no_grad():
            for name, slot in program.gates.items():
                self.gates[_key(name)].copy_(state[slot.path][slot.index])
        return self

    def take(self, tensors: ByNode) -> ReferenceNetwork:
        """Load the weights of nodes. Return the network."""
        for node in self.graph:
            ((first, *_),) = node.stands_for  # fused graphs are not supported
            if first in tensors:
                self.weights[_held(node)].load_state_dict(dict(tensors[first]))
        return self


def _held(node: Node) -> str:
    """The key of the weights of a node. No name has a colon at its start."""
    return f":{_key(node.weights)}" if node.weights else _key(node.name)


def _key(name: str) -> str:
    """A name without dots, which names of submodules cannot have."""
    return name.replace(".", "/")
