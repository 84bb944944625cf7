"""What a search tells those who watch it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from bayesnas_graph.search.iteration import Iteration
from bayesnas_graph.search.learner import Learner
from bayesnas_graph.search.problem import Problem
from bayesnas_graph.search.progress import Progress


@dataclass(frozen=True, slots=True)
class Row:
    """Some steps of training, as a line of the log."""

    step: int  # the last of them, counted from 1
    iteration: int  # 0 during warm-up
    loss: float  # mean over these steps
    accuracy: float  # likewise, on the samples that were trained on
    penalty: float
    rate: float
    seconds: float  # for a step, on average
    alive: int  # switches that are still open


class Watcher(Protocol):
    """Somebody who is told. All of it happens between two steps of training."""

    def begun(self, problem: Problem, learner: Learner, progress: Progress) -> None:
        """A search begins, or goes on."""

    def logged(self, row: Row) -> None:
        """Some steps were taken."""

    def iterated(self, found: Iteration, accuracy: float, seconds: float) -> None:
        """The prior was updated, in so many seconds; the accuracy is that on held-out samples."""

    def concluded(self, progress: Progress) -> None:
        """The architecture is found; what follows trains its weights."""

    def said(self, text: str) -> None:
        """Something unusual happened."""


@dataclass(frozen=True)
class Watchers:
    """Several of them as one."""

    all: tuple[Watcher, ...] = ()

    def begun(self, problem: Problem, learner: Learner, progress: Progress) -> None:
        for watcher in self.all:
            watcher.begun(problem, learner, progress)

    def logged(self, row: Row) -> None:
        for watcher in self.all:
            watcher.logged(row)

    def iterated(self, found: Iteration, accuracy: float, seconds: float) -> None:
        for watcher in self.all:
            watcher.iterated(found, accuracy, seconds)

    def concluded(self, progress: Progress) -> None:
        for watcher in self.all:
            watcher.concluded(progress)

    def said(self, text: str) -> None:
        for watcher in self.all:
            watcher.said(text)
