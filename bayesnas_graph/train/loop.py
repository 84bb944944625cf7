"""The training loop: steps, a test after every epoch, and checkpoints."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import ClassVar

from torch import Tensor, nn

from bayesnas_graph.codegen.emit import Emitted, build, emit
from bayesnas_graph.codegen.emit.weights import ByNode
from bayesnas_graph.runs.loop import Look, Loop
from bayesnas_graph.runtime import use_channels_last
from bayesnas_graph.train.events import EpochRow, TrainWatcher
from bayesnas_graph.train.learner import State, TrainLearner, new_learner
from bayesnas_graph.train.measure import Score, score
from bayesnas_graph.train.problem import Batches, TrainingProblem
from bayesnas_graph.train.progress import TrainProgress
from bayesnas_graph.train.step import train_step

AfterStep = Callable[[TrainLearner, float], None]  # a hook after each step, with its learning rate; may change weights


def nothing(_learner: TrainLearner, _rate: float) -> None:
    """Default hook after a step: does nothing."""


@dataclass(frozen=True, eq=False)
class TrainOutcome:
    """The result of a training run."""

    program: Emitted  # of the network, which needs only torch
    weights: State  # for this program
    score: Score  # on the test set


@dataclass
class Training(Loop[TrainingProblem, TrainLearner, TrainProgress, TrainWatcher]):
    """A training run in progress."""

    slower: ClassVar[str] = "learning rate"
    advice: ClassVar[str] = "lower `rate`, or reduce `clip`"

    doc: str = ""  # docstring of the exported source
    start_weights: ByNode | None = None  # by node; random weights if None
    after_step: AfterStep = nothing
    _batches: Batches | None = None
    _timed: tuple[int, float] = (0, 0.0)  # steps of this epoch taken by this process, and their seconds

    def run(self) -> TrainOutcome:
        """Run from the start or the last checkpoint to the end. Raises Interrupted or NasError."""
        learner, progress = self.start()
        while progress.epoch < self.problem.config.epochs:
            if progress.step == self.end_of_phase(progress):
                progress = self._test(learner, progress)
            else:
                learner, progress = self.train(learner, progress)
        return TrainOutcome(self.program, learner.weights_for(self.program), self._score(learner))

    @cached_property
    def program(self) -> Emitted:
        """The network as it is exported."""
        return emit(self.problem.graph, self.doc, standalone=True)

    @cached_property
    def _exported(self) -> nn.Module:
        """The exported network on the device, for testing."""
        module = build(self.program).to(self.device.torch_device)
        if self.device.channels_last:
            use_channels_last(module)
        return module

    def initial(self) -> tuple[TrainLearner, TrainProgress]:
        return new_learner(self.problem, self.device, self.start_weights), TrainProgress()

    def end_of_phase(self, progress: TrainProgress) -> int:
        """Return the step that ends the epoch."""
        return (progress.epoch + 1) * self.problem.steps_per_epoch

    def is_possible(self, progress: TrainProgress) -> bool:
        begun = 0 <= progress.epoch * self.problem.steps_per_epoch <= progress.step
        return begun and progress.epoch <= self.problem.config.epochs and super().is_possible(progress)

    def next_look(self, progress: TrainProgress) -> int:
        every = self.problem.config.checkpoint_steps
        return min(super().next_look(progress), progress.step + every - progress.step % every)

    def reset_batches(self) -> None:
        self._batches = None

    def take_step(self, learner: TrainLearner, progress: TrainProgress, step: int) -> tuple[Tensor, Tensor]:
        if self._batches is None:
            self._batches = self.problem.batches(self.device, step)
        found = train_step(learner, next(self._batches), step, progress.slowdown)
        self.after_step(learner, self.problem.rate(step) * progress.slowdown)
        return found

    def sums(self, progress: TrainProgress) -> tuple[float, ...]:
        return progress.loss, *(progress.terms or (0.0,) * self.problem.objective.size)

    def look(
        self, _learner: TrainLearner, progress: TrainProgress, until: int, total: Tensor, seconds: float
    ) -> Look[TrainProgress]:
        loss, *terms = self.device.processes.mean(total).tolist()  # the only place that waits for the device
        steps = until - progress.step
        self._timed = self._timed[0] + steps, self._timed[1] + seconds
        latest = (loss - progress.loss) / steps
        progress = replace(progress, loss=loss, terms=tuple(terms))
        return Look(latest, progress, partial(self.watcher.stepped, until, latest))

    def _test(self, learner: TrainLearner, progress: TrainProgress) -> TrainProgress:
        """End an epoch: test, log a row, and save a checkpoint."""
        steps, start, (timed_steps, seconds) = self.problem.steps_per_epoch, time.perf_counter(), self._timed
        score = self._score(learner)
        row = EpochRow(
            epoch=progress.epoch + 1,
            step=progress.step,
            loss=progress.loss / steps,
            accuracy=self.problem.objective.value([term / steps for term in progress.terms]),
            test_loss=score.loss,
            test_accuracy=score.accuracy,
            rate=self.problem.rate(progress.step - 1) * progress.slowdown,
            seconds=seconds / max(1, timed_steps) * steps + time.perf_counter() - start,
        )
        self.watcher.epoch_ended(row)
        self._timed = 0, 0.0
        progress = replace(progress, epoch=row.epoch, loss=0.0, terms=())
        self.save(learner, progress)
        return progress

    def _score(self, learner: TrainLearner) -> Score:
        self._exported.load_state_dict(learner.weights_for(self.program))
        return score(self._exported, self.problem.test_batches(self.device), self.device, self.problem.objective)
