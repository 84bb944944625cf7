"""One iteration of the Bayesian update: from gates and curvatures to variances.

    H       =  h / lambda_w                      the curvature relative to the penalty
    omega^2 =  sum of H / (1 + gamma H)          over the gates of a group, with the gamma of the previous iteration
    s       =  |w| / omega                       the variance of a switch by itself, with the norm for a group
    gamma   =  dependency(s)                     its variance given the switches it depends on

The results are finite for all finite `h`, `w` and `gamma`. Clamped values are reported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from bayesnas_graph.bayes.dependency import Structure, one_hop
from bayesnas_graph.bayes.groups import group_norms, group_sums
from bayesnas_graph.bayes.switches import Switches
from bayesnas_graph.runtime.precision import gate_dtype

# The largest strength of a switch. If the data do not determine a gate, its strength is unbounded.
LARGEST = 1e12


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """The result of an update for every group, and the gates and groups that needed clamping."""

    gamma: Tensor
    omega: Tensor
    s: Tensor
    negative: Tensor  # gates with negative curvature, clamped to zero
    infinite: Tensor  # gates with infinite curvature, clamped to the largest float
    undetermined: Tensor  # groups that the data do not determine: their strength would exceed `LARGEST`

    @staticmethod
    def start(switches: Switches, dtype: torch.dtype | None = None) -> State:
        """The state before the first update: all ones."""
        dtype = dtype or gate_dtype(switches.group.device)
        ones = torch.ones(len(switches.groups), dtype=dtype, device=switches.group.device)
        none = switches.group.new_zeros(0)
        return State(ones, ones, ones, none, none, none)


@torch.no_grad()
def update(
    switches: Switches,
    gamma: Tensor,
    h: Tensor,
    w: Tensor,
    lambda_w: Tensor,
    dependency: Callable[[Structure, Tensor], Tensor] = one_hop,
) -> State:
    """One iteration.

    `gamma` is from the previous iteration, for every group; `h`, the second derivatives of the mean loss, and `w`
    are for every gate; `lambda_w` is for every group, as from `Switches.by_kind`. To measure gates by their
    contributions, pass `contributions(h, w, r)`. Raises ValueError for nan and for an intensity that is not
    positive.
    """
    _check_numbers(switches, h, w)
    if not bool(((lambda_w > 0) & lambda_w.isfinite()).all()):
        raise ValueError("the intensity of a penalty must be a positive number")
    groups, largest = len(switches.groups), torch.finfo(h.dtype).max
    curvature = h.clamp(min=0) / lambda_w.to(h.dtype)[switches.group]
    squares = omega_squared(gamma[switches.group], curvature.clamp(max=largest))
    omega = group_sums(squares, switches.group, groups).clamp(max=largest).sqrt()
    norm = group_norms(w, switches.group, groups).clamp(max=largest)
    s = strength(norm, omega)
    structure = switches.structure
    return State(
        gamma=structure.reduce(dependency(structure, structure.spread(s))),
        omega=omega,
        s=s,
        negative=(h < 0).nonzero().flatten(),
        infinite=curvature.isinf().nonzero().flatten(),
        undetermined=(omega * LARGEST <= norm).nonzero().flatten(),
    )


def posterior_variance(gamma: Tensor, curvature: Tensor) -> Tensor:
    """`C = 1 / (1/gamma + H)`: the posterior variance.

    >>> posterior_variance(torch.tensor([0.0, 1.0, 1.0]), torch.tensor([3.0, 3.0, 0.0]))
    tensor([0.0000, 0.2500, 1.0000])
    """
    return torch.minimum(gamma, (gamma.reciprocal() + curvature).reciprocal())


def omega_squared(gamma: Tensor, curvature: Tensor) -> Tensor:
    """`(gamma - C) / gamma^2 = H / (1 + gamma H)`, the weight of the penalty on a gate, squared.

    The left side loses all precision where the data say little, and the product `gamma H` may overflow. Computing
    `1 / (1/H + gamma)` avoids both; the reciprocal of zero is infinite, and the reciprocal of that is zero again.

    >>> omega_squared(torch.tensor([1.0, 1e30, 1.0]), torch.tensor([3.0, 1e30, 0.0]))
    tensor([7.5000e-01, 1.0000e-30, 0.0000e+00])
    """
    return torch.minimum(curvature, (curvature.reciprocal() + gamma).reciprocal())


def strength(norm: Tensor, omega: Tensor) -> Tensor:
    """`s = |w| / omega`, at most `LARGEST`. A gate at zero always has strength zero.

    >>> strength(torch.tensor([0.5, 0.0, 0.5]), torch.tensor([2.0, 0.0, 0.0]))
    tensor([2.5000e-01, 0.0000e+00, 1.0000e+12])
    """
    return torch.where(norm > 0, norm / omega, 0).clamp(max=LARGEST)


def _check_numbers(switches: Switches, h: Tensor, w: Tensor) -> None:
    wrong = (h.isnan() | ~w.isfinite()).nonzero().flatten().tolist()
    if wrong:
        names = ", ".join(switches.gates[i] for i in wrong[:5])
        raise ValueError(f"{len(wrong)} gates have a value or curvature that is not a number, such as {names}")
