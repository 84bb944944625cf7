"""The shrink budget: how far the penalty can still move the gates before a search ends."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, inf, log10

import torch
from torch import Tensor

from bayesnas_graph import bayes
from bayesnas_graph.bayes.groups import group_norms
from bayesnas_graph.diagnostics import Diagnostic
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runtime.precision import precise
from bayesnas_graph.search.learner import SearchLearner
from bayesnas_graph.search.problem import Problem
from bayesnas_graph.search.progress import SearchProgress

LARGEST_GROWTH = 1e6  # of lambda, on the way to a target


@dataclass(frozen=True, slots=True)
class Shrink:
    """A summary of the shrink budgets of open switches. With a budget of 1, gates can just reach zero."""

    smallest: float
    largest: float
    able: int  # switches that can be closed
    open: int

    @staticmethod
    def of(budgets: Tensor) -> Shrink:
        """Summarise the budgets of all open switches."""
        if not len(budgets):
            return Shrink(inf, inf, 0, 0)
        return Shrink(float(budgets.min()), float(budgets.max()), int(bayes.can_close(budgets).sum()), len(budgets))


@torch.no_grad()
def shrink(problem: Problem, learner: SearchLearner, progress: SearchProgress) -> Tensor:
    """Return how far the penalty can move the gates of each open switch in the remaining steps, where 1 reaches zero.

    The current weights `omega` of the penalty are used, although updates change them. Distances are measured from the
    current gates, or from 1 until their units have been measured.
    """
    switches, omega = learner.switches, learner.prior.omega
    rates = torch.tensor(rates_left(problem, progress), dtype=omega.dtype, device=omega.device)
    from_one = bayes.shrink_budget(switches, rates, omega, learner.lambda_w(problem.config.intensities))
    if not progress.measured:
        return from_one
    size = group_norms(precise(learner.supernet.gates) * learner.units, switches.group, len(switches.groups))
    return torch.where(size > 0, from_one * switches.members.sqrt() / size, inf)


def rates_left(problem: Problem, progress: SearchProgress) -> list[float]:
    """Return the learning rate of the gates in each remaining iteration, times its steps and the growth of lambda.

    With a target, lambda grows after every iteration.
    """
    config, growth, found = problem.config, 1.0, []
    for iteration in range(0 if progress.ended else config.iterations):
        if iteration >= progress.iteration:
            end = problem.warmup + (iteration + 1) * problem.steps
            steps = max(0, min(problem.steps, end - progress.step))
            found.append(steps * config.gate_rate * progress.slowdown * growth)
        growth = min(growth * config.lambda_growth, LARGEST_GROWTH) if problem.has_target else 1.0
    return found


def too_weak(problem: Problem, learner: SearchLearner, budgets: Tensor) -> Diagnostic | None:
    """Return a warning if some switches cannot be closed with any data, and suggest settings that would suffice."""
    found = Shrink.of(budgets)
    if found.able == found.open:
        return None
    if found.able:
        message = (
            f"the penalty cannot close {found.open - found.able:,} of {found.open:,} switches: "
            f"it moves some gates at most {found.smallest:.2g} of the way to zero"
        )
    else:
        message = f"the penalty moves gates at most {found.largest:.2g} of the way to zero, and cannot close any switch"
    steps = ceil(rounded_up(problem.steps / found.smallest))
    help = f"{_enough(problem.config, learner, budgets)}, or `--steps {steps}`, would suffice for all of them"
    return Diagnostic("NAS607", message, help=help, severity="warning")


def _enough(config: SearchConfig, learner: SearchLearner, budgets: Tensor) -> str:
    """Return options with intensities that would suffice, separately for zero switches if they have their own."""
    if config.lambda_zero is None:
        return f"`--lambda {rounded_up(config.lambda_w / float(budgets.min())):g}`"
    is_zero = learner.switches.is_zero
    kinds = (("--lambda", config.lambda_w, budgets[~is_zero]), ("--lambda-zero", config.lambda_zero, budgets[is_zero]))
    short = [(option, now / float(own.min())) for option, now, own in kinds if not bool(bayes.can_close(own).all())]
    return " and ".join(f"`{option} {rounded_up(wanted):g}`" for option, wanted in short)


def rounded_up(number: float) -> float:
    """Round up to two digits.

    >>> rounded_up(0.0623), rounded_up(218.2), rounded_up(50)
    (0.063, 220.0, 50.0)
    """
    digit = floor(log10(number)) - 1
    scale = 10.0 ** abs(digit)
    return ceil(number * scale - 1e-9) / scale if digit < 0 else ceil(number / scale - 1e-9) * scale
