"""The base of strategies that learn logits and draw from them: in each step, only what was drawn is computed.

What to compute must be known before the device starts to compute it, so logits are on the CPU, and gates are copied to
the device. Logits follow the slopes of the gates, which are read back in every step: it waits once for the device.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor

from bayesnas_graph.codegen.supernet import Opened
from bayesnas_graph.search.contests import Contests
from bayesnas_graph.search.learner import SearchLearner
from bayesnas_graph.search.relaxation import Noise, Relaxation
from bayesnas_graph.search.strategy import Draw, Part, Rates


class Sample(NamedTuple):
    """The weights of all entrants, exactly 0 or 1 but with a gradient, and which of them depend on the logits."""

    weights: Tensor
    learns: Tensor


class Sampling(Relaxation):
    """Gates are drawn; they are 0 or 1."""

    on_cpu: ClassVar[bool] = True

    @abstractmethod
    def sample(self, contests: Contests, logits: Tensor, noise: Noise, temperature: float, part: Part) -> Sample:
        """Return what is drawn in a step. Each call of `noise` draws new Gumbel noise."""

    def weights(self, contests: Contests, logits: Tensor, noise: Noise, temperature: float, part: Part) -> Tensor:
        return self.sample(contests, logits, noise, temperature, part).weights

    def draw(self, learner: SearchLearner, rates: Rates, part: Part) -> Draw:
        logits = learner.beliefs["logits"].clone().requires_grad_()
        sample = self.sample(*self.drawn_from(learner, logits, rates, part), part)
        return drawn(learner, logits, sample, part)


def drawn(learner: SearchLearner, numbers: Tensor, sample: Sample, part: Part) -> Draw:
    """Return the gates of all entrants that were drawn, on the CPU, and what has to be computed."""
    contests, group = learner.contests_on_cpu, learner.group_on_cpu
    gates = contests.gates(sample.weights)[group]
    return Draw(numbers, gates, opened(learner, gates, sample.learns if part == "gates" else None))


def opened(learner: SearchLearner, gates: Tensor, learns: Tensor | None = None) -> Opened:
    """Return what has to be computed, given all gates and the entrants that learn, on the CPU."""
    contests, group = learner.contests_on_cpu, learner.group_on_cpu
    is_open = gates.detach() != 0
    wanted = torch.zeros_like(is_open) if learns is None else (learns & ~contests.is_none)[: contests.groups][group]
    return Opened(tuple(is_open.tolist()), tuple(wanted.tolist()))
