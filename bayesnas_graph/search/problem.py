"""The problem of a search: a graph with all its switches, the data, and the size limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count

import torch
from torch import Tensor

from bayesnas_graph import passes
from bayesnas_graph.data import (
    Data,
    Loading,
    evaluation,
    shuffled,
    split,
    steps_per_epoch,
    training,
)
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.language.elaborate.wiring import Budget
from bayesnas_graph.passes.analysis import Cost, check_feasible, cost
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.loading import check_network_fits, loading
from bayesnas_graph.runs.objectives import Objective, objective_of

Batch = tuple[Tensor, Tensor]  # samples, and their targets or the probabilities of their classes
Batches = Iterator[Batch]

_MEETS = {"<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__, "==": int.__eq__}


@dataclass(frozen=True, eq=False)
class Problem:
    """A network to search, on some data, under some settings. Nothing in it changes during a search."""

    config: SearchConfig
    graph: Graph  # with zero switches and groups
    budgets: tuple[Budget, ...]
    data: Data
    written: Graph  # as in the space, without zero switches

    @staticmethod
    def of(network: Network, data: Data, config: SearchConfig) -> Problem:
        """Return the problem of searching a network.

        Raises NasError if the data do not fit it, or if no architecture meets its requirements.
        """
        check_network_fits(network, data)
        options, graph = passes.Options(zero=config.zero, mode=config.mode), network.graph()
        problem = Problem(config, passes.run(graph, passes.SWITCHES, options), network.budgets, data, graph)
        check_feasible(problem.graph)
        if not problem.steps_per_epoch:
            message = f"a batch of {config.batch} is larger than the {len(problem.indices[0])} samples to train on"
            raise NasError([Diagnostic("NAS601", message, help="reduce `batch`")])
        return problem

    @property
    def objective(self) -> Objective:
        """What the network is trained for."""
        return objective_of(self.graph)

    @cached_property
    def indices(self) -> tuple[Tensor, Tensor]:
        """The samples to train on, and those held out."""
        return split(len(self.data.train), self.config.held_out, self.config.seed)

    @property
    def steps_per_epoch(self) -> int:
        """Whole batches per epoch."""
        return steps_per_epoch(len(self.indices[0]), self.config.batch)

    @property
    def steps(self) -> int:
        """Steps of an iteration."""
        return self.config.steps or self.steps_per_epoch

    @property
    def warmup(self) -> int:
        """Steps before the gates move."""
        warmup = self.steps_per_epoch if self.config.warmup is None else self.config.warmup
        return warmup if self.graph.gates else 0

    @property
    def finish(self) -> int:
        """Steps for the weights of the final architecture; all steps if there is nothing to decide."""
        finish = self.steps if self.config.finish is None else self.config.finish
        return finish if self.graph.gates else self.total_steps + finish

    @property
    def finalists(self) -> int:
        """Architectures that are trained and compared once the search has decided; none or at least two."""
        return self.config.finalists if self.config.finalists > 1 and self.graph.gates else 0

    @property
    def finalist_steps(self) -> int:
        """Steps of training per finalist."""
        return self.config.finalist_steps or max(1, self.total_steps // 4)

    @property
    def compared(self) -> int:
        """Architectures that are trained after the search: random ones, and first of all the result."""
        return self.config.compare_random + 1 if self.config.compare_random and self.graph.gates else 0

    @cached_property
    def of_finalists(self) -> Problem:
        """The problem of training a finalist in few steps.

        The learning rate falls to zero: before it is low, the loss says little about an architecture.
        """
        return replace(self, config=self.config.model_copy(update={"nesterov": True, "final_rate": 0.0}))

    @property
    def total_steps(self) -> int:
        """Maximum number of steps until the architecture is decided."""
        return self.warmup + self.config.iterations * self.steps

    @property
    def nothing_to_decide(self) -> Diagnostic | None:
        """A warning if the network has no switches."""
        if self.graph.gates:
            return None
        message = f"network `{self.graph.name}` has no choices: only its weights are trained"
        help = "write `choose {...}` or `optional` on an edge; to train it properly, use `bayesnas-graph train`"
        return Diagnostic("NAS606", message, help=help, severity="warning")

    def loading(self, device: Device) -> Loading:
        """Return how batches are loaded onto a device."""
        return loading(self.data, self.graph, self.config, self.config.seed, device)

    def batches(self, device: Device, step: int) -> Batches:
        """Yield training batches without end, starting at a step."""
        first, start = divmod(step, self.steps_per_epoch)
        for epoch in count(first):
            yield from training(self.data.train, self.indices[0], self.loading(device), epoch, start)
            start = 0

    def held_out_batches(self, device: Device, step: int) -> Batches:
        """Yield augmented batches of held-out samples for training gates, without end. They are not mixed."""
        held = self.indices[1]
        loading = self.loading(device)
        if steps_per_epoch(len(held), loading.batch) == 0:
            held = held.repeat(-(-loading.batch // len(held)))
        first, start = divmod(step, steps_per_epoch(len(held), loading.batch))
        loading = replace(loading, seed=loading.seed + 1, mixing=None)
        for epoch in count(first):
            yield from training(self.data.train, held, loading, epoch, start)
            start = 0

    def measured_batches(self, device: Device, iteration: int) -> Batches:
        """Return held-out samples to measure on, different ones in every iteration."""
        most = self.config.curvature_batches * self.config.batch
        chosen = shuffled(self.indices[1], self.config.seed, iteration)[:most]
        loading = self.loading(device)
        return evaluation(self.data.train, chosen, replace(loading, batch=loading.batch // self.config.accumulate))

    def validation_batches(self, device: Device) -> Batches:
        """Return all samples that are held out."""
        return evaluation(self.data.train, self.indices[1], self.loading(device))

    def test_batches(self, device: Device) -> Batches:
        """Return all samples of the test set."""
        return evaluation(self.data.test, torch.arange(len(self.data.test)), self.loading(device))

    def unmet(self, found: Cost) -> tuple[Budget, ...]:
        """Return the `require` clauses that an architecture of this cost does not meet."""
        spent = {"params": found.parameters, "flops": found.flops, "memory": found.memory(batch=1)}
        return tuple(
            budget for budget in self.budgets if not _MEETS[budget.comparison](spent[budget.quantity], budget.bound)
        )

    def on_target(self, graph: Graph) -> bool:
        """Return whether an architecture is within the target size."""
        found, config = cost(graph), self.config
        few = config.target_params is None or found.parameters <= config.target_params
        return few and (config.target_flops is None or found.flops <= config.target_flops)

    def fits(self, graph: Graph) -> bool:
        """Return whether an architecture is within the target size, and not too large for what the network requires."""
        unmet = self.unmet(cost(graph)) if self.config.stop_at_budget else ()
        return self.on_target(graph) and not any(budget.comparison in ("<", "<=") for budget in unmet)

    @property
    def has_target(self) -> bool:
        """Whether a target size is set."""
        return self.config.target_params is not None or self.config.target_flops is not None
