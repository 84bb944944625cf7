"""Second derivatives of the loss with respect to every weight, from the diagonal carried backwards."""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor

from bayesnas_graph.bayes.losses import Loss
from bayesnas_graph.bayes.walk import Visit, Walk
from bayesnas_graph.codegen.supernet import ReferenceNetwork, at_rest
from bayesnas_graph.ir import Node


def weight_curvature(
    network: ReferenceNetwork, batches: Iterable[tuple[Tensor, Tensor]], loss: Loss
) -> dict[str, dict[str, Tensor]]:
    """The second derivative of the mean loss for every weight: node -> parameter -> a tensor of its shape.

    The mean over all samples of all batches, with norms in evaluation mode. Off-diagonal terms are dropped at every
    operation, as by `recursive`. Every node with shared weights has the sum over all their uses, without the terms that
    mix two uses. Smooth activations make some values negative: clamp them if needed. Gates keep their current values.

    >>> import torch
    >>> from bayesnas_graph.bayes import SquaredError
    >>> from bayesnas_graph.ir import Edge, Graph, Node
    >>> from bayesnas_graph.ir.ops import PRIMITIVES, Input
    >>> nodes = [Node("x", Input(), (2,)), Node("y", PRIMITIVES["linear"](width=1), (1,))]
    >>> network = ReferenceNetwork(Graph("net", nodes, [Edge("x", "y", 0)], ["y"]))
    >>> curvature = weight_curvature(network, [(torch.tensor([[3.0, 0.0]]), torch.tensor([[1.0]]))], SquaredError())
    >>> curvature["y"]["weight"], curvature["y"]["bias"]
    (tensor([[18.,  0.]]), tensor([2.]))
    """
    if len(network.graph.outputs) != 1:
        raise ValueError(f"a loss needs a network with one output, got {len(network.graph.outputs)}")
    totals: dict[tuple[str, str], dict[str, Tensor]] = {}
    count = 0
    with at_rest(network):
        for x, targets in batches:
            _add(totals, Walk(network, loss, x, targets), len(x))
            count += len(x)
    if not count:
        raise ValueError("no batches to measure curvature on")
    return {
        node.name: {name: total / count for name, total in totals[_holder(node)].items()}
        for node in network.graph
        if _holder(node) in totals
    }


def _holder(node: Node) -> tuple[str, str]:
    """What has the weights of a node: itself, or what it shares them with."""
    return ("", node.weights) if node.weights else (node.name, "")


def _add(totals: dict[tuple[str, str], dict[str, Tensor]], walk: Walk, samples: int) -> None:
    """Add the second derivatives of the weights from one walk: means, weighted by the number of samples."""

    def feel(visit: Visit) -> None:
        for name, h in visit.node.op.weight_curvature(visit.local).items():
            held = totals.setdefault(_holder(visit.node), {})
            held[name] = held[name].add_(h, alpha=samples) if name in held else h * samples

    walk.run(feel)
