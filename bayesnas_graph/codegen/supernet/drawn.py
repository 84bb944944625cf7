"""A supernet that computes only what was drawn: nothing behind closed gates, forward or backward."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, reduce
from operator import add
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from bayesnas_graph.codegen.supernet.plan import Opened, Plan, Step, Wires, plan
from bayesnas_graph.ir import Expression, Graph, ModuleCall
from bayesnas_graph.ir.ops.build import build_function
from bayesnas_graph.runtime import dropped, gated_sum
from bayesnas_graph.runtime.precision import sent

if TYPE_CHECKING:
    from bayesnas_graph.codegen.supernet.network import Supernet

Compute = Callable[..., Tensor]


class DrawnNetwork(nn.Module):
    """The module of a supernet. Within `only`, it runs the nodes of the graph that open gates lead to.

    It has the weights of the module, so sibling operations must not be fused: the weights of a candidate that is not
    computed have no gradient. Outside `only`, it is the module itself.
    """

    def __init__(self, supernet: Supernet) -> None:
        super().__init__()
        self.network = supernet.module
        graph = supernet.compiled
        self._wires = Wires.of(graph, supernet.names)
        self._shapes = [node.shape for node in graph]
        self._inputs = {i: n for n, i in enumerate(i for i, node in enumerate(graph) if node.op.is_input)}
        self._drops = [any(edge.gate and not edge.gate.is_zero for edge in graph.inputs(node.name)) for node in graph]
        self._compute = _computed(graph, supernet)
        self._gate_paths = supernet.gate_paths
        self._places = supernet.order.tolist()  # the position of each gate among those of all tensors
        self._opened: Opened | None = None
        self._plan: tuple[Opened, Plan, Tensor | None] | None = None  # of the last pass

    @cached_property
    def _gates(self) -> tuple[nn.Parameter, ...]:
        """The tensors of gates, once the module is on its device."""
        return tuple(self.network.get_parameter(path) for path in self._gate_paths)

    @contextmanager
    def only(self, opened: Opened | None) -> Iterator[None]:
        """Compute only what these gates let through, within this block; everything if there are none."""
        before, self._opened = self._opened, opened
        try:
            yield
        finally:
            self._opened = before

    def forward(self, *inputs: Tensor) -> Tensor | tuple[Tensor, ...]:
        """The output of the module, or its outputs."""
        if self._opened is None:
            whole: Tensor | tuple[Tensor, ...] = self.network(*inputs)
            return whole
        todo, index = self._planned(self._opened)
        outputs = self._run(todo, index, inputs)
        return outputs[0] if len(outputs) == 1 else outputs

    def _planned(self, opened: Opened) -> tuple[Plan, Tensor | None]:
        """The plan of a pass, and where the gates are that it multiplies with: the same for all parts of a batch."""
        if self._plan is None or self._plan[0] is not opened:
            todo = plan(self._wires, opened)
            places = torch.tensor([self._places[gate] for gate in todo.positions], dtype=torch.long)
            index = sent(places, self._gates[0].device) if todo.positions else None
            self._plan = opened, todo, index
        return self._plan[1:]

    def _run(self, todo: Plan, index: Tensor | None, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        values: dict[int, Tensor] = {}
        like = inputs[0] if inputs[0].is_floating_point() else self._gates[0]

        def value(node: int) -> Tensor:
            if node in todo.zeros:
                return like.new_zeros(len(inputs[0]), *self._shapes[node])
            return values[node]

        gates = iter(()) if index is None else iter(self._selected(todo, index))
        for step in todo.steps:
            if step.node in self._inputs:
                values[step.node] = inputs[self._inputs[step.node]]
                continue
            read = [value(node) for node in step.reads]
            with torch.set_grad_enabled(torch.is_grad_enabled() and not step.is_forward):
                values[step.node] = self._value(step, read, next(gates) if step.gates else None)
            for node in step.done:
                values.pop(node, None)
        outputs = tuple(value(node) for node in self._wires.outputs)
        if torch.is_grad_enabled() and not any(output.requires_grad for output in outputs):
            outputs = tuple(output.detach().requires_grad_() for output in outputs)  # of no weights: still a loss
        return outputs

    def _value(self, step: Step, read: list[Tensor], gates: Tensor | None) -> Tensor:
        """The value of a node, given what it reads."""
        if gates is not None:
            parts = zip(read, step.detached, strict=True)
            return gated_sum([x.detach() if detached else x for x, detached in parts], gates)
        if self._wires.gates[step.node]:  # all of them are 1
            return reduce(add, map(dropped, read) if self._drops[step.node] else read)
        if self._wires.adds[step.node]:
            return reduce(add, read)
        return self._compute[step.node](*read)

    def _selected(self, todo: Plan, index: Tensor) -> tuple[Tensor, ...]:
        """The gates of every step that multiplies with some, with a few kernels for all steps."""
        together = torch.cat(self._gates).index_select(0, index)
        return torch.split(together, [len(step.gates) for step in todo.steps if step.gates])


def _computed(graph: Graph, supernet: Supernet) -> list[Compute]:
    """For every node the module or function that computes it."""
    modules = dict(supernet.module.named_modules(remove_duplicate=False))
    functions: dict[str, Compute] = {}
    found: list[Compute] = []
    for node in graph:
        if node.op.is_input or node.op.is_gated:
            found.append(_no_operation)
            continue
        shapes = graph.input_shapes(node.name)
        call = node.op.torch(*shapes)
        if isinstance(call, ModuleCall):
            ((first, *_), *others) = node.stands_for
            assert not others, "sibling operations are not fused"
            found.append(_applied(modules[supernet.program.modules[first].path], call.applied))
        else:
            found.append(_function(call, len(shapes), functions))
    return found


def _applied(module: nn.Module, numbers: tuple[int, ...]) -> Compute:
    return (lambda *read: module(*read, *numbers)) if numbers else module


def _function(call: Expression, inputs: int, known: dict[str, Compute]) -> Compute:
    """The function of an expression, made once for all nodes that have it."""
    text = call.source([f"x{i}" for i in range(inputs)])
    if text not in known:
        known[text] = build_function(call, inputs)
    return known[text]


def _no_operation(*_: Tensor) -> Tensor:
    raise AssertionError("inputs and gated sums are not computed by an operation")
