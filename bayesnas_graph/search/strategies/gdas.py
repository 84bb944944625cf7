"""GDAS: one candidate is drawn for every choice, and its gate has the gradient of a Gumbel softmax.

X. Dong, Y. Yang: Searching for a Robust Neural Architecture in Four GPU Hours. CVPR 2019.

Logits are trained on held-out samples. Only the drawn candidate has a gradient, which reaches all logits of its choice.
As in DARTS, `none` is ignored when the best candidate of a choice is selected.
"""

from __future__ import annotations

import torch
from torch import Tensor

from bayesnas_graph.search.contests import Contests
from bayesnas_graph.search.relaxation import Noise
from bayesnas_graph.search.sampling import Sample, Sampling
from bayesnas_graph.search.strategy import Part


class Gdas(Sampling):
    """One candidate at a time."""

    gates_on = "held_out"
    temperatures = (10.0, 0.1)

    def sample(self, contests: Contests, logits: Tensor, noise: Noise, temperature: float, part: Part) -> Sample:
        soft = contests.softmax((logits + noise()) / temperature)
        drawn = contests.winners(soft.detach())
        return Sample(torch.where(drawn, 1 + (soft - soft.detach()), 0), learns=drawn)


STRATEGY = Gdas()
