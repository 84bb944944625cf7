"""DARTS, first order: gates are the softmax over the candidates of a choice, trained on held-out samples.

H. Liu, K. Simonyan, Y. Yang: DARTS: Differentiable Architecture Search. ICLR 2019.

As in the paper, `none` takes part in the softmax and is ignored when the best candidate of a choice is selected. To
keep only two choices into each node, use `derive --keep-per-node 2`.
"""

from __future__ import annotations

from torch import Tensor

from bayesnas_graph.bayes import Decision
from bayesnas_graph.search.contests import Contests
from bayesnas_graph.search.learner import SearchLearner
from bayesnas_graph.search.relaxation import Noise, Relaxation
from bayesnas_graph.search.strategy import Part


class Darts(Relaxation):
    """All candidates at once, weighted by softmax."""

    gates_on = "held_out"

    def weights(self, contests: Contests, logits: Tensor, noise: Noise, temperature: float, part: Part) -> Tensor:
        return contests.softmax(logits)

    def rest(self, learner: SearchLearner, architecture: Decision) -> None:
        """Keep all candidates, as in training: the weights were not trained for one alone."""
        contests = learner.contests
        gates = contests.gates(contests.softmax(contests.entered(learner.beliefs["logits"])))
        learner.supernet.set_gates(gates[learner.switches.group].to(learner.supernet.gates.dtype))


STRATEGY = Darts()
