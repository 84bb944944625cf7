"""A trial: one architecture is trained from scratch as a finalist is, and measured on the test set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from torch import Tensor

from bayesnas_graph.runs.loop import Look, Loop
from bayesnas_graph.runs.schedule import rate
from bayesnas_graph.runs.watching import Watcher
from bayesnas_graph.search.events import StepRow
from bayesnas_graph.search.finalists import finalist_graph
from bayesnas_graph.search.learner import SearchLearner, new_learner
from bayesnas_graph.search.measure import loss_and_metric
from bayesnas_graph.search.problem import Batches, Problem
from bayesnas_graph.search.progress import SearchProgress
from bayesnas_graph.search.step import train_step
from bayesnas_graph.search.strategy import Rates


@dataclass
class Trial(Loop[Problem, SearchLearner, SearchProgress, Watcher]):
    """The training of an architecture. Seed, samples and schedule are the same for all of a run."""

    slower: ClassVar[str] = "learning rates"
    advice: ClassVar[str] = "lower `rate`, or reduce `clip`"

    off: tuple[str, ...] = ()  # the switches that it closes
    logged: Callable[[StepRow], None] = lambda _: None
    _batches: Batches | None = None

    def run(self) -> tuple[float, float]:
        """Train to the end; return the loss and the metric on the test set. Raises Interrupted or NasError."""
        learner, progress = self.start()
        while progress.step < self.problem.finalist_steps:
            learner, progress = self.train(learner, progress)
        return loss_and_metric(learner, self.problem.test_batches(self.device))

    def initial(self) -> tuple[SearchLearner, SearchProgress]:
        graph = finalist_graph(self.problem.graph, self.off)
        learner = new_learner(graph, self.problem.of_finalists.config, self.device)
        return learner, SearchProgress(trying=self.off)

    def end_of_phase(self, _progress: SearchProgress) -> int:
        return self.problem.finalist_steps

    def is_possible(self, progress: SearchProgress) -> bool:
        return progress.trying == self.off and super().is_possible(progress)

    def reset_batches(self) -> None:
        self._batches = None

    def take_step(self, learner: SearchLearner, progress: SearchProgress, step: int) -> tuple[Tensor, Tensor]:
        if self._batches is None:
            self._batches = self.problem.of_finalists.batches(self.device, step)
        rates = Rates(self._rate(progress, step), gates=0.0, intensities=(0.0, 0.0), step=step, settled=True)
        return train_step(learner, next(self._batches), rates)

    def _rate(self, progress: SearchProgress, step: int) -> float:
        return rate(self.problem.of_finalists.config, step, self.problem.finalist_steps) * progress.slowdown

    def look(
        self, learner: SearchLearner, progress: SearchProgress, until: int, total: Tensor, seconds: float
    ) -> Look[SearchProgress]:
        steps = until - progress.step
        # The only place that waits for the device.
        loss, *terms = self.device.processes.mean(total / steps).tolist()
        row = StepRow(
            step=until,
            iteration=0,
            loss=loss,
            accuracy=learner.objective.value(terms),
            penalty=0.0,
            rate=self._rate(progress, until - 1),
            seconds=seconds / steps,
            alive=len(self.problem.graph.switches) - len(self.off),
        )
        return Look(loss, progress, partial(self.logged, row))
