"""DSO-NAS: every operation has a scaling factor under an l1 penalty, and is removed when its factor is zero.

X. Zhang, Z. Huang, N. Wang: You Only Search Once: Single Shot Neural Architecture Search via Direct Sparse
Optimization. 2018.

Factors are trained together with the weights on the same samples, by accelerated proximal gradient steps with
Nesterov's momentum, which produce exact zeros. The factor is on the operation, not on the zero switch.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from bayesnas_graph.bayes import Why, soft_threshold
from bayesnas_graph.search.baseline import Baseline, Judgement
from bayesnas_graph.search.learner import SearchLearner
from bayesnas_graph.search.problem import Batch
from bayesnas_graph.search.strategy import Draw, Part, Rates

MOMENTUM = 0.9


class Dso(Baseline):
    """Scaling factors that the penalty shrinks to zero."""

    closes = True
    decides_early = True

    def start(self, learner: SearchLearner, batch: Batch) -> SearchLearner:
        ones = learner.units.new_ones(len(learner.switches.groups))
        return replace(learner, beliefs={"factors": ones, "velocity": torch.zeros_like(ones)})

    def draw(self, learner: SearchLearner, rates: Rates, part: Part) -> Draw:
        """Return the factors, one step of the momentum ahead."""
        ahead = learner.beliefs["factors"] + MOMENTUM * learner.beliefs["velocity"]
        ahead = ahead.requires_grad_()
        contests = learner.contests
        return Draw(ahead, contests.gates(contests.entered(ahead))[learner.switches.group])

    def move(self, learner: SearchLearner, slopes: Tensor, draw: Draw | None, rates: Rates) -> None:
        assert draw is not None, "gates are drawn in every step"
        (gradient,) = torch.autograd.grad(draw.gates, draw.numbers, slopes.to(draw.gates.dtype))
        before, ahead = learner.beliefs["factors"], draw.numbers.detach()
        intensity = torch.full_like(ahead, rates.gates * rates.intensities[0])
        after = soft_threshold(ahead - rates.gates * gradient, intensity)
        after = torch.where(learner.contests.is_none[: learner.contests.groups], 1.0, after)
        learner.beliefs["velocity"].copy_(after - before)
        before.copy_(after)

    def penalty(self, learner: SearchLearner, intensities: tuple[float, float]) -> float:
        none = learner.contests.is_none[: learner.contests.groups]
        return intensities[0] * float(learner.beliefs["factors"].abs().masked_fill(none, 0).sum())

    def judge(self, learner: SearchLearner, batches: Sequence[Batch], number: int) -> Judgement:
        factors, contests = learner.beliefs["factors"].abs(), learner.contests
        none = contests.is_none[: contests.groups]
        own = factors.masked_fill(none, 0)
        of_choice = own.new_zeros(contests.count).index_add(0, contests.contest[: contests.groups], own)
        strengths = torch.where(none, of_choice[contests.contest[: contests.groups]], own)
        return Judgement(strengths, [Why.KEPT if strength > 0 else Why.OWN for strength in strengths.tolist()])

    def reopened(self, learner: SearchLearner, groups: Collection[str]) -> None:
        """Reset their factors to one."""
        again = torch.tensor([name in groups for name in learner.switches.groups], device=learner.units.device)
        factors = learner.beliefs["factors"]
        factors.copy_(torch.where(again & (factors == 0), 1.0, factors))

    def rest(self, learner: SearchLearner, architecture: object) -> None:
        """Keep the factors."""
        gates = self.draw(learner, Rates(0.0, 0.0, (0.0, 0.0)), "weights").gates.detach()
        learner.supernet.set_gates(gates.to(learner.supernet.gates.dtype))

    def conclude(self, learner: SearchLearner) -> None:
        """Keep the factors: the weights were trained with them."""
        self.rest(learner, None)


STRATEGY = Dso()
