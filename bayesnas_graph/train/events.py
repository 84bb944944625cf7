"""The events of a training run, and its table: a row for every epoch."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.runs.tables import append, cell, cut
from bayesnas_graph.runs.watching import Watcher
from bayesnas_graph.train.learner import TrainLearner
from bayesnas_graph.train.problem import TrainingProblem
from bayesnas_graph.train.progress import TrainProgress

__all__ = ["EpochRow", "TrainWatcher"]


@dataclass(frozen=True, slots=True)
class EpochRow:
    """An epoch, as a row of `metrics.csv`."""

    epoch: int  # counted from 1
    step: int  # its last step
    loss: float  # mean over its steps
    accuracy: float  # or another metric: over its steps, on training samples
    test_loss: float
    test_accuracy: float
    rate: float  # of its last step
    seconds: float  # for all its steps and the test


METRICS = tuple(field.name for field in fields(EpochRow))


class TrainWatcher(Watcher):
    """Base class of watchers of a training run."""

    def stepped(self, step: int, loss: float) -> None:
        """Some steps were taken, up to this one."""

    def epoch_ended(self, row: EpochRow) -> None:
        """An epoch has ended."""


@dataclass(frozen=True)
class TrainRecorder(TrainWatcher):
    """Writes `metrics.csv`. When a run resumes, rows after its checkpoint are removed first."""

    folder: RunPaths

    def started(self, problem: TrainingProblem, _learner: TrainLearner, progress: TrainProgress) -> None:
        cut(self.folder.metrics, problem.objective.metric.columns(METRICS), "epoch", progress.epoch)

    def epoch_ended(self, row: EpochRow) -> None:
        append(self.folder.metrics, [[cell(value) for value in asdict(row).values()]])
