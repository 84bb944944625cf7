"""The Bayesian strategy: looks at all switches from one standard point, and closes those it is sure about.

The prior and the rule of entropy are those of H. Zhou, M. Yang, J. Wang, W. Pan: BayesNAS: A Bayesian Approach for
Neural Architecture Search. ICML 2019. There, gates are trained. But a gate that grows takes the gradient of the
others, weights adapt to it, and the search measures how it began. Here gates stay where all candidates contribute
equally, and the gradients that would have moved them are averaged over many steps: see `bayes/worth.py`. Between two
phases of training, the clearest decisions are carried out, a few at a time; the others wait until more is known. The
strategy `bayesnas` follows the paper.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

import torch
from torch import Tensor

from bayesnas_graph import bayes
from bayesnas_graph.bayes import Decision, Verdict, Why, Worth
from bayesnas_graph.bayes.groups import group_sums
from bayesnas_graph.passes import prune
from bayesnas_graph.passes.analysis import choices, cost, limits
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runtime.precision import precise
from bayesnas_graph.search.baseline import fitting
from bayesnas_graph.search.iteration import Iteration, complete
from bayesnas_graph.search.learner import SearchLearner, without
from bayesnas_graph.search.measure import measure
from bayesnas_graph.search.problem import Batch, Problem
from bayesnas_graph.search.progress import SearchProgress
from bayesnas_graph.search.start import set_standard_point, start_at_standard_point
from bayesnas_graph.search.strategy import Draw, Rates, Strategy

SURE = 0.95  # the probability at which a switch is closed
SHARE = 16  # at most one in sixteen candidates is closed at an update, so that the others can recover
MEMORY = 0.75  # the weight of earlier looks after an update
CONTEXT = 0.5  # how much the worth of a switch depends on what else is open: the scale of the odds of finalists


class Bayes(Strategy):
    """A hierarchical prior on gates that stay at a standard point."""

    closes = True
    jumps = True
    beliefs = frozenset(bayes.LOOKS)

    def start(self, learner: SearchLearner, batch: Batch) -> SearchLearner:
        if learner.config.unit != "gate":
            start_at_standard_point(learner, batch)
        return replace(learner, beliefs=bayes.no_looks(len(learner.switches.groups), learner.units.device))

    def move(self, learner: SearchLearner, slopes: Tensor, draw: Draw | None, rates: Rates) -> None:
        bayes.add_look(learner.beliefs, learner.switches, learner.supernet.gates, slopes)

    def iterate(
        self, problem: Problem, learner: SearchLearner, progress: SearchProgress, batches: Iterable[Batch]
    ) -> tuple[SearchLearner, SearchProgress, Iteration]:
        number, config, whole, switches = progress.iteration + 1, learner.config, learner.graph, learner.switches
        measured = measure(learner, batches, number)
        gates = precise(learner.supernet.gates)
        curvature = group_sums(gates.square() * measured.h, switches.group, len(switches.groups))
        is_alone = switches.is_zero | learner.contests.is_optional
        looks = bayes.in_units(learner.beliefs, is_alone, curvature)
        worth = bayes.worth(looks, is_alone)
        lambda_w = learner.lambda_w(config.intensities)
        choice = learner.contests.contest[: len(switches.groups)]
        highest = worth.at_most(SURE)
        most = bayes.with_best_kept(highest, switches.is_zero, choice, learner.contests.must_win(highest))
        prior = bayes.evidence(switches, most, lambda_w, bayes.DEPENDENCIES[config.dependency])
        ordered = bayes.for_size(worth.mean, switches.is_zero, choice)
        scores = dict(zip(switches.groups, ordered.tolist(), strict=True))
        behind = _behind(learner, worth, lambda_w)
        raw = bayes.decide(whole, switches, prior, measured.h, gates).judged(worth, behind)
        sound = bayes.close_dead_ends(whole, bayes.reconnect(whole, raw, scores))
        chosen = bayes.enforce_limits(whole, sound, scores)
        if number == config.iterations:  # the search does not end before
            chosen = fitting(whole, chosen, scores, problem.fits)
        closing = clearest(learner, worth, lambda_w, chosen.off)
        open_still = chosen.changed(set(switches.groups) - set(closing), Why.KEPT)
        open_still = bayes.close_dead_ends(whole, bayes.reconnect(whole, open_still, scores))
        graph, architecture = prune(whole, chosen.off), complete(problem, progress, chosen)
        progress = replace(progress, iteration=number, architecture=architecture).with_closed(open_still)
        iteration = Iteration(
            number=number,
            decision=open_still,
            architecture=architecture,
            graph=graph,
            cost=cost(graph),
            reopened=tuple(verdict.name for verdict in sound.verdicts if verdict.why.is_reopened),
            intensities=config.intensities,
            shrink=None,
        )
        faded = replace(learner, beliefs=bayes.faded(looks, MEMORY), units=measured.units)
        return _look_again(faded, open_still), progress, iteration

    def odds(self, config: SearchConfig, verdict: Verdict) -> float:
        return -verdict.behind / CONTEXT

    def conclude(self, learner: SearchLearner) -> None:
        """Set the gates to the standard point of what is left."""
        _stand(learner)


def clearest(learner: SearchLearner, worth: Worth, lambda_w: Tensor, off: Collection[str]) -> list[str]:
    """Return the switches that are surely off, those furthest behind first, but not too many at once.

    A candidate of a choice that keeps a limited number only has to be worse than those that would stay. Whether any of
    them stays is up to the zero switch.
    """
    switches, bound = learner.switches, bayes.off_below(lambda_w)
    gaps, errors = bound - worth.mean, worth.errors_below(bound)
    number = {name: i for i, name in enumerate(switches.groups)}
    found = [(torch.tensor([number[name] for name in limit.groups]), limit) for limit in limits(learner.graph)]
    for candidates, _ in found:
        gaps[candidates] = errors[candidates] = torch.inf
    for candidates, limit in found:  # a candidate must be behind in all uses of its choice
        ranked = candidates[worth.mean[candidates].argsort(descending=True, stable=True)]
        stay, go = ranked[: limit.most], ranked[limit.most :]
        errors[stay] = -torch.inf
        errors[go] = errors[go].minimum(worth.errors_worse(go, stay[-1]))
        gaps[go] = gaps[go].minimum(worth.mean[stay[-1]] - worth.mean[go])
    sure = (errors >= bayes.errors_of(SURE)).tolist()
    behind = {name: gap for name, gap, is_sure in zip(switches.groups, gaps.tolist(), sure, strict=True) if is_sure}
    most = max(1, int((~switches.is_zero).sum()) // SHARE)
    return sorted(behind.keys() & off, key=lambda name: (-behind[name], name))[:most]


def _behind(learner: SearchLearner, worth: Worth, lambda_w: Tensor) -> Tensor:
    """Return how much less every switch is worth than what it has to be better than to stay.

    That is the best candidate of its choice if the choice keeps a limited number, and otherwise the worth at which the
    switch would be off.
    """
    contests, switches = learner.contests, learner.switches
    choice = contests.contest[: contests.groups]
    candidates = worth.mean.masked_fill(switches.is_zero, -torch.inf)
    best = candidates.new_full((contests.count,), -torch.inf).scatter_reduce(0, choice, candidates, "amax")[choice]
    limited = {name for one in choices(learner.graph) if one.most is not None for name in one.candidates}
    is_limited = torch.tensor([name in limited for name in switches.groups], device=switches.group.device)
    bound = torch.where(is_limited, best, bayes.off_below(lambda_w))
    return torch.where(switches.is_zero, 0, bound - worth.mean)


def _look_again(learner: SearchLearner, decision: Decision) -> SearchLearner:
    """Return the learner without closed switches, at its standard point."""
    left = without(learner, decision.off) if decision.off else learner
    _stand(left)
    return left


def _stand(learner: SearchLearner) -> None:
    """Set the gates to the standard point, with inputs as large as at the last update."""
    if learner.config.unit != "gate":
        set_standard_point(learner, learner.units)


STRATEGY = Bayes()
