"""Measurements between two phases of training: curvatures, units of gates, and the metric."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor

from bayesnas_graph.bayes import curvature
from bayesnas_graph.codegen.supernet import Moments
from bayesnas_graph.runs.seeds import generator
from bayesnas_graph.runtime import Watch, watched
from bayesnas_graph.runtime.precision import precise
from bayesnas_graph.search.learner import SearchLearner
from bayesnas_graph.search.problem import Batch


@dataclass(frozen=True, eq=False)
class GateMeasurements:
    """Measurements of every gate, on held-out samples."""

    h: Tensor  # second derivative of the mean loss
    units: Tensor  # the magnitude of its input
    slopes: Tensor | None = None  # first derivative, if the ranking needs it


def measure(learner: SearchLearner, batches: Iterable[Batch], iteration: int) -> GateMeasurements:
    """Measure curvatures with the estimator of the settings, over all processes."""
    config, device = learner.config, learner.device
    kept = list(batches)
    numbers = generator(device.torch_device, config.seed, "curvature", iteration, device.processes.rank)
    diagonal = config.curvature in (
        "recursive",
        "mean",
    )  # they square numbers, which exceeds the range of half precision
    with nullcontext() if diagonal else device.autocast():
        found = curvature(
            learner.supernet, kept, learner.objective.loss(), config.curvature, samples=config.draws, generator=numbers
        )
    samples = sum(len(y) for _, y in kept)
    moments = found.moments
    if not bool(moments.squares.any()):  # estimators that do not run the compiled network do not measure them
        moments = _moments(learner, kept)
    return GateMeasurements(
        h=device.processes.mean(precise(found.h), samples),
        units=sizes(learner, moments, samples),
        slopes=_slopes(learner, kept) if config.ranking == "removal" else None,
    )


def sizes(learner: SearchLearner, moments: Moments, samples: int) -> Tensor:
    """Return the magnitude of each gate's input, over all processes, in the unit of the settings."""
    whole = moments.mapped(lambda numbers: learner.device.processes.mean(numbers, samples))
    return (whole.squares if learner.config.unit == "rms" else whole.spreads).sqrt()


def metric(learner: SearchLearner, batches: Iterable[Batch]) -> float:
    """Return the metric of the network, such as its accuracy, on some samples, over all processes."""
    return loss_and_metric(learner, batches)[1]


def loss_and_metric(learner: SearchLearner, batches: Iterable[Batch]) -> tuple[float, float]:
    """Return the mean loss and the metric of the network on some samples, over all processes."""
    objective = learner.objective
    sums = learner.units.new_zeros(1 + objective.size)
    total = 0
    with torch.no_grad(), learner.supernet.measuring(), learner.device.autocast():
        for x, y in batches:
            output = learner.called(x).float()
            loss = objective.loss()(output, y) * len(y)
            sums += torch.cat([precise(loss).view(1), precise(objective.terms(output, y))])
            total += len(y)
    loss, *terms = learner.device.processes.mean(sums / max(1, total), total).tolist()
    return loss, objective.value(terms)


def _slopes(learner: SearchLearner, batches: list[Batch]) -> Tensor:
    """Return the gradient of the mean loss by the gates."""
    parameters = learner.supernet.gate_parameters()
    total = torch.zeros_like(learner.units)
    samples = sum(len(y) for _, y in batches)
    with learner.supernet.measuring() as network:
        for x, y in batches:
            with learner.device.autocast():
                value = learner.objective.loss()(network(x).float(), y) * (len(y) / samples)
            found = torch.autograd.grad(value, parameters, allow_unused=True, materialize_grads=True)
            total += precise(learner.supernet.in_order(list(found)))
    return learner.device.processes.mean(total, samples)


def _moments(learner: SearchLearner, batches: list[Batch]) -> Moments:
    seen: list[tuple[float, Moments]] = []
    with torch.no_grad(), learner.supernet.measuring() as network, learner.device.autocast():
        for x, _ in batches:
            with watched(Watch()) as watch:
                network(x)
            seen.append((len(x), learner.supernet.moments(watch)))
    return Moments.average(seen)
