"""SNAS: gates are a sample of a relaxed one-hot variable, trained together with the weights on the same samples.

S. Xie, H. Zheng, C. Liu, L. Lin: SNAS: Stochastic Neural Architecture Search. ICLR 2019.

The samples come from a Gumbel softmax whose temperature falls, so that they approach a single candidate. `none` is a
candidate like any other. This is the loss of the paper without a resource constraint.
"""

from __future__ import annotations

from torch import Tensor

from bayesnas_graph.search.contests import Contests
from bayesnas_graph.search.relaxation import Noise, Relaxation
from bayesnas_graph.search.strategy import Part


class Snas(Relaxation):
    """All candidates at once, mixed at random."""

    temperatures = (1.0, 0.1)
    none_may_win = True

    def weights(self, contests: Contests, logits: Tensor, noise: Noise, temperature: float, part: Part) -> Tensor:
        return contests.softmax((logits + noise()) / temperature)


STRATEGY = Snas()
