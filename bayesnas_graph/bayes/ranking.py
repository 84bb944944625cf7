"""Rankings of switches, needed to keep one candidate per edge, two edges per node, or a given size.

`gamma` decides whether a switch is off, but it ranks poorly: `s = |w| sqrt(gamma + 1/H)` is largest where the
curvature is smallest, that is, for the candidates that matter least. The other rankings measure the contribution of a
switch. Higher is better in all of them.
"""

from __future__ import annotations

import torch
from torch import Tensor

from bayesnas_graph.bayes.groups import group_norms, group_sums
from bayesnas_graph.bayes.switches import Switches
from bayesnas_graph.ir.literals import Ranking


@torch.no_grad()
def score(
    ranking: Ranking, switches: Switches, gamma: Tensor, h: Tensor, w: Tensor, gradient: Tensor, lambda_w: Tensor
) -> Tensor:
    """The score of every group by this ranking. `gradient` is that of the mean loss with respect to every gate."""
    if ranking == "gamma":
        return gamma
    if ranking == "relevance":
        return relevance(switches, gamma, h, w, lambda_w)
    if ranking == "magnitude":
        return magnitude(switches, w)
    return removal(switches, h, w, gradient)


def relevance(switches: Switches, gamma: Tensor, h: Tensor, w: Tensor, lambda_w: Tensor) -> Tensor:
    """`w^2 (H + 1/gamma)`: the square of a gate relative to its posterior variance.

    Only meaningful among open switches: a closed one has a small variance anyway.
    """
    largest = torch.finfo(w.dtype).max
    curvature = (h.clamp(min=0) / lambda_w.to(h.dtype)[switches.group]).clamp(max=largest)
    # A gate at zero has no relevance, even if its variance is zero; and squares of gates may underflow.
    of_gates = torch.where(w == 0, 0, w * (w * curvature) + w * (w / gamma[switches.group]))
    return group_sums(of_gates, switches.group, len(switches.groups)).clamp(max=largest)


def removal(switches: Switches, h: Tensor, w: Tensor, gradient: Tensor) -> Tensor:
    """`w^2 h / 2 - w g`: the increase of the mean loss if the gates become zero, to second order."""
    return group_sums(0.5 * w.square() * h - w * gradient, switches.group, len(switches.groups))


def magnitude(switches: Switches, w: Tensor) -> Tensor:
    """The root mean square of the gates: magnitude pruning."""
    return group_norms(w, switches.group, len(switches.groups)) / switches.members.to(w.dtype).sqrt()
