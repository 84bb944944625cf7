"""What a compression tells those who watch it, and the tables that one of them writes."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal, Protocol

from bayesnas_graph.runs.tables import append, cell, cut
from bayesnas_graph.train.compress.selection import Size
from bayesnas_graph.train.course import Course
from bayesnas_graph.train.events import METRICS, Row
from bayesnas_graph.train.events import Watcher as TrainWatcher
from bayesnas_graph.train.events import Watchers as TrainWatchers
from bayesnas_graph.train.progress import Progress

Name = Literal["dense", "loops", "fine", "rival"]
LOOPS = ("loop", "lambda", "loss", "groups", "parameters", "flops", "operations", "seconds")


@dataclass(frozen=True)
class Loop:
    """What a loop has come to."""

    number: int  # counted from 1
    intensity: float  # lambda
    loss: float  # on held-out samples, before anything was removed
    groups: int  # that are left
    size: Size
    seconds: float  # for measuring and removing


@dataclass(frozen=True, eq=False)
class Stage:
    """One of the trainings that a compression is made of, and how much came before it."""

    name: Name
    course: Course
    number: int = 0  # of a loop, counted from 1
    epochs: int = 0  # of the stages before
    steps: int = 0  # likewise


class Watcher(TrainWatcher, Protocol):
    """Somebody who is told of the trainings that a compression is made of, and of what comes between them."""

    def entered(self, stage: Stage) -> None:
        """A stage begins, or goes on."""

    def looped(self, loop: Loop) -> None:
        """A loop has ended, and something was removed."""


@dataclass(frozen=True)
class Watchers(TrainWatchers):
    """Several of them as one."""

    all: tuple[Watcher, ...] = ()

    def entered(self, stage: Stage) -> None:
        for watcher in self.all:
            watcher.entered(stage)

    def looped(self, loop: Loop) -> None:
        for watcher in self.all:
            watcher.looped(loop)


@dataclass
class Recorder:
    """A watcher that writes `metrics.csv`, in which the epochs of all stages follow one another, and `loops.csv`.

    The epochs of the rival stand in a table of their own. What came after a checkpoint is cut off before it is written
    again.
    """

    metrics: Path
    loops: Path
    rival: Path
    _stage: Stage | None = None

    def entered(self, stage: Stage) -> None:
        self._stage = stage

    def begun(self, course: Course, progress: Progress) -> None:  # noqa: ARG002  # the stage has it
        cut(self._table, METRICS, "epoch", self._known.epochs + progress.epoch)
        if self._known.name == "loops":
            cut(self.loops, LOOPS, "loop", self._known.number - 1)

    def stepped(self, step: int, loss: float) -> None:
        pass

    def tested(self, row: Row) -> None:
        row = replace(row, epoch=self._known.epochs + row.epoch, step=self._known.steps + row.step)
        append(self._table, [[cell(value) for value in asdict(row).values()]])

    def looped(self, loop: Loop) -> None:
        size = loop.size
        numbers = loop.intensity, loop.loss, loop.groups, size.parameters, size.flops, size.operations, loop.seconds
        append(self.loops, [[str(loop.number), *map(cell, numbers)]])

    def said(self, text: str) -> None:
        pass

    @property
    def _known(self) -> Stage:
        assert self._stage is not None, "a stage begins before its training does"
        return self._stage

    @property
    def _table(self) -> Path:
        return self.rival if self._known.name == "rival" else self.metrics
