"""ProxylessNAS: binary gates; weights are trained on one path at a time, logits by comparing two.

H. Cai, L. Zhu, S. Han: ProxylessNAS: Direct Neural Architecture Search on Target Task and Hardware. ICLR 2019.

For a step of the logits, two candidates of every choice are drawn by their probabilities, and one of them is open. The
gradients of both gates move the two logits; the probabilities of all others stay the same. The closed one is computed
for its gradient, but nothing flows back through it. Logits are trained on
held-out samples, and `none` is a candidate like any other. This is the loss of the paper without latency.
"""

from __future__ import annotations

import torch
from torch import Tensor

from bayesnas_graph.search.contests import Contests
from bayesnas_graph.search.learner import SearchLearner
from bayesnas_graph.search.relaxation import Noise
from bayesnas_graph.search.sampling import Sample, Sampling
from bayesnas_graph.search.strategy import Part


class Proxyless(Sampling):
    """One path for the weights, two for the logits."""

    gates_on = "held_out"
    betas = (0.0, 0.999)
    decay = 0.0
    none_may_win = True

    def sample(self, contests: Contests, logits: Tensor, noise: Noise, temperature: float, part: Part) -> Sample:
        scores = logits.detach() + noise()
        first = contests.winners(scores)
        if part == "weights":
            return Sample(first.to(logits.dtype), learns=torch.zeros_like(first))
        second = contests.winners(scores.masked_fill(first, -torch.inf)) & ~first
        pair = first | second
        soft = contests.softmax(logits.masked_fill(~pair, -torch.inf))
        drawn = contests.winners(soft.detach().log() + noise())
        return Sample(torch.where(pair, drawn.to(logits.dtype) + (soft - soft.detach()), 0), learns=pair)

    @torch.no_grad()
    def learn(self, learner: SearchLearner, gradient: Tensor, rate: float) -> None:
        """Take a step of Adam, after which the two logits of a choice have the same total probability as before."""
        contests, logits = learner.contests_on_cpu, learner.beliefs["logits"]
        before = logits.clone()
        super().learn(learner, gradient, rate)
        moved = contests.entered(gradient) != 0
        sums = [_total(contests, moved, contests.entered(values)) for values in (before, logits)]
        both = _total(contests, moved, torch.zeros_like(contests.entered(logits))) >= 2
        shift = torch.where(both, (sums[0] / sums[1]).log(), 0).nan_to_num(0)
        logits.add_(torch.where(moved, shift[contests.contest], 0)[: contests.groups])


def _total(contests: Contests, moved: Tensor, logits: Tensor) -> Tensor:
    """Return the sum over each contest of the exponentials of the logits that were moved."""
    powers = torch.where(moved, logits.exp(), 0)
    return powers.new_zeros(contests.count).index_add(0, contests.contest, powers)


STRATEGY = Proxyless()
