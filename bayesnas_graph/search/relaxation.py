"""The base of strategies that learn a logit for every candidate, and compute gates by softmax."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

import torch
from torch import Tensor

from bayesnas_graph.runs.seeds import generator
from bayesnas_graph.runtime.precision import moved
from bayesnas_graph.search.baseline import Baseline, Judgement, best_of_choices
from bayesnas_graph.search.contests import Contests, gumbel
from bayesnas_graph.search.learner import SearchLearner
from bayesnas_graph.search.problem import Batch
from bayesnas_graph.search.strategy import Draw, Part, Rates

NOISE = 1e-3  # of logits at the start, as in the code of DARTS
EPSILON = 1e-8

Noise = Callable[[], Tensor]


class Relaxation(Baseline):
    """Gates are a function of logits, which follow the gradient of the loss by Adam."""

    betas: ClassVar[tuple[float, float]] = (0.5, 0.999)
    decay: ClassVar[float] = 1e-3  # of logits
    temperatures: ClassVar[tuple[float, float]] = (1.0, 1.0)  # at the start and at the end
    on_cpu: ClassVar[bool] = False  # whether logits are on the CPU, whatever the device
    none_may_win: ClassVar[bool] = False  # whether a choice may be left without a candidate

    @abstractmethod
    def weights(self, contests: Contests, logits: Tensor, noise: Noise, temperature: float, part: Part) -> Tensor:
        """Return the weight of every entrant in a step. Each call of `noise` draws new Gumbel noise."""

    def start(self, learner: SearchLearner, batch: Batch) -> SearchLearner:
        count = len(learner.switches.groups)
        numbers = generator(torch.device("cpu"), learner.config.seed, "logits")
        drawn = torch.randn(count, generator=numbers, dtype=torch.float64)
        logits = moved(NOISE * drawn, "cpu" if self.on_cpu else learner.units.device)
        zeros = {name: torch.zeros_like(logits) for name in ("mean", "square", "steps")}
        return replace(learner, beliefs={"logits": logits, **zeros})

    def contests(self, learner: SearchLearner) -> Contests:
        """Return the contests on the device of the logits."""
        return learner.contests_on_cpu if self.on_cpu else learner.contests

    def draw(self, learner: SearchLearner, rates: Rates, part: Part) -> Draw:
        logits = learner.beliefs["logits"].clone().requires_grad_()
        weights = self.weights(*self.drawn_from(learner, logits, rates, part), part)
        return Draw(logits, self.contests(learner).gates(weights)[learner.switches.group])

    def drawn_from(
        self, learner: SearchLearner, logits: Tensor, rates: Rates, part: Part
    ) -> tuple[Contests, Tensor, Noise, float]:
        """Return what a step draws from: contests, the logits of all entrants, noise, and the temperature."""
        contests = self.contests(learner)
        numbers = generator(contests.contest.device, learner.config.seed, "draw", part, rates.step)  # in all processes
        first, last = self.temperatures
        temperature = first + (last - first) * rates.passed
        return contests, contests.entered(logits), partial(gumbel, contests, numbers), temperature

    def move(self, learner: SearchLearner, slopes: Tensor, draw: Draw | None, rates: Rates) -> None:
        assert draw is not None, "gates are drawn in every step"
        slopes = slopes.to(draw.gates.device).to(draw.gates.dtype)
        (gradient,) = torch.autograd.grad(draw.gates, draw.numbers, slopes)
        self.learn(learner, gradient, learner.config.logit_rate * rates.slowdown)

    @torch.no_grad()
    def learn(self, learner: SearchLearner, gradient: Tensor, rate: float) -> None:
        """Take a step of Adam."""
        beliefs, (keep_mean, keep_square) = learner.beliefs, self.betas
        gradient = gradient + self.decay * beliefs["logits"]
        steps = beliefs["steps"].add_(1)
        mean = beliefs["mean"].mul_(keep_mean).add_(gradient, alpha=1 - keep_mean)
        square = beliefs["square"].mul_(keep_square).add_(gradient.square(), alpha=1 - keep_square)
        unbiased, spread = mean / (1 - keep_mean**steps), (square / (1 - keep_square**steps)).sqrt()
        beliefs["logits"].sub_(rate * unbiased / (spread + EPSILON))

    def judge(self, learner: SearchLearner, batches: Sequence[Batch], number: int) -> Judgement:
        contests = self.contests(learner)
        parts = contests.softmax(contests.entered(learner.beliefs["logits"]))
        winners = contests.winners(parts) if self.none_may_win else contests.best_candidates(parts)
        strengths = torch.where(contests.is_none, 1 - parts, parts)[: contests.groups]
        return Judgement(moved(strengths, learner.units.device), best_of_choices(contests, winners))
