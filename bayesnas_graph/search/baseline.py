"""The base of strategies that learn one number per switch, shared by all uses of its cell."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from bayesnas_graph import bayes
from bayesnas_graph.bayes import Decision, State, Why
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes import prune
from bayesnas_graph.passes.analysis import cost, cost_by_switch
from bayesnas_graph.runtime.precision import precise
from bayesnas_graph.search.contests import Contests
from bayesnas_graph.search.iteration import Iteration, complete
from bayesnas_graph.search.learner import SearchLearner, without
from bayesnas_graph.search.problem import Batch, Problem
from bayesnas_graph.search.progress import SearchProgress
from bayesnas_graph.search.strategy import Strategy

WORTHLESS = 1e-9  # the lowest score that is divided by a cost: of those that are not positive, the largest go first


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """A strategy's view of the open switches."""

    strengths: Tensor  # of every group, not negative; more is better
    reasons: Sequence[Why]  # why each would be kept or closed if the search ended here


class Baseline(Strategy):
    """A strategy that judges switches by a strength of its own.

    Tables, decisions and rankings contain this strength where the Bayesian strategy has gamma.
    """

    @abstractmethod
    def judge(self, learner: SearchLearner, batches: Sequence[Batch], number: int) -> Judgement:
        """Judge the switches after an iteration, on held-out batches."""

    def reopened(self, learner: SearchLearner, groups: Collection[str]) -> None:
        """Reopen switches that were at zero, because an output depends on them."""

    def rest(self, learner: SearchLearner, architecture: Decision) -> None:
        """Set the gates for measuring accuracy: by default, to the architecture that would be derived."""
        kept = [float(group not in architecture.off) for group in learner.switches.groups]
        gates = learner.supernet.gates
        learner.supernet.set_gates(gates.new_tensor(kept)[learner.switches.group])

    def iterate(
        self, problem: Problem, learner: SearchLearner, progress: SearchProgress, batches: Iterable[Batch]
    ) -> tuple[SearchLearner, SearchProgress, Iteration]:
        number, graph = progress.iteration + 1, learner.graph
        judgement = self.judge(learner, list(batches), number)
        scores = dict(zip(learner.switches.groups, judgement.strengths.tolist(), strict=True))
        raw = decision_of(learner, judgement)
        sound = bayes.close_dead_ends(graph, bayes.reconnect(graph, raw, scores))
        chosen = bayes.enforce_limits(graph, sound, scores)
        sound = bayes.with_kept(sound, chosen)
        if problem.has_target and not self.closes:
            chosen = fitting(graph, chosen, scores, problem.on_target)
        elif problem.has_target and problem.on_target(prune(graph, chosen.off)):
            chosen = sound = bayes.grow_to_fit(graph, chosen, scores, problem.on_target)
        architecture = complete(problem, progress, chosen)
        bridges = tuple(verdict.name for verdict in sound.verdicts if verdict.why.is_reopened)
        still_open = sound if self.closes else raw.changed(learner.switches.groups, Why.KEPT)
        progress = replace(progress, iteration=number, architecture=architecture).with_closed(still_open)
        self.reopened(learner, bridges)
        left = without(learner, still_open.off) if still_open.off else learner
        self.rest(left, chosen)
        smaller = prune(graph, chosen.off)
        intensities = learner.config.grown(progress.growth)
        iteration = Iteration(
            number, still_open, architecture, smaller, cost(smaller), bridges, intensities, shrink=None
        )
        return left, progress, iteration


def fitting(graph: Graph, chosen: Decision, scores: Mapping[str, float], fits: Callable[[Graph], bool]) -> Decision:
    """Change a decision so that the architecture has the requested size, if possible.

    If removing the weakest switches is not enough, start again and remove those that are weak for their cost.
    """
    if fits(prune(graph, chosen.off)):
        return chosen
    smaller = bayes.shrink_to_fit(graph, chosen, scores, fits)
    if not fits(prune(graph, smaller.off)):
        costs = cost_by_switch(graph)
        prices = {name: 1 + costs[name].parameters + costs[name].flops for name in scores}
        for_cost = {name: max(WORTHLESS, score) / prices[name] for name, score in scores.items()}
        every = chosen.changed(scores, Why.KEPT)
        smaller = bayes.enforce_limits(graph, bayes.shrink_to_fit(graph, every, for_cost, fits), scores)
    return bayes.grow_to_fit(graph, smaller, scores, fits)


def decision_of(learner: SearchLearner, judgement: Judgement) -> Decision:
    """Return a judgement as a decision about every open switch."""
    none = torch.zeros(0, dtype=torch.long)
    zeros = torch.zeros_like(judgement.strengths)
    state = State(judgement.strengths, zeros, judgement.strengths, none, none, none)
    gates = precise(learner.supernet.gates)
    found = bayes.verdicts(learner.switches, state, torch.zeros_like(gates), gates, judgement.reasons)
    ranked = (replace(v, relevance=v.gamma, removal=v.gamma, magnitude=v.gamma) for v in found)
    return Decision(tuple(replace(v, entropy=None) for v in ranked))


def best_of_choices(contests: Contests, winners: Tensor) -> list[Why]:
    """Return the reasons of all groups, given the winner of each choice: a candidate, or `none`."""
    won, contest_of, nones = winners.tolist(), contests.contest.tolist(), contests.is_none.tolist()
    none_won = [False] * contests.count
    for contest, is_none, wins in zip(contest_of, nones, won, strict=True):
        none_won[contest] = none_won[contest] or (is_none and wins)

    def why(group: int) -> Why:
        contest = contest_of[group]
        if nones[group]:
            return Why.OWN if none_won[contest] else Why.BEST
        if won[group]:
            return Why.BEST
        return Why.ZERO if none_won[contest] else Why.LIMIT

    return [why(group) for group in range(contests.groups)]
