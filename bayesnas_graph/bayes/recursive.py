"""Curvature along gates, from the diagonal carried backwards from operation to operation."""

from __future__ import annotations

from torch import Tensor

from bayesnas_graph.bayes.losses import Loss
from bayesnas_graph.bayes.walk import Visit, Walk
from bayesnas_graph.codegen.supernet import Moments, Supernet
from bayesnas_graph.passes import merge_common_subexpressions
from bayesnas_graph.runtime import channel_means
from bayesnas_graph.runtime.precision import gate_dtype


def recursive(
    supernet: Supernet, loss: Loss, x: Tensor, targets: Tensor, *, of_means: bool = False
) -> tuple[Tensor, Moments]:
    """The sum over samples of the second derivatives along all gates, and the magnitude of each gate's input.

    It starts at the outputs with the diagonal of the loss and applies the rule of every operation. A gate with value
    `w` on a value `z` passes on `w^2 H`, and its own second derivative is `z^2 H`. With `of_means` there is only one
    sample, the mean of all, and each channel has its mean at every position: less work, and less accurate.
    """
    network = supernet.reference(merge_common_subexpressions(supernet.graph)).eval()
    place = {name: i for i, name in enumerate(supernet.names)}
    h, squares = x.new_zeros(len(place)), x.new_zeros(len(place), dtype=gate_dtype(x.device))
    means = [squares.new_zeros(1) for _ in place]
    walk = Walk(network, loss, x, targets, of_means=of_means)

    def feel(visit: Visit) -> None:
        for arrival in visit.arrivals:
            if arrival.edge.gate is not None:
                i = place[arrival.edge.gate.name]
                h[i] += (arrival.value.square() * arrival.hessian).sum()
                value = walk.values[arrival.edge.source]
                squares[i] = value.square().mean()
                means[i] = channel_means(value)

    walk.run(feel)
    return h * (len(x) if of_means else 1), Moments(squares, tuple(means))
