"""The prior of groups of weights, and the step of its penalty.

    gamma   =  |W| / omega                       the variance of the weights of a group
    omega^2 =  sum of H / (1 + gamma H)          over its weights, with H = h / lambda
    penalty =  lambda omega |W|                  summed over all groups of all patterns

It is the update of switches, with weights instead of gates and without dependencies: what is removed along with a
filter follows from shrinking the graph. Because it depends only on weights and curvatures, the update is
repeated until both equations hold.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from bayesnas_graph.bayes import omega_squared, strength
from bayesnas_graph.codegen.emit.weights import ByNode
from bayesnas_graph.train.compress.groups import Groups
from bayesnas_graph.train.compress.masks import Masks

MAX_UPDATES = 100
TOLERANCE = 1e-3  # relative change of gamma at which it has converged


@dataclass(frozen=True, slots=True, eq=False)
class GroupPrior:
    """The prior of every group of a pattern in a layer."""

    gamma: Tensor
    omega: Tensor


@torch.no_grad()
def settled(groups: Groups, weights: ByNode, h: ByNode, masks: Masks, lambda_w: float) -> GroupPrior:
    """Return the converged prior of some weights, given the curvature of the mean loss by every weight that is kept."""
    prior = updated(groups, torch.ones_like(groups.norms(weights)), weights, h, masks, lambda_w)
    for _ in range(MAX_UPDATES):
        before, prior = prior, updated(groups, prior.gamma, weights, h, masks, lambda_w)
        if bool(((prior.gamma - before.gamma).abs() <= TOLERANCE * before.gamma).all()):
            break
    return prior


@torch.no_grad()
def updated(groups: Groups, gamma: Tensor, weights: ByNode, h: ByNode, masks: Masks, lambda_w: float) -> GroupPrior:
    """Return the prior after an update from an earlier gamma."""
    variances = {(node, name): variance for node, name, variance in groups.spread(gamma, weights)}

    def squares(node: str, name: str) -> Tensor:
        curvature = h[node][name].clamp(min=0) / lambda_w
        return omega_squared(variances[node, name], curvature) * masks[node][name]

    omega = groups.sums(squares).sqrt()
    return GroupPrior(strength(groups.norms(weights), omega), omega)


@torch.no_grad()
def shrink_towards_zero(groups: Groups, weights: ByNode, threshold: Tensor, *, spare_last: bool) -> None:
    """Take the step of the penalty in place: subtract the threshold from the norm of each group, down to zero.

    With `spare_last`, the strongest group is spared if none would be left, because the network needs the layer.
    """
    norms = groups.norms(weights)
    factors = torch.where(norms > threshold, (norms - threshold) / norms, 0)
    if spare_last:
        factors = torch.where((norms == norms.max()) & ~factors.any(), 1.0, factors)
    for node, name, part in groups.spread(factors, weights):
        weights[node][name].mul_(part)


@torch.no_grad()
def removal_costs(groups: Groups, weights: ByNode, h: ByNode) -> Tensor:
    """Return the rise of the mean loss if a group is removed, to second order and ignoring correlations."""
    return groups.sums(lambda node, name: weights[node][name].square() * h[node][name].clamp(min=0)) / 2


@torch.no_grad()
def data_variances(groups: Groups, prior: GroupPrior, weights: ByNode, h: ByNode, lambda_w: float) -> Tensor:
    """Return the variance of a group relative to the curvature of the data: the sum of `gamma H` over its weights.

    The scale of a weight is arbitrary: it can be halved if its input is doubled. This number does not depend on it.
    """
    variances = {(node, name): gamma for node, name, gamma in groups.spread(prior.gamma, weights)}
    return groups.sums(lambda node, name: variances[node, name] * h[node][name].clamp(min=0) / lambda_w)
