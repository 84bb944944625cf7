"""The worth of a switch: what the loss gains from its contribution, with its uncertainty.

Gates do not move. All open candidates contribute equally to their node, and at this point the slope of a switch is

    b = -sum of w dL/dw        over its gates

which is positive if a larger contribution would lower the loss. Every step of training is a sample of it. The prior
says that the best value of a gate is about 1, with a variance of 1. If the loss has the curvature `c` along gates, the
best value is `1 + b / c`, so slopes have the variance `c^2`: `c` is the root mean square of the mean slopes since the
last update. It is the same for all candidates, because their order must not depend on how well single curvatures are
known. Slopes shrink while weights are trained, so samples of different phases are comparable only in units of `c`:

    w = 1 + mean of b / c      with the standard error of that mean

So candidates are measured by each other. A zero switch and an optional operation are not: nothing takes the place of
what they close. There the loss grows by about `b + h / 2`, with `h` the curvature along the gates in the unit of
slopes. Relative to the mean of `h / 2` over all such switches, this is the square of their worth: what a gate saves
grows with its square. And the best candidate of a choice is worth at least 1: whether it stays is up to the zero
switch.

Seen through noise with the variance lambda, the prior variance that explains `w` best is

    s = w^2 - lambda           or zero, if that is negative or `w` is
    gamma = dependency(s)      which decides, as everywhere: off if its entropy is not positive

So lambda is a number without a unit. At 1, only switches with a positive slope have any variance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import torch
from torch import Tensor

from bayesnas_graph.bayes.dependency import Structure, one_hop
from bayesnas_graph.bayes.entropy import THRESHOLD
from bayesnas_graph.bayes.groups import group_sums
from bayesnas_graph.bayes.switches import Switches
from bayesnas_graph.bayes.update import LARGEST, State, omega_squared
from bayesnas_graph.runtime.precision import gate_dtype, precise, tiny

Looks = dict[str, Tensor]  # sums over samples of slopes, of every group

EARLIER = ("weight", "weight_squared", "slope", "slope_squared")  # sums over the samples before the last update, by `c`
OF_PHASE = ("new", "new_slope", "new_slope_squared")  # sums over the samples since then, in the unit of the loss
LOOKS = (*EARLIER, *OF_PHASE)

UNKNOWN = 1e3  # the standard error of a worth that was seen less than twice, relative to it


def no_looks(groups: int, device: torch.device | str = "cpu") -> Looks:
    """The sums before the first sample."""
    return {name: torch.zeros(groups, dtype=gate_dtype(device), device=device) for name in LOOKS}


@torch.no_grad()
def add_look(looks: Looks, switches: Switches, gates: Tensor, slopes: Tensor) -> None:
    """Add a sample, in place: the gates and the gradient of the mean loss with respect to them."""
    own = group_sums(-precise(gates) * precise(slopes), switches.group, len(switches.groups))
    looks["new"] += 1
    looks["new_slope"] += own
    looks["new_slope_squared"] += own.square()


@torch.no_grad()
def in_units(looks: Looks, is_alone: Tensor, curvature: Tensor) -> Looks:
    """The sums over all samples, with those since the last update in units of `c`.

    `is_alone` is a mask of zero switches and optional operations, and `curvature` that along the gates of every switch,
    in the unit of slopes. `c` is the root mean square of the new slopes of candidates and, for switches that are alone,
    half the mean of their curvatures. To the slopes of those, what closing costs by the curvature is added: with it,
    `1 + b / c` is the whole cost.
    """
    mean = looks["new_slope"] / _not_zero(looks["new"])
    typical = _positive(_mean(mean[~is_alone].square()).sqrt())
    c = torch.where(is_alone, _positive(_mean(curvature[is_alone]) / 2), typical)
    shift = torch.where(is_alone, curvature / 2 / c - 1, 0)
    new, slope, squared = looks["new"], looks["new_slope"] / c, looks["new_slope_squared"] / c.square()
    return {
        "weight": looks["weight"] + new,
        "weight_squared": looks["weight_squared"] + new,
        "slope": looks["slope"] + slope + shift * new,
        "slope_squared": looks["slope_squared"] + squared + 2 * shift * slope + shift.square() * new,
        **{name: torch.zeros_like(looks[name]) for name in OF_PHASE},
    }


def _mean(values: Tensor) -> Tensor:
    """The mean of values; zero if there are none."""
    return values.mean() if len(values) else values.new_zeros(())


def faded(looks: Looks, factor: float) -> Looks:
    """The sums with all samples so far weighted by a factor, so that later ones count more.

    >>> looks = {"weight": torch.tensor(4.0), "weight_squared": torch.tensor(4.0)}
    >>> faded(looks, 0.5)
    {'weight': tensor(2.), 'weight_squared': tensor(1.)}
    """
    return {name: values * (factor**2 if name == "weight_squared" else factor) for name, values in looks.items()}


@dataclass(frozen=True, slots=True, eq=False)
class Worth:
    """The best value of every switch's gate, relative to an equal contribution, and its standard error."""

    mean: Tensor
    error: Tensor

    def errors_below(self, bound: Tensor) -> Tensor:
        """By how many standard errors the best value is below a bound."""
        return (bound - self.mean) / self.error

    def errors_worse(self, some: Tensor, better: Tensor) -> Tensor:
        """By how many standard errors some switches are worse than another one; all are given by their numbers."""
        error = (self.error[some].square() + self.error[better].square()).sqrt()
        return (self.mean[better] - self.mean[some]) / error

    def at_most(self, probability: float) -> Tensor:
        """What every switch is worth at most, with this probability."""
        return self.mean + errors_of(probability) * self.error


