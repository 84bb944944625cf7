"""The training: steps, a test after every epoch, and checkpoints.

What is to be done next follows from how far the training has come, so that it can stop after any step and go on from
there as if nothing had happened.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor, nn

from bayesnas_graph.codegen.emit import Emitted, build, emit
from bayesnas_graph.codegen.emit.weights import ByNode
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.runs.device import Place
from bayesnas_graph.runs.seeds import seed_everything
from bayesnas_graph.search.loop import EXPLODED, MOST_EXPLOSIONS, Interrupted
from bayesnas_graph.train.checkpoint import Checkpoints
from bayesnas_graph.train.course import Batches, Course
from bayesnas_graph.train.events import Row, Watcher
from bayesnas_graph.train.learner import Learner, State, begin
from bayesnas_graph.train.measure import Score, score
from bayesnas_graph.train.progress import Progress
from bayesnas_graph.train.step import train_step

AfterStep = Callable[[Learner, float], None]  # what is done after a step at some learning rate; it may change weights


def nothing(_learner: Learner, _rate: float) -> None:
    """Is done after a step, usually."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a training has come to."""

    program: Emitted  # of the network, which needs nothing but torch
    weights: State  # under the names that they have there
    score: Score  # on the test set


@dataclass
class Training:
    """A training that is going on."""

    course: Course
    place: Place
    checkpoints: Checkpoints
    watcher: Watcher
    stop: Callable[[], bool] = lambda: False  # asked between two steps
    doc: str = ""  # of the source of the network
    start: ByNode | None = None  # the weights that it begins with, by node; random ones if None
    after_step: AfterStep = nothing
    _batches: Batches | None = None
    _timed: tuple[int, float] = (0, 0.0)  # steps of the epoch that were taken here, and their seconds

    def run(self) -> Outcome:
        """Begin, or go on from the last checkpoint, to the end. Raises Interrupted or NasError."""
        learner, progress = self._start()
        self.watcher.begun(self.course, progress)
        while progress.epoch < self.course.config.epochs:
            if progress.step == self._end_of_epoch(progress):
                progress = self._test(learner, progress)
            else:
                learner, progress = self._train(learner, progress)
        return Outcome(self.program, learner.weights_for(self.program), self._score(learner))

    @cached_property
    def program(self) -> Emitted:
        """The network as it is given away."""
        return emit(self.course.graph, self.doc, standalone=True)

    @cached_property
    def _judged(self) -> nn.Module:
        """What is tested: the network as it is given away."""
        module = build(self.program).to(self.place.device)
        if self.place.channels_last:
            module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        return module

    def _start(self) -> tuple[Learner, Progress]:
        saved = self.checkpoints.last(self.course, self.place)
        if saved is not None:
            return saved
        seed_everything(self.course.config.seed, "weights")
        learner, progress = begin(self.course, self.place, self.start), Progress()
        self._save(learner, progress)
        return learner, progress

    def _end_of_epoch(self, progress: Progress) -> int:
        return (progress.epoch + 1) * self.course.steps_per_epoch

    def _train(self, learner: Learner, progress: Progress) -> tuple[Learner, Progress]:
        """Some steps, a look at the loss, and perhaps a checkpoint."""
        config, began = self.course.config, progress.step
        looks = (began + every - began % every for every in (config.log_steps, config.checkpoint_steps))
        until = min(self._end_of_epoch(progress), *looks)
        start = time.perf_counter()
        total = torch.tensor([progress.loss, progress.right], device=self.place.device)
        for step in range(began, until):
            if self.place.processes.world == 1 and self.stop():
                until = step
                break
            total = total + torch.stack(self._step(learner, progress, step))
        if until > began:
            loss, right = self.place.processes.mean(total).tolist()  # the one place where the device is waited for
            self._timed = self._timed[0] + until - began, self._timed[1] + time.perf_counter() - start
            latest = (loss - progress.loss) / (until - began)
            limit = EXPLODED * (progress.first_loss or math.inf)
            if not latest < limit or not _is_finite(learner):  # nan is not less than anything either
                return self._roll_back(progress, until, latest)
            first = progress.first_loss or max(latest, math.log(self.course.data.classes))  # not less than a guess has
            progress = replace(progress, step=until, loss=loss, right=right, first_loss=first)
            self.watcher.stepped(until, latest)
        if self.place.processes.any(self.stop()):
            self._save(learner, progress)
            raise Interrupted(progress.step)
        if until % config.checkpoint_steps == 0:
            self._save(learner, progress)
        return learner, progress

    def _step(self, learner: Learner, progress: Progress, step: int) -> tuple[Tensor, Tensor]:
        if self._batches is None:
            self._batches = self.course.batches(self.place, step)
        seed_everything(self.course.config.seed, "step", step, self.place.processes.rank)
        found = train_step(learner, next(self._batches), step, progress.slowdown)
        self.after_step(learner, self.course.rate(step) * progress.slowdown)
        return found

    def _test(self, learner: Learner, progress: Progress) -> Progress:
        """End an epoch: a test, a row of the log, a checkpoint."""
        steps, start, (taken, seconds) = self.course.steps_per_epoch, time.perf_counter(), self._timed
        found = self._score(learner)
        row = Row(
            epoch=progress.epoch + 1,
            step=progress.step,
            loss=progress.loss / steps,
            accuracy=progress.right / steps,
            test_loss=found.loss,
            test_accuracy=found.accuracy,
            rate=self.course.rate(progress.step - 1) * progress.slowdown,
            seconds=seconds / max(1, taken) * steps + time.perf_counter() - start,
        )
        self.watcher.tested(row)
        self._timed = 0, 0.0
        progress = replace(progress, epoch=row.epoch, loss=0.0, right=0.0)
        self._save(learner, progress)
        return progress

    def _score(self, learner: Learner) -> Score:
        self._judged.load_state_dict(learner.weights_for(self.program))
        return score(self._judged, self.course.test_batches(self.place), self.place)

    def _roll_back(self, progress: Progress, step: int, loss: float) -> tuple[Learner, Progress]:
        """Go back to the last checkpoint and on from there with smaller steps."""
        if progress.explosions == MOST_EXPLOSIONS:
            message = f"the loss exploded again, to {loss:.3g} at step {step}, after {MOST_EXPLOSIONS} tries"
            help = "lower `rate`, or set `clip` to less; the last checkpoint is from before"
            raise NasError([Diagnostic("NAS605", message, help=help)])
        saved = self.checkpoints.last(self.course, self.place)
        assert saved is not None, "one is written in the beginning"
        learner, before = saved
        before = replace(before, explosions=progress.explosions + 1, slowdown=progress.slowdown / 2)
        self.watcher.said(
            f"the loss went to {loss:.3g} at step {step}: back to step {before.step}, "
            f"learning rate at {before.slowdown:g} of what was asked for"
        )
        self._batches = None
        self._save(learner, before)
        self.watcher.begun(self.course, before)
        return learner, before

    def _save(self, learner: Learner, progress: Progress) -> None:
        if self.place.processes.first:
            self.checkpoints.save(learner, progress)


def _is_finite(learner: Learner) -> bool:
    """Whether all weights are numbers. The loss tells of them only a step later."""
    sizes = [parameter.detach().float().norm() for parameter in learner.module.parameters()]
    return bool(torch.stack(sizes).isfinite().all())
