"""A search as events for TensorBoard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from math import log10
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from bayesnas_graph.diagnostics.packages import check_packages
from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.task import Task
from bayesnas_graph.search.events import SearchWatcher, StepRow
from bayesnas_graph.search.iteration import Iteration
from bayesnas_graph.search.learner import SearchLearner
from bayesnas_graph.search.problem import Problem
from bayesnas_graph.search.progress import SearchProgress

SMALLEST = 1e-6  # variance that is plotted; zero has no logarithm


class Writer(Protocol):
    """The part of torch's `SummaryWriter` that is used."""

    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> object: ...
    def add_histogram(self, tag: str, values: Tensor, global_step: int) -> object: ...
    def close(self) -> object: ...


Open = Callable[[Path, int], Writer]  # opens a writer that drops earlier events from this step on


def writer() -> Open:
    """Return a function that opens a writer. Raises NasError if TensorBoard is not installed."""
    check_packages("tensorboard", "`--tensorboard` needs")
    from torch.utils.tensorboard import SummaryWriter

    return lambda folder, step: SummaryWriter(str(folder), purge_step=step)


@dataclass
class TensorBoard(SearchWatcher):
    """Writes events, indexed by step."""

    folder: Path | None  # None for a folder inside the run folder
    open: Open
    _writer: Writer | None = None
    _step: int = 0
    _metric: str = ""
    _operations: dict[str, str] = field(default_factory=dict)  # by switch

    def opened(self, task: Task[Any, Any], _device: Device) -> None:
        self.folder = self.folder or task.folder.tensorboard

    def started(self, problem: Problem, _learner: SearchLearner, progress: SearchProgress) -> None:
        self._step = progress.step
        self._metric = problem.objective.metric.column
        self._operations = {group: gate.operation for group, gate in problem.graph.switches.items()}
        self._writer = self.open(self._folder, progress.step + 1)

    def logged(self, row: StepRow) -> None:
        if row.step <= self._step:  # the search went back to a checkpoint
            self.closed()
            self._writer = self.open(self._folder, row.step)
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

    @property
    def _folder(self) -> Path:
        assert self.folder is not None, "a run is opened first"
        return self.folder

    def _scalars(self, values: dict[str, float]) -> None:
        assert self._writer is not None, "a search starts before it is updated"
        for name, value in values.items():
            self._writer.add_scalar(name, value, self._step)
