"""Magnitude pruning of gates: they are trained like weights, without a penalty, and the largest one is kept.

This is the simplest baseline: the Bayesian strategy without its prior. All gates start at 1 and follow the gradient on
the training samples, with the weight decay of the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from bayesnas_graph.bayes import Decision
from bayesnas_graph.search.baseline import Baseline, Judgement, best_of_choices
from bayesnas_graph.search.learner import SearchLearner
from bayesnas_graph.search.problem import Batch
from bayesnas_graph.search.strategy import Draw, Part, Rates


class Magnitude(Baseline):
    """The largest gate of a choice."""

    def start(self, learner: SearchLearner, batch: Batch) -> SearchLearner:
        ones = learner.units.new_ones(len(learner.switches.groups))
        return replace(learner, beliefs={"gates": ones})

    def draw(self, learner: SearchLearner, rates: Rates, part: Part) -> Draw:
        shared = learner.beliefs["gates"].clone().requires_grad_()
        return Draw(shared, shared[learner.switches.group])

    def move(self, learner: SearchLearner, slopes: Tensor, draw: Draw | None, rates: Rates) -> None:
        assert draw is not None, "gates are drawn in every step"
        (gradient,) = torch.autograd.grad(draw.gates, draw.numbers, slopes.to(draw.gates.dtype))
        gates = learner.beliefs["gates"]
        gates.sub_(rates.gates * (gradient + learner.config.weight_decay * gates))

    def judge(self, learner: SearchLearner, batches: Sequence[Batch], number: int) -> Judgement:
        strengths, contests = learner.beliefs["gates"].abs(), learner.contests
        winners = contests.best_candidates(contests.entered(strengths))
        return Judgement(strengths, best_of_choices(contests, winners))

    def rest(self, learner: SearchLearner, architecture: Decision) -> None:
        """Keep all candidates, as in training."""
        gates = learner.beliefs["gates"][learner.switches.group]
        learner.supernet.set_gates(gates.to(learner.supernet.gates.dtype))


STRATEGY = Magnitude()
