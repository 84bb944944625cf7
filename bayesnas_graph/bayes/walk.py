"""Walk backwards through a graph and carry the diagonal of second derivatives from operation to operation.

The walk starts at the output with the diagonal of the loss. A gate with value `w` multiplies it by `w^2`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from bayesnas_graph.bayes.losses import Loss
from bayesnas_graph.codegen.supernet import ReferenceNetwork
from bayesnas_graph.ir import Edge, Node
from bayesnas_graph.ir.ops.curvature import Local


@dataclass(frozen=True, slots=True, eq=False)
class Arrival:
    """The second derivatives of the loss with respect to the value on an edge."""

    edge: Edge
    value: Tensor  # at the start of the edge, before its gate
    hessian: Tensor  # at its end, behind the gate


@dataclass(frozen=True, slots=True, eq=False)
class Visit:
    """An operation on the walk."""

    node: Node
    local: Local
    arrivals: tuple[Arrival, ...]  # one for each of its inputs


class Walk:
    """A network with all its values for a batch, for one walk.

    The network must be in evaluation mode and have one output. With `of_means` there is only one sample, the mean of
    all, and each channel has its mean at every position.
    """

    def __init__(
        self, network: ReferenceNetwork, loss: Loss, x: Tensor, targets: Tensor, *, of_means: bool = False
    ) -> None:
        self.graph = network.graph
        self.network = network
        self.of_means = of_means
        self.values, self.gradients = self._forward(loss, x, targets)  # full values, even in a walk of means
        (output,) = self.graph.outputs
        self.hessians: dict[str, Tensor] = {output: self._mean(loss.diagonal(self.values[output]))}

    def _forward(self, loss: Loss, x: Tensor, targets: Tensor) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """All values, and the gradients of those whose rule needs them."""
        bent = [node.name for node in self.graph if node.op.has_second_derivative]
        with torch.set_grad_enabled(bool(bent)):
            # The input needs a gradient too: a rule may need one before any weight.
            values = self.network.values(x.detach().requires_grad_(bool(bent) and x.is_floating_point()))
            gradients: dict[str, Tensor] = {}
            if bent:
                (output,) = self.graph.outputs
                total = len(x) * loss(values[output], targets)
                found = torch.autograd.grad(total, [values[name] for name in bent])
                gradients = dict(zip(bent, found, strict=True))
        return {name: value.detach() for name, value in values.items()}, gradients

    @torch.no_grad()
    def run(self, see: Callable[[Visit], None]) -> None:
        """Walk back and pass every operation to `see`, after all its readers."""
        for node in reversed(list(self.graph)):
            if node.op.is_input:
                continue
            see(self._visit(node))
            self.values.pop(node.name)  # all its readers have been visited

    def _visit(self, node: Node) -> Visit:
        edges = self.graph.inputs(node.name)
        gates = [self.network.gate(edge.gate.name) if edge.gate else None for edge in edges]
        read = [self._mean(self.values[edge.source]) for edge in edges]
        inputs = [value if gate is None else value * gate for value, gate in zip(read, gates, strict=True)]
        output = self._mean(self.values[node.name])
        gradient = self.gradients.get(node.name)
        local = Local(
            tuple(inputs),
            output,
            self.hessians.pop(node.name),
            torch.zeros_like(output) if gradient is None else self._mean(gradient),
            self.network.module(node.name),
        )
        handed_on = zip(edges, read, node.op.curvature(local), strict=True)
        arrivals = tuple(Arrival(edge, value, hessian) for edge, value, hessian in handed_on)
        for arrival, gate in zip(arrivals, gates, strict=True):
            source = arrival.edge.source
            handed = self._mean(arrival.hessian if gate is None else arrival.hessian * gate**2)
            self.hessians[source] = self.hessians[source] + handed if source in self.hessians else handed
        return Visit(node, local, arrivals)

    def _mean(self, value: Tensor) -> Tensor:
        """In a walk of means, the mean over samples and positions, at every position of one sample; else the value."""
        if not self.of_means:
            return value
        if not value.is_floating_point():
            return value[:1]  # tokens have no mean, and no rule depends on them
        axes = [0, *range(2, value.ndim)]
        return value.mean(axes, keepdim=True).expand(1, *value.shape[1:])
