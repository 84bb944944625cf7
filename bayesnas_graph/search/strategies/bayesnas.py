"""BayesNAS: a prior on every gate, which closes the switches that the data do not support.

H. Zhou, M. Yang, J. Wang, W. Pan: BayesNAS: A Bayesian Approach for Neural Architecture Search. ICML 2019.

Gates take a gradient step and the step of the penalty, and return into their gauge. Between two phases of training,
curvatures are measured, the prior is updated, and switches without positive entropy are closed for good.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

import torch
from torch import Tensor

from bayesnas_graph import bayes
from bayesnas_graph.bayes.units import unit
from bayesnas_graph.passes import prune
from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.runtime.precision import precise
from bayesnas_graph.search import prior
from bayesnas_graph.search.budget import Shrink, shrink
from bayesnas_graph.search.iteration import Iteration, complete
from bayesnas_graph.search.learner import SearchLearner, without
from bayesnas_graph.search.measure import GateMeasurements, measure
from bayesnas_graph.search.problem import Batch, Problem
from bayesnas_graph.search.progress import SearchProgress
from bayesnas_graph.search.start import equalise
from bayesnas_graph.search.strategy import Draw, Rates, Strategy


class BayesNas(Strategy):
    """A hierarchical prior on every gate."""

    closes = True
    decides_early = True

    def start(self, learner: SearchLearner, batch: Batch) -> SearchLearner:
        if learner.config.unit != "gate":
            equalise(learner, batch)
        return learner

    def warmed_up(self, learner: SearchLearner, batches: Iterable[Batch]) -> SearchLearner:
        return measure_units(learner, batches)

    def move(self, learner: SearchLearner, slopes: Tensor, draw: Draw | None, rates: Rates) -> None:
        learner.supernet.set_gates(moved(learner, slopes, rates))

    def penalty(self, learner: SearchLearner, intensities: tuple[float, float]) -> float:
        lambda_w = learner.lambda_w(intensities)
        return prior.penalty(learner.switches, learner.prior.omega, learner.units, lambda_w, learner.supernet.gates)

    def iterate(
        self, problem: Problem, learner: SearchLearner, progress: SearchProgress, batches: Iterable[Batch]
    ) -> tuple[SearchLearner, SearchProgress, Iteration]:
        return iterate(problem, learner, progress, batches)

    def shrink_budgets(self, problem: Problem, learner: SearchLearner, progress: SearchProgress) -> Tensor:
        return shrink(problem, learner, progress)

    def conclude(self, learner: SearchLearner) -> None:
        """Keep the gates as they were learnt, together with the weights."""


@torch.no_grad()
def moved(learner: SearchLearner, slopes: Tensor, rates: Rates) -> Tensor:
    """Return the gates after a gradient step, the step of the penalty, and the gauge."""
    lambda_w, units, gates = learner.lambda_w(rates.intensities), learner.units, learner.supernet.gates
    w = prior.moved(learner.switches, learner.prior.omega, units, lambda_w, gates, slopes, rates.gates)
    if learner.config.gauge == "node":
        w = bayes.rescale(learner.switches.gauge, w)
    return (w / units).to(slopes.dtype)


def measure_units(learner: SearchLearner, batches: Iterable[Batch]) -> SearchLearner:
    """Measure the magnitude of each gate's input, before the gates move."""
    return learner.with_prior(learner.prior, _units(learner, measure(learner, batches, 0)))


def iterate(
    problem: Problem, learner: SearchLearner, progress: SearchProgress, batches: Iterable[Batch]
) -> tuple[SearchLearner, SearchProgress, Iteration]:
    """Measure, update the prior, decide, and return the learner that is left."""
    number, config, whole = progress.iteration + 1, learner.config, learner.graph
    measured = measure(learner, batches, number)
    units = _units(learner, measured)
    found = prior.Measurements(measured.h, precise(learner.supernet.gates), units, measured.slopes)
    lambda_w = learner.lambda_w(config.grown(progress.growth))
    decided = prior.decide(
        whole, learner.switches, learner.prior.gamma, found, lambda_w, config.dependency, config.ranking
    )
    learner = learner.with_prior(decided.prior, units)
    sound, chosen = decided.sound, decided.chosen
    if problem.has_target and problem.on_target(prune(whole, chosen.off)):
        sound = chosen = bayes.grow_to_fit(whole, chosen, decided.scores, problem.on_target)
    graph = prune(whole, chosen.off)
    architecture = complete(problem, progress, chosen)
    progress = replace(progress, iteration=number, architecture=architecture).with_closed(sound)
    _revive(learner, {v.name for v in sound.verdicts if v.why.is_reopened or v.why == bayes.Why.ROOM})
    left = without(learner, sound.off) if sound.off else learner
    iteration = Iteration(
        number=number,
        decision=sound,
        architecture=architecture,
        graph=graph,
        cost=cost(graph),
        reopened=tuple(v.name for v in sound.verdicts if v.why.is_reopened),
        intensities=config.grown(progress.growth),
        shrink=Shrink.of(shrink(problem, left, progress)),
    )
    return left, progress, iteration


def _revive(learner: SearchLearner, groups: Collection[str]) -> None:
    """Reset reopened gates to their start values: most are zero, and would block their input."""
    names = [learner.switches.groups[group] for group in learner.switches.group.tolist()]
    reopened = torch.tensor([name in groups for name in names], device=learner.units.device)
    gates = learner.supernet.gates
    started = learner.units.reciprocal().to(gates.dtype)
    learner.supernet.set_gates(torch.where(reopened & (gates == 0), started, gates))


def _units(learner: SearchLearner, measured: GateMeasurements) -> Tensor:
    """Return the units of the gates from now on."""
    if learner.config.unit == "gate":
        return torch.ones_like(measured.units)
    if learner.config.gauge == "none":
        return unit(measured.units)
    return bayes.in_gauge(learner.switches.gauge, precise(learner.supernet.gates), measured.units)


STRATEGY = BayesNas()