def errors_of(probability: float) -> float:
    """The number of standard errors at which something is this probable.

    Numbers of standard errors have the order of probabilities, but do not all become 1.

    >>> round(errors_of(0.95), 4)
    1.6449
    """
    return NormalDist().inv_cdf(probability)


@torch.no_grad()
def worth(looks: Looks, is_alone: Tensor) -> Worth:
    """The worth of every switch, from sums in units of `c`."""
    weight = _not_zero(looks["weight"])
    mean = looks["slope"] / weight
    variance = (looks["slope_squared"] / weight - mean.square()).clamp(min=0)
    samples = looks["weight"].square() / _not_zero(looks["weight_squared"])
    best, error = 1 + mean, _not_zero((variance / samples.clamp(min=1)).sqrt())
    root = _root(best)
    error = torch.where(is_alone, _not_zero(_root(best + error) - root), error)
    best = torch.where(is_alone, root, best)
    return Worth(best, torch.where(samples < 1.5, UNKNOWN * best.abs().clamp(min=1), error))


def _root(values: Tensor) -> Tensor:
    """The square roots of numbers; those of negative numbers are negative."""
    return values.sign() * values.abs().sqrt()


def _not_zero(values: Tensor) -> Tensor:
    """Numbers that are not negative, to divide by."""
    return values.clamp(min=tiny(values.dtype))


def _positive(values: Tensor) -> Tensor:
    return torch.where(values > 0, values, 1)


@torch.no_grad()
def with_best_kept(w: Tensor, is_zero: Tensor, choice: Tensor, winners: Tensor | None = None) -> Tensor:
    """The worth of every switch, of which the best candidate of a choice has at least 1.

    Whether that one stays is up to the zero switch of the choice. `choice` has the number of every switch's choice.
    `winners` is a mask of candidates that stay in any case, because their choice has no zero switch.
    """
    is_best = _are_best(w, is_zero, choice)
    return torch.where(is_best if winners is None else is_best | winners, w.clamp(min=1), w)


@torch.no_grad()
def for_size(w: Tensor, is_zero: Tensor, choice: Tensor) -> Tensor:
    """The worth by which switches are ordered when some of them have to go.

    Closing the last candidate of a choice closes the choice, so the best one is worth at least as much as the zero
    switch, which says what the whole choice is worth.

    >>> w, is_zero = torch.tensor([-0.5, -0.9, 1.4]), torch.tensor([False, False, True])
    >>> for_size(w, is_zero, choice=torch.tensor([0, 0, 0]))
    tensor([ 1.4000, -0.9000,  1.4000])
    """
    zero = w.new_ones(len(w)).scatter_reduce(0, choice[is_zero], w[is_zero], "amax")[choice]
    return torch.where(_are_best(w, is_zero, choice), w.maximum(zero), w)


def _are_best(w: Tensor, is_zero: Tensor, choice: Tensor) -> Tensor:
    """A mask of the best candidates of choices with a zero switch."""
    count = int(choice.max()) + 1 if len(choice) else 0
    with_zero = torch.zeros(count, dtype=torch.bool, device=w.device).index_fill(0, choice[is_zero], True)
    candidates = w.masked_fill(is_zero, -torch.inf)
    most = candidates.new_full((count,), -torch.inf).scatter_reduce(0, choice, candidates, "amax")
    return (candidates == most[choice]) & with_zero[choice] & ~is_zero


@torch.no_grad()
def evidence(
    switches: Switches,
    w: Tensor,
    lambda_w: Tensor,
    dependency: Callable[[Structure, Tensor], Tensor] = one_hop,
) -> State:
    """The variance that explains the worth `w` of every switch best, given the switches it depends on."""
    s = (w.clamp(min=0).square() - lambda_w).clamp(min=0, max=LARGEST)
    structure, none = switches.structure, switches.group.new_zeros(0)
    gamma = structure.reduce(dependency(structure, structure.spread(s)))
    return State(gamma, omega_squared(gamma, lambda_w.reciprocal()).sqrt(), s, none, none, none)


def off_below(lambda_w: Tensor) -> Tensor:
    """The worth below which a switch is off by itself: there `s` has no entropy.

    >>> off_below(torch.tensor([0.0, 0.05]))
    tensor([0.2420, 0.3295])
    """
    return (lambda_w + THRESHOLD).sqrt()
