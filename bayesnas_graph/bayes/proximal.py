"""The proximal step of the penalty: gates move towards zero and stop there.

The penalty is `lambda_w omega |w|`, with the norm for a group. Gradient steps on it would oscillate around zero. The
proximal step instead solves `min |w - v|^2 / 2 + threshold |w|`, where `v` are the gates after the step on the loss,
and produces exact zeros.
"""

from __future__ import annotations

import torch
from torch import Tensor

from bayesnas_graph.bayes.groups import group_norms, group_sums
from bayesnas_graph.bayes.switches import Switches
from bayesnas_graph.bayes.units import unit

# The most Newton steps in `_size_of_contribution`. Where all units of a group are equal, one is enough.
_STEPS = 20


@torch.no_grad()
def proximal_step(
    switches: Switches, w: Tensor, omega: Tensor, lambda_w: Tensor, rate: float, r: Tensor | None = None
) -> Tensor:
    """The gates after the proximal part of a step at this learning rate.

    With `r`, the magnitude of each gate's input, the penalty is on contributions: `lambda_w omega |w r|`.
    """
    threshold = rate * lambda_w.to(w.dtype) * omega
    if r is None:
        return block_soft_threshold(w, threshold, switches.group)
    return weighted_soft_threshold(w, threshold, switches.group, unit(r))


def penalty(switches: Switches, w: Tensor, omega: Tensor, lambda_w: Tensor, r: Tensor | None = None) -> Tensor:
    """The penalty added to the mean loss: `lambda_w omega |w|`, summed over the groups."""
    sizes = w if r is None else w * unit(r)
    return (lambda_w.to(w.dtype) * omega * group_norms(sizes, switches.group, len(switches.groups))).sum()


def soft_threshold(v: Tensor, threshold: Tensor) -> Tensor:
    """Each number moved towards zero by its threshold.

    >>> soft_threshold(torch.tensor([3.0, -3.0, 0.5]), torch.tensor([1.0, 1.0, 1.0]))
    tensor([ 2., -2.,  0.])
    """
    return torch.where(v.abs() > threshold, v - threshold.copysign(v), 0)


def block_soft_threshold(v: Tensor, threshold: Tensor, group: Tensor) -> Tensor:
    """Move the norm of each group towards zero by its threshold; the ratios within a group stay the same.

    >>> block_soft_threshold(torch.tensor([3.0, 4.0, 0.5]), torch.tensor([2.5, 1.0]), torch.tensor([0, 0, 1]))
    tensor([1.5000, 2.0000, 0.0000])
    """
    norms = group_norms(v, group, len(threshold))
    part_left = torch.where(norms > threshold, (norms - threshold) / norms, 0)
    return v * part_left[group]


def weighted_soft_threshold(v: Tensor, threshold: Tensor, group: Tensor, r: Tensor) -> Tensor:
    """The proximal step of `threshold |w r|`, with the norm over each group.

    At the solution `w = v / (1 + threshold r^2 / rho)`, where `rho` is the norm of `w r`. With equal `r` this is
    the block soft threshold by `threshold r`.

    >>> w = weighted_soft_threshold(torch.tensor([1.0, 1.0]), torch.tensor([0.5]), torch.tensor([0, 0]), torch.ones(2))
    >>> torch.allclose(w, block_soft_threshold(torch.ones(2), torch.tensor([0.5]), torch.tensor([0, 0])))
    True
    """
    a, b = v * r, threshold[group] * r.square()
    rho = _size_of_contribution(a, b, group, len(threshold))[group]
    return torch.where(b > 0, torch.where(rho > 0, v * (rho / (rho + b)), 0), v)


def _size_of_contribution(a: Tensor, b: Tensor, group: Tensor, groups: int) -> Tensor:
    """For every group the `rho` at which the norm of `a / (rho + b)` is 1, or zero if no positive one exists.

    The reciprocal of that norm is concave and nearly a straight line, so Newton's method from below never
    overshoots.
    """
    widest = a.new_zeros(groups).scatter_reduce_(0, group, b, "amax")
    rho = (group_norms(a, group, groups) - widest).clamp(min=0)
    for _ in range(_STEPS):
        below = rho[group] + b
        quotient = torch.where(below > 0, a / below, 0)
        norm = group_norms(quotient, group, groups)
        if not bool((norm > 1 + 8 * torch.finfo(norm.dtype).eps).any()):
            break
        slope = group_sums(torch.where(below > 0, quotient.square() / below, 0), group, groups)
        rho = rho + torch.where(norm > 1, (norm - 1) * norm.square() / slope, 0)
    return rho


def shrink_budget(
    switches: Switches, rates: Tensor, omega: Tensor, lambda_w: Tensor, r: Tensor | None = None
) -> Tensor:
    """How far the penalty can move the gates of each group in steps at these learning rates, at the current omega.

    Gates start at 1. Where this is less than 1, the group cannot be closed, however useless it is: there are too few
    steps, or the learning rates or the intensity are too low. The penalty moves the norm of a group, which for `m`
    equal gates is `sqrt(m)` times each.
    """
    sizes = torch.ones_like(switches.group, dtype=omega.dtype) if r is None else unit(r).to(omega.dtype)
    start = group_norms(sizes.reciprocal(), switches.group, len(switches.groups))
    return rates.to(omega.dtype).sum() * lambda_w.to(omega.dtype) * omega / start


def can_close(budget: Tensor) -> Tensor:
    """Return whether a shrink budget is enough to move a gate from 1 to zero."""
    return budget >= 1
