"""A training run as events for TensorBoard and other loggers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.loggers import Open, Writer, openers
from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.runs.task import Task
from bayesnas_graph.train.events import EpochRow, TrainWatcher
from bayesnas_graph.train.learner import TrainLearner
from bayesnas_graph.train.problem import TrainingProblem
from bayesnas_graph.train.progress import TrainProgress


def train_loggers(names: Iterable[str]) -> list[TrainWatcher]:
    """Return the watchers of a training run that log to these tools. Raises NasError if a package is missing."""
    return [TrainLogger(open) for open in openers(names)]


@dataclass
class TrainLogger(TrainWatcher):
    """Writes events, indexed by step."""

    open: Open
    folder: RunPaths | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    _writer: Writer | None = None

    def opened(self, task: Task[Any, Any], _device: Device) -> None:
        self.folder, self.settings = task.folder, task.config.to_plain()

    def started(self, _problem: TrainingProblem, _learner: TrainLearner, progress: TrainProgress) -> None:
        assert self.folder is not None, "a run is opened first"
        self.closed()
        self._writer = self.open(self.folder, progress.step + 1, self.settings)

    def stepped(self, step: int, loss: float) -> None:
        self._scalars({"loss": loss}, step)

    def epoch_ended(self, row: EpochRow) -> None:
        values = {"loss/train": row.loss, "accuracy/train": row.accuracy, "loss/test": row.test_loss}
        more = {"accuracy/test": row.test_accuracy, "rate": row.rate, "seconds/epoch": row.seconds}
        self._scalars(values | more, row.step)

    def closed(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _scalars(self, values: dict[str, float], step: int) -> None:
        assert self._writer is not None, "a run starts before it is logged"
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)
