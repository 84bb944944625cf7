"""A search as events for TensorBoard and other loggers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import log10
from typing import Any

import torch

from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.loggers import Open, Writer, openers
from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.runs.task import Task
from bayesnas_graph.search.events import SearchWatcher, StepRow
from bayesnas_graph.search.iteration import Iteration
from bayesnas_graph.search.learner import SearchLearner
from bayesnas_graph.search.problem import Problem
from bayesnas_graph.search.progress import SearchProgress

SMALLEST = 1e-6  # variance that is plotted; zero has no logarithm


def search_loggers(names: Iterable[str]) -> list[SearchWatcher]:
    """Return the watchers of a search that log to these tools. Raises NasError if a package is missing."""
    return [SearchLogger(open) for open in openers(names)]


@dataclass
class SearchLogger(SearchWatcher):
    """Writes events, indexed by step."""

    open: Open
    folder: RunPaths | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    _writer: Writer | None = None
    _step: int = 0
    _metric: str = ""
    _operations: dict[str, str] = field(default_factory=dict)  # by switch

    def opened(self, task: Task[Any, Any], _device: Device) -> None:
        self.folder = task.folder

    def started(self, problem: Problem, _learner: SearchLearner, progress: SearchProgress) -> None:
        self.settings = problem.config.to_plain()
        self._metric = problem.objective.metric.column
        self._operations = {group: gate.operation for group, gate in problem.graph.switches.items()}
        self._reopen(progress.step)

    def logged(self, row: StepRow) -> None:
        if row.step <= self._step:  # the search went back to a checkpoint
            self._reopen(row.step - 1)
        self._step = row.step
        values = {"loss": row.loss, f"{self._metric}/train": row.accuracy, "penalty": row.penalty, "rate": row.rate}
        self._scalars(values | {"seconds/step": row.seconds, "switches/open": row.alive})

    def updated(self, found: Iteration, accuracy: float, seconds: float) -> None:
        assert self._writer is not None, "a search starts before it is updated"
        verdicts = found.decision.verdicts
        self._scalars(
            {
                f"{self._metric}/held-out": accuracy,
                "size/weights": found.cost.parameters,
                "size/multiply-adds": found.cost.flops,
                "lambda": found.intensities[0],
                "seconds/update": seconds,
            }
        )
        if found.shrink is not None:
            limits = {"smallest": found.shrink.smallest, "largest": found.shrink.largest}
            self._scalars({f"shrink_budget/{name}": value for name, value in limits.items()})
        alive = Counter({self._operations[verdict.name]: 0 for verdict in verdicts})
        alive.update(self._operations[verdict.name] for verdict in verdicts if verdict.keep)
        self._scalars({f"switches/{operation}": number for operation, number in alive.items()})
        spread = [log10(max(SMALLEST, verdict.gamma)) for verdict in verdicts]
        if spread:
            self._writer.add_histogram("gamma_log10", torch.tensor(spread), self._step)

    def closed(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _reopen(self, step: int) -> None:
        """Open a writer for what follows a step."""
        assert self.folder is not None, "a run is opened first"
        self.closed()
        self._step, self._writer = step, self.open(self.folder, step + 1, self.settings)

    def _scalars(self, values: dict[str, float]) -> None:
        assert self._writer is not None, "a search starts before it is updated"
        for name, value in values.items():
            self._writer.add_scalar(name, value, self._step)
