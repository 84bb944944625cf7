"""BayesNAS: a prior on every gate, by which switches are closed that the data do not call for.

H. Zhou, M. Yang, J. Wang, W. Pan: BayesNAS: A Bayesian Approach for Neural Architecture Search. ICML 2019.

Gates take a gradient step, the penalty's share of it, and go back into their gauge. Between two phases of training
curvatures are measured, the prior is updated, and switches whose entropy is not positive are closed for good.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import get_args

import torch
from torch import Tensor

from bayesnas_graph import bayes
from bayesnas_graph.bayes import State, proximal_step, rescale
from bayesnas_graph.bayes.units import unit
from bayesnas_graph.passes import prune
from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.search.budget import Shrink, shrink
from bayesnas_graph.search.iteration import Iteration, complete
from bayesnas_graph.search.learner import SearchLearner, without
from bayesnas_graph.search.measure import Measured, measure
from bayesnas_graph.search.problem import Batch, Problem
from bayesnas_graph.search.progress import SearchProgress
from bayesnas_graph.search.start import equalise
from bayesnas_graph.search.strategy import Draw, Rates, Strategy


class Bayes(Strategy):
    """A hierarchical prior on every gate."""

    closes = True

    def start(self, learner: SearchLearner, batch: Batch) -> SearchLearner:
        if learner.config.unit != "gate":
            equalise(learner, batch)
        return learner

    def warmed_up(self, learner: SearchLearner, batches: Iterable[Batch]) -> SearchLearner:
        return measure_units(learner, batches)

    def move(self, learner: SearchLearner, slopes: Tensor, draw: Draw | None, rates: Rates) -> None:
        learner.supernet.set_gates(moved(learner, slopes, rates))

    def penalty(self, learner: SearchLearner, intensities: tuple[float, float]) -> float:
        w = learner.supernet.gates.double() * learner.units
        return float(bayes.penalty(learner.switches, w, learner.prior.omega, learner.lambda_w(intensities)))

    def iterate(
        self, problem: Problem, learner: SearchLearner, progress: SearchProgress, batches: Iterable[Batch]
    ) -> tuple[SearchLearner, SearchProgress, Iteration]:
        return iterate(problem, learner, progress, batches)

    def shrink_budgets(self, problem: Problem, learner: SearchLearner, progress: SearchProgress) -> Tensor:
        return shrink(problem, learner, progress)

    def conclude(self, learner: SearchLearner) -> None:
        """Leave the gates as they were learnt, together with the weights."""


@torch.no_grad()
def moved(learner: SearchLearner, slopes: Tensor, rates: Rates) -> Tensor:
    """The gates after a step along these slopes, the penalty's share of it, and the gauge.

    The step is taken in the unit that the prior is in, `w r` or `w`: how fast a gate shrinks does not depend on the
    scale in which its candidate's output happens to come.
    """
    lambda_w, units = learner.lambda_w(rates.intensities), learner.units
    w = learner.supernet.gates.double() * units - rates.gates * slopes.double() / units
    w = proximal_step(learner.switches, w, learner.prior.omega, lambda_w, rates.gates)
    if learner.config.gauge == "node":
        w = rescale(learner.switches.gauge, w)
    return (w / units).to(slopes.dtype)


def measure_units(learner: SearchLearner, batches: Iterable[Batch]) -> SearchLearner:
    """See how large what the gates multiply is, before the first of them moves."""
    return learner.with_prior(learner.prior, _units(learner, measure(learner, batches, 0)))


def iterate(
    problem: Problem, learner: SearchLearner, progress: SearchProgress, batches: Iterable[Batch]
) -> tuple[SearchLearner, SearchProgress, Iteration]:
    """Measure, update the prior, decide, and go on with what is left."""
    number = progress.iteration + 1
    measured = measure(learner, batches, number)
    learner = learner.with_prior(learner.prior, _units(learner, measured))
    prior = updated(learner, measured, progress.growth)
    learner = learner.with_prior(prior, learner.units)
    worth = {ranking: _worth(learner, measured, progress.growth, ranking) for ranking in get_args(bayes.Ranking)}
    scores = worth[learner.config.ranking]
    raw = bayes.decide(learner.graph, learner.switches, prior, measured.h, learner.supernet.gates.double())
    raw = raw.ranked(worth)
    sound = bayes.without_dead_ends(learner.graph, bayes.bridged(learner.graph, raw, scores))
    chosen = bayes.limited(learner.graph, sound, scores)
    if problem.has_target and problem.on_target(prune(learner.graph, chosen.off)):
        chosen = bayes.enlarged(learner.graph, chosen, scores, problem.on_target)
        sound = chosen
    graph = prune(learner.graph, chosen.off)
    architecture = complete(problem, progress, chosen)
    progress = replace(progress, iteration=number, architecture=architecture).with_closed(sound)
    _revive(learner, {v.name for v in sound.verdicts if v.why in (bayes.Why.BRIDGE, bayes.Why.ROOM)})
    left = without(learner, sound.off) if sound.off else learner
    found = Iteration(
        number=number,
        decision=sound,
        architecture=architecture,
        graph=graph,
        cost=cost(graph),
        reopened=tuple(v.name for v in sound.verdicts if v.why == bayes.Why.BRIDGE),
        intensities=learner.config.grown(progress.growth),
        shrink=Shrink.of(shrink(problem, left, progress)),
    )
    return left, progress, found


def _revive(learner: SearchLearner, groups: Collection[str]) -> None:
    """Set gates that are opened again to where they started: most were at zero, and would let nothing through."""
    names = [learner.switches.groups[group] for group in learner.switches.group.tolist()]
    reopened = torch.tensor([name in groups for name in names], device=learner.units.device)
    gates = learner.supernet.gates
    started = learner.units.reciprocal().to(gates.dtype)
    learner.supernet.set_gates(torch.where(reopened & (gates == 0), started, gates))


@torch.no_grad()
def updated(learner: SearchLearner, measured: Measured, growth: float) -> State:
    """The prior after an update, in the units of the settings."""
    h, w = bayes.contributions(measured.h, learner.supernet.gates.double(), learner.units)
    lambda_w = learner.lambda_w(learner.config.grown(growth))
    dependency = bayes.DEPENDENCIES[learner.config.dependency]
    return bayes.update(learner.switches, learner.prior.gamma, h, w, lambda_w, dependency)


def _units(learner: SearchLearner, measured: Measured) -> Tensor:
    """In what gates are measured from now on."""
    if learner.config.unit == "gate":
        return torch.ones_like(measured.units)
    if learner.config.gauge == "none":
        return unit(measured.units)
    return bayes.in_gauge(learner.switches.gauge, learner.supernet.gates.double(), measured.units)


def _worth(learner: SearchLearner, measured: Measured, growth: float, ranking: bayes.Ranking) -> dict[str, float]:
    """What every group is worth by a ranking."""
    h, w = bayes.contributions(measured.h, learner.supernet.gates.double(), learner.units)
    slopes = torch.zeros_like(h) if measured.slopes is None else measured.slopes / learner.units
    lambda_w = learner.lambda_w(learner.config.grown(growth))
    gamma, s = learner.prior.gamma, learner.prior.s
    own = torch.where(bayes.keep(gamma), gamma, s)  # what is off by another switch is judged by its own
    values = bayes.score(ranking, learner.switches, own, h, w, slopes, lambda_w)
    return dict(zip(learner.switches.groups, values.nan_to_num().tolist(), strict=True))


STRATEGY = Bayes()
