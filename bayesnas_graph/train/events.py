"""What a training tells those who watch it, and the table that one of them writes."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Protocol

from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.runs.tables import append, cell, cut
from bayesnas_graph.train.course import Course
from bayesnas_graph.train.progress import Progress


@dataclass(frozen=True, slots=True)
class Row:
    """An epoch, as a line of the log."""

    epoch: int  # counted from 1
    step: int  # its last
    loss: float  # mean over its steps
    accuracy: float  # likewise, on the samples that were trained on
    test_loss: float
    test_accuracy: float
    rate: float  # of its last step
    seconds: float  # that all its steps take, and the test


METRICS = tuple(field.name for field in fields(Row))


class Watcher(Protocol):
    """Somebody who is told. All of it happens between two steps."""

    def begun(self, course: Course, progress: Progress) -> None:
        """A training begins, or goes on."""

    def stepped(self, step: int, loss: float) -> None:
        """Some steps were taken, up to this one."""

    def tested(self, row: Row) -> None:
        """An epoch has ended."""

    def said(self, text: str) -> None:
        """Something unusual happened."""


@dataclass(frozen=True)
class Watchers:
    """Several of them as one."""

    all: tuple[Watcher, ...] = ()

    def begun(self, course: Course, progress: Progress) -> None:
        for watcher in self.all:
            watcher.begun(course, progress)

    def stepped(self, step: int, loss: float) -> None:
        for watcher in self.all:
            watcher.stepped(step, loss)

    def tested(self, row: Row) -> None:
        for watcher in self.all:
            watcher.tested(row)

    def said(self, text: str) -> None:
        for watcher in self.all:
            watcher.said(text)


@dataclass(frozen=True)
class Recorder:
    """A watcher that writes `metrics.csv`. What came after a checkpoint that a training goes on from is cut off."""

    folder: RunPaths

    def begun(self, course: Course, progress: Progress) -> None:
        cut(self.folder.metrics, METRICS, "epoch", progress.epoch)

    def stepped(self, step: int, loss: float) -> None:
        pass

    def tested(self, row: Row) -> None:
        append(self.folder.metrics, [[cell(value) for value in asdict(row).values()]])

    def said(self, text: str) -> None:
        pass
