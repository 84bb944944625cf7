"""One Bayesian iteration: from trained gates to a decision, and from a decision to a smaller network."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import get_args

import torch
from torch import Tensor

from bayesnas_graph import bayes
from bayesnas_graph.analysis import Cost, cost
from bayesnas_graph.bayes import Decision, State
from bayesnas_graph.bayes.units import unit
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes import prune
from bayesnas_graph.search.budget import Shrink, shrink
from bayesnas_graph.search.learner import Learner, without
from bayesnas_graph.search.measure import Measured, measure
from bayesnas_graph.search.problem import Problem
from bayesnas_graph.search.progress import Progress
from bayesnas_graph.search.train import Batch

_DEPENDENCY = {"one_hop": bayes.one_hop, "whole_path": bayes.whole_path}


@dataclass(frozen=True, eq=False)
class Iteration:
    """What an iteration found."""

    number: int
    decision: Decision  # about the switches that were still open, as their entropies have it
    architecture: Decision  # about all switches: what would be derived if the search ended here
    graph: Graph  # that architecture
    cost: Cost
    reopened: tuple[str, ...]  # switches that stay only because an output depends on them
    intensities: tuple[float, float]
    shrink: Shrink  # how far the penalty can still move the gates that are left


def measure_units(learner: Learner, batches: Iterable[Batch]) -> Learner:
    """See how large what the gates multiply is, before the first of them moves."""
    return learner.with_prior(learner.prior, _units(learner, measure(learner, batches, 0)))


def iterate(
    problem: Problem, learner: Learner, progress: Progress, batches: Iterable[Batch]
) -> tuple[Learner, Progress, Iteration]:
    """Measure, update the prior, decide, and go on with what is left."""
    number = progress.iteration + 1
    measured = measure(learner, batches, number)
    learner = learner.with_prior(learner.prior, _units(learner, measured))
    prior = updated(learner, measured, progress.growth)
    learner = learner.with_prior(prior, learner.units)
    worth = {ranking: _worth(learner, measured, progress.growth, ranking) for ranking in get_args(bayes.Ranking)}
    scores = worth[learner.config.ranking]
    raw = bayes.decide(learner.graph, learner.switches, prior, measured.h, learner.supernet.gates.double())
    raw = raw.ranked(worth["relevance"], worth["removal"])
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
        intensities=intensities(learner, progress.growth),
        shrink=Shrink.of(shrink(problem, left, progress)),
    )
    return left, progress, found


def _revive(learner: Learner, groups: Collection[str]) -> None:
    """Set gates that are opened again to where they started: most were at zero, and would let nothing through."""
    names = [learner.switches.groups[group] for group in learner.switches.group.tolist()]
    reopened = torch.tensor([name in groups for name in names], device=learner.units.device)
    gates = learner.supernet.gates
    started = learner.units.reciprocal().to(gates.dtype)
    learner.supernet.set_gates(torch.where(reopened & (gates == 0), started, gates))


@torch.no_grad()
def updated(learner: Learner, measured: Measured, growth: float) -> State:
    """The prior after an update, in the units of the settings."""
    h, w = bayes.contributions(measured.h, learner.supernet.gates.double(), learner.units)
    lambda_w = learner.lambda_w(intensities(learner, growth))
    dependency = _DEPENDENCY[learner.config.dependency]
    return bayes.update(learner.switches, learner.prior.gamma, h, w, lambda_w, dependency)


def intensities(learner: Learner, growth: float) -> tuple[float, float]:
    """Of the penalty on operations and on zero switches, on the way to a target."""
    operation, zero = learner.config.intensities
    return operation * growth, zero * growth


def complete(problem: Problem, progress: Progress, decision: Decision) -> Decision:
    """A decision about the switches that are left, with those that were closed before, in the order of the graph."""
    known = {verdict.name: verdict for verdict in (*progress.closed, *decision.verdicts)}
    groups = dict.fromkeys(gate.group for gate in problem.graph.gates)
    return replace(decision, verdicts=tuple(known[group] for group in groups))


def _units(learner: Learner, measured: Measured) -> Tensor:
    """In what gates are measured from now on."""
    if learner.config.unit == "gate":
        return torch.ones_like(measured.units)
    if learner.config.gauge == "none":
        return unit(measured.units)
    return bayes.in_gauge(learner.switches.gauge, learner.supernet.gates.double(), measured.units)


def _worth(learner: Learner, measured: Measured, growth: float, ranking: bayes.Ranking) -> dict[str, float]:
    """What every group is worth by a ranking."""
    h, w = bayes.contributions(measured.h, learner.supernet.gates.double(), learner.units)
    slopes = torch.zeros_like(h) if measured.slopes is None else measured.slopes / learner.units
    lambda_w = learner.lambda_w(intensities(learner, growth))
    gamma, s = learner.prior.gamma, learner.prior.s
    own = torch.where(bayes.keep(gamma), gamma, s)  # what is off by another switch is judged by its own
    values = bayes.score(ranking, learner.switches, own, h, w, slopes, lambda_w)
    return dict(zip(learner.switches.groups, values.nan_to_num().tolist(), strict=True))
