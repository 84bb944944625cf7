"""Random search with weight sharing: weights are trained on random architectures, and the best of a sample wins.

L. Li, A. Talwalkar: Random Search and Reproducibility for Neural Architecture Search. UAI 2019.

At an update, `samples` architectures are drawn and compared on the same held-out samples, with shared weights. `none`
may be drawn like any candidate; disconnected architectures are drawn again. Where a draw breaks a requirement of the
space, other switches are opened or closed at random until it holds.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from bayesnas_graph.bayes import Verdict
from bayesnas_graph.passes import Disconnected, Misfit, prune
from bayesnas_graph.passes.analysis import Rules, limits, obey
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.seeds import generator
from bayesnas_graph.runtime.precision import precise, sent
from bayesnas_graph.search.baseline import Baseline, Judgement, best_of_choices
from bayesnas_graph.search.contests import Contests, gumbel
from bayesnas_graph.search.learner import SearchLearner
from bayesnas_graph.search.measure import metric
from bayesnas_graph.search.problem import Batch
from bayesnas_graph.search.sampling import opened
from bayesnas_graph.search.strategy import Draw, Part, Rates

MOST_TRIES = 100  # to draw a connected architecture


class Random(Baseline):
    """Random architectures; nothing is learnt about switches."""

    def draw(self, learner: SearchLearner, rates: Rates, part: Part) -> Draw:
        contests = learner.contests_on_cpu
        numbers = generator(contests.contest.device, learner.config.seed, "draw", rates.step)
        of_groups = contests.gates(precise(_drawn(learner, contests, numbers)))
        gates = of_groups[learner.group_on_cpu]
        return Draw(of_groups, gates, opened(learner, gates))

    def move(self, learner: SearchLearner, slopes: Tensor, draw: Draw | None, rates: Rates) -> None:
        """Learn nothing."""

    def odds(self, config: SearchConfig, verdict: Verdict) -> float:
        return 0.0

    def judge(self, learner: SearchLearner, batches: Sequence[Batch], number: int) -> Judgement:
        """Return strengths: the mean metric of the architectures with a switch, plus 1 if the best one has it."""
        contests = learner.contests_on_cpu
        numbers = generator(contests.contest.device, learner.config.seed, "samples", number)
        best, most = None, -1.0
        right, times = (learner.units.new_zeros(contests.groups) for _ in "ab")
        for _ in range(learner.config.samples):
            winners = _sound(learner, contests, numbers)
            gates = contests.gates(precise(winners))[learner.group_on_cpu]
            learner.supernet.set_gates(sent(gates.to(learner.supernet.gates.dtype), learner.units.device))
            with learner.computing(opened(learner, gates)):
                found = max(0.0, metric(learner, batches))  # R2 can be below 0, which is as good as nothing
            stays = learner.units.new_tensor(_stays(contests, winners))
            right, times = right + found * stays, times + stays
            if found > most:
                best, most = winners, found
        assert best is not None, "there is at least one sample"
        strengths = right / times.clamp(min=1) + learner.units.new_tensor(_stays(contests, best))
        return Judgement(strengths, best_of_choices(contests, best))


def _drawn(learner: SearchLearner, contests: Contests, numbers: torch.Generator) -> Tensor:
    """Draw one entrant of every contest, then change what breaks a requirement of the space."""
    noise = gumbel(contests, numbers)
    winners = contests.winners(noise)
    if not learner.graph.constraints:
        return winners
    scores = dict(zip(learner.switches.groups, noise.tolist(), strict=False))  # the rest are `none`
    found = obey(Rules(learner.graph), limits(learner.graph), _closed(learner, contests, winners), scores)
    return winners if found is None else contests.winners_among(learner.switches.groups, found)


def _sound(learner: SearchLearner, contests: Contests, numbers: torch.Generator) -> Tensor:
    """Draw a connected architecture; without `none` if that is too rare."""
    rules = Rules(learner.graph)
    for _ in range(MOST_TRIES):
        winners = _drawn(learner, contests, numbers)
        closed = _closed(learner, contests, winners)
        try:
            prune(learner.graph, closed)
        except (Disconnected, Misfit):
            continue
        if not rules.violated(closed):
            return winners
    return contests.best_candidates(gumbel(contests, numbers))


def _closed(learner: SearchLearner, contests: Contests, winners: Tensor) -> frozenset[str]:
    """Return the switches that are off in the architecture of these winners."""
    kept = zip(learner.switches.groups, _stays(contests, winners), strict=True)
    return frozenset(group for group, stays in kept if not stays)


def _stays(contests: Contests, winners: Tensor) -> list[float]:
    """Return 1 for every group in the architecture of these winners, and 0 for the others."""
    return [float(why.keep) for why in best_of_choices(contests, winners)]


STRATEGY = Random()
