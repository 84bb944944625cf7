"""DARTS, first order: gates are the softmax over the candidates of a choice, trained on held-out samples.

H. Liu, K. Simonyan, Y. Yang: DARTS: Differentiable Architecture Search. ICLR 2019.

`none` takes part in the softmax and is left out when the best candidate of a choice is taken, as in the paper. That
only two choices into each node are kept is a matter of `derive --keep-per-node 2`.
"""

from __future__ import annotations

from torch import Tensor

from bayesnas_graph.bayes import Decision
from bayesnas_graph.search.contests import Contests
from bayesnas_graph.search.learner import SearchLearner
from bayesnas_graph.search.relaxation import Noise, Relaxation
from bayesnas_graph.search.strategy import Part


class Darts(Relaxation):
    """All candidates at once, each by its part of a softmax."""

    gates_on = "held_out"

    def weights(self, contests: Contests, logits: Tensor, noise: Noise, temperature: float, part: Part) -> Tensor:
        return contests.softmax(logits)

    def rest(self, learner: SearchLearner, architecture: Decision) -> None:
        """Leave all candidates in, as in training: one alone is not what the weights were trained for."""
        contests = learner.contests
        gates = contests.gates(contests.softmax(contests.entered(learner.beliefs["logits"])))
        learner.supernet.set_gates(gates[learner.switches.group].to(learner.supernet.gates.dtype))


STRATEGY = Darts()
