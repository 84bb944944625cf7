"""The events of a compression run, and its tables."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.runs.tables import append, cell, cut
from bayesnas_graph.train.compress.selection import Size
from bayesnas_graph.train.events import METRICS, EpochRow, TrainWatcher
from bayesnas_graph.train.learner import TrainLearner
from bayesnas_graph.train.problem import TrainingProblem
from bayesnas_graph.train.progress import TrainProgress

__all__ = ["CompressWatcher", "LoopRow", "Stage"]

StageName = Literal["dense", "loops", "fine", "rival"]  # as run folders spell them: `rival` is the baseline
LOOPS = ("loop", "lambda", "loss", "groups", "parameters", "flops", "operations", "seconds")


@dataclass(frozen=True)
class LoopRow:
    """A loop, as a row of `loops.csv`."""

    number: int  # counted from 1
    intensity: float  # lambda
    loss: float  # on held-out samples, before pruning
    groups: int  # remaining
    size: Size
    seconds: float  # for measuring and pruning


@dataclass(frozen=True, eq=False)
class Stage:
    """A training stage of a compression run, and the epochs and steps before it."""

    name: StageName
    problem: TrainingProblem
    number: int = 0  # of a loop, counted from 1
    epochs: int = 0  # of the stages before
    steps: int = 0  # of the stages before


class CompressWatcher(TrainWatcher):
    """Base class of watchers of a compression run: of its training stages, and the pruning between them."""

    def stage_started(self, stage: Stage) -> None:
        """A stage starts, or resumes."""

    def loop_ended(self, loop: LoopRow) -> None:
        """A loop has ended with pruning."""


@dataclass
class CompressRecorder(CompressWatcher):
    """Writes `metrics.csv`, with the epochs of all stages in sequence, and `loops.csv`.

    The epochs of the baseline have their own table. When a run resumes, rows after its checkpoint are
    removed.
    """

    folder: RunPaths
    _stage: Stage | None = None
    _later: bool = False  # whether there are rows of later stages: the file of this one was damaged

    def stage_started(self, stage: Stage) -> None:
        self._stage = stage

    def started(self, _problem: TrainingProblem, _learner: TrainLearner, progress: TrainProgress) -> None:
        before, number = self._known.epochs, self._known.number
        self._later = self._cut(before + progress.epoch, before + self._known.problem.config.epochs)
        if self._known.name == "loops":
            cut(self.folder.loops, LOOPS, "loop", number - 1, until=number)

    def epoch_ended(self, row: EpochRow) -> None:
        row = replace(row, epoch=self._known.epochs + row.epoch, step=self._known.steps + row.step)
        append(self._table, [[cell(value) for value in asdict(row).values()]])
        if self._later:
            self._cut(row.epoch, row.epoch)

    def loop_ended(self, loop: LoopRow) -> None:
        size = loop.size
        numbers = loop.intensity, loop.loss, loop.groups, size.parameters, size.flops, size.operations, loop.seconds
        append(self.folder.loops, [[str(loop.number), *map(cell, numbers)]])
        cut(self.folder.loops, LOOPS, "loop", loop.number, until=loop.number)  # in order

    def _cut(self, last: int, until: int) -> bool:
        columns = self._known.problem.objective.metric.columns(METRICS)
        return cut(self._table, columns, "epoch", last, until)

    @property
    def _known(self) -> Stage:
        assert self._stage is not None, "a stage starts before its training does"
        return self._stage

    @property
    def _table(self) -> Path:
        return self.folder.baseline if self._known.name == "rival" else self.folder.metrics
