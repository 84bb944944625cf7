"""The problem of a training run: a network without choices, on some data, under some settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import count

import torch
from torch import Tensor

from bayesnas_graph.data import Data, Loading, evaluation, steps_per_epoch, training
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.language.elaborate.load import check_fixed
from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.runs.config.train import TrainConfig
from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.loading import check_network_fits, loading
from bayesnas_graph.runs.objectives import Objective, objective_of
from bayesnas_graph.runs.schedule import rate
from bayesnas_graph.train.auxiliary import place_of_head, with_auxiliary_head
from bayesnas_graph.train.paths import with_dropped_paths

Batches = Iterator[tuple[Tensor, Tensor]]


@dataclass(frozen=True, eq=False)
class TrainingProblem:
    """A network to train, on some data, under some settings. Nothing in it changes during training."""

    config: TrainConfig
    graph: Graph  # the final network
    data: Data
    samples: Tensor | None = None  # indices of the samples to train on; all if None

    @staticmethod
    def of(network: Network, data: Data, config: TrainConfig, samples: Tensor | None = None) -> TrainingProblem:
        """Return the problem of training a network. Raises NasError if it cannot be trained, or the data do not fit."""
        check_fixed(network)
        check_network_fits(network, data)
        problem = TrainingProblem(config, network.graph(), data, samples)
        if not cost(problem.graph).parameters:
            message = f"network `{network.name}` has no weights to train"
            raise NasError([Diagnostic("NAS610", message, help="add a convolution or a linear layer")])
        side = min(data.shape[1:], default=0)
        if config.cutout and config.cutout >= side:
            message = f"`cutout` blanks squares of {config.cutout} pixels, but images of `{data.name}` have {side}"
            raise NasError([Diagnostic("NAS601", message, help=f"`-s cutout={side // 2}` is half a side")])
        if not problem.steps_per_epoch:
            message = f"a batch of {config.batch} is larger than the {len(problem.indices)} samples to train on"
            raise NasError([Diagnostic("NAS601", message, help="reduce `batch`")])
        _ = problem.trained_graph  # reports an invalid place of the auxiliary head early
        return problem

    @property
    def objective(self) -> Objective:
        """What the network is trained for."""
        return objective_of(self.graph)

    @cached_property
    def trained_graph(self) -> Graph:
        """The network with the parts for training only: dropped paths and an auxiliary head."""
        config, graph = self.config, self.graph
        if config.auxiliary and self.objective.kind == "map":
            message = "an auxiliary head gives a vector, but this network has a class for every pixel"
            raise NasError([Diagnostic("NAS601", message, help="set `auxiliary` to 0")])
        place = place_of_head(graph, config.auxiliary_at) if config.auxiliary else None
        if config.drop_path:
            graph = with_dropped_paths(graph)
        return graph if place is None else with_auxiliary_head(graph, place, self.objective.count)

    @property
    def indices(self) -> Tensor:
        """The indices of the samples to train on."""
        return torch.arange(len(self.data.train)) if self.samples is None else self.samples

    @property
    def steps_per_epoch(self) -> int:
        """Whole batches per epoch."""
        return steps_per_epoch(len(self.indices), self.config.batch)

    @property
    def total_steps(self) -> int:
        """Steps of the whole run."""
        return self.config.epochs * self.steps_per_epoch

    def rate(self, step: int) -> float:
        """Return the learning rate of a step."""
        return rate(self.config, step, self.total_steps)

    def drop(self, step: int) -> float:
        """Return the probability that a path is dropped in a step; it rises from zero."""
        return self.config.drop_path * step / self.total_steps

    def loading(self, device: Device) -> Loading:
        """Return how batches are loaded onto a device."""
        return loading(self.data, self.graph, self.config, self.config.seed, device)

    def batches(self, device: Device, step: int) -> Batches:
        """Yield training batches without end, starting at a step."""
        first, start = divmod(step, self.steps_per_epoch)
        for epoch in count(first):
            yield from training(self.data.train, self.indices, self.loading(device), epoch, start)
            start = 0

    def test_batches(self, device: Device) -> Batches:
        """Return all samples of the test set."""
        return evaluation(self.data.test, torch.arange(len(self.data.test)), self.loading(device))
