"""Curvature carried backwards, from operation to operation, as the diagonal that each rule makes of the next."""

from __future__ import annotations

import torch
from torch import Tensor

from bayesnas_graph.bayes.losses import Loss
from bayesnas_graph.ir import Graph, Node
from bayesnas_graph.ops import Input
from bayesnas_graph.ops.curvature import Local
from bayesnas_graph.passes import merge_common_subexpressions
from bayesnas_graph.supernet import ReferenceNetwork, Supernet


def recursive(
    supernet: Supernet, loss: Loss, x: Tensor, targets: Tensor, *, of_means: bool = False
) -> tuple[Tensor, Tensor]:
    """The sum over samples of the second derivatives along all gates, and the mean squares of what these multiply.

    It begins at the outputs with the diagonal of the loss and asks every operation for its rule. A gate with the
    value `w` on a value `z` hands on `w^2 H` and feels `z^2 H`. With `of_means` there is one sample, the mean of
    all, and each channel has its mean everywhere: a fraction of the work, and less to go by.
    """
    return _Walk(supernet, loss, x, targets, of_means).run()


class _Walk:
    def __init__(self, supernet: Supernet, loss: Loss, x: Tensor, targets: Tensor, of_means: bool) -> None:
        self.graph: Graph = merge_common_subexpressions(supernet.graph)
        self.net: ReferenceNetwork = supernet.reference(self.graph).eval()
        self.place = {name: i for i, name in enumerate(supernet.names)}
        self.of_means = of_means
        self.samples = len(x)
        self.values, self.gradients = self._forward(loss, x, targets)
        (output,) = self.graph.outputs
        self.hessians: dict[str, Tensor] = {output: self._mean(loss.diagonal(self.values[output]))}
        self.h = x.new_zeros(len(self.place))
        self.powers = x.new_zeros(len(self.place))

    def _forward(self, loss: Loss, x: Tensor, targets: Tensor) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Every value, and the gradients of those whose rule asks for them."""
        bent = [node.name for node in self.graph if node.op.bends]
        with torch.set_grad_enabled(bool(bent)):
            values = self.net.values(x.detach().requires_grad_(bool(bent)))  # a rule may ask before any weight is met
        gradients: dict[str, Tensor] = {}
        if bent:
            (output,) = self.graph.outputs
            total = len(x) * loss(values[output], targets)
            found = torch.autograd.grad(total, [values[name] for name in bent])
            gradients = dict(zip(bent, found, strict=True))
        return {name: value.detach() for name, value in values.items()}, gradients

    @torch.no_grad()
    def run(self) -> tuple[Tensor, Tensor]:
        for node in reversed(list(self.graph)):
            if isinstance(node.op, Input):
                continue
            hessian = self.hessians.pop(node.name)
            self._visit(node, hessian)
            self.values.pop(node.name)  # all that read it have been visited: it is needed no more
        scale = self.samples if self.of_means else 1
        return self.h * scale, self.powers

    def _visit(self, node: Node, hessian: Tensor) -> None:
        edges = self.graph.inputs(node.name)
        gates = [self.net.gate(edge.gate.name) if edge.gate else None for edge in edges]
        read = [self._mean(self.values[edge.source]) for edge in edges]
        inputs = [value if gate is None else value * gate for value, gate in zip(read, gates, strict=True)]
        output = self._mean(self.values[node.name])
        gradient = self.gradients.get(node.name)
        local = Local(
            tuple(inputs),
            output,
            hessian,
            torch.zeros_like(output) if gradient is None else self._mean(gradient),
            self.net.module(node.name),
        )
        for edge, gate, value, handed in zip(edges, gates, read, node.op.curvature(local), strict=True):
            if edge.gate is not None and gate is not None:
                place = self.place[edge.gate.name]
                self.h[place] += (value.square() * handed).sum()
                self.powers[place] = self.values[edge.source].square().mean()
                handed = handed * gate**2
            known = self.hessians.get(edge.source)
            self.hessians[edge.source] = self._mean(handed) if known is None else known + self._mean(handed)

    def _mean(self, value: Tensor) -> Tensor:
        """The mean over samples and positions, in every position of one sample; or just the value."""
        if not self.of_means:
            return value
        axes = [0, *range(2, value.ndim)]
        return value.mean(axes, keepdim=True).expand(1, *value.shape[1:])
