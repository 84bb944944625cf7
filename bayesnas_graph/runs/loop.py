"""The training loop of all runs: steps, checkpoints, interruption, and rolling back when the loss explodes."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import torch
from pydantic import ConfigDict
from torch import Tensor, nn

from bayesnas_graph.data import Data
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.objectives import Objective
from bayesnas_graph.runs.seeds import seed_everything
from bayesnas_graph.runs.watching import Watcher

EXPLOSION = "NAS605"  # the code of a loss that explodes too often
EXPLODED = 5.0  # times the first loss, or the loss of guessing
MOST_EXPLOSIONS = 3


class Interrupted(Exception):
    """The run was asked to stop, and has saved its state."""

    def __init__(self, step: int) -> None:
        super().__init__(f"interrupted after step {step}")
        self.step = step


@dataclass(frozen=True)
class Progress:
    """The progress of a training loop."""

    __pydantic_config__ = ConfigDict(allow_inf_nan=False, extra="forbid")

    step: int = 0  # steps taken so far
    slowdown: float = 1.0  # factor on learning rates, after the loss has exploded
    explosions: int = 0
    first_loss: float | None = None  # the reference for explosions


class LoopProblem(Protocol):
    """The problem to train on."""

    @property
    def config(self) -> Any:
        """The settings."""

    @property
    def data(self) -> Data:
        """The data."""

    @property
    def objective(self) -> Objective:
        """What the network is trained for."""


class LoopLearner(Protocol):
    """The network being trained."""

    @property
    def module(self) -> nn.Module:
        """The module with all parameters."""


B = TypeVar("B", bound=LoopProblem)
L = TypeVar("L", bound=LoopLearner)
P = TypeVar("P", bound=Progress)
W = TypeVar("W", bound=Watcher)


class LoopCheckpoints(Protocol[L, P]):
    """The store of saved states."""

    def save(self, learner: L, progress: P) -> object:
        """Save a state."""

    def last(
        self, problem: Any, device: Device, is_possible: Callable[[P], bool], tell: Callable[[str], None]
    ) -> tuple[L, P] | None:
        """Return the newest state that can be read and is possible, or None; tell about newer ones."""


@dataclass(frozen=True, eq=False)
class Look(Generic[P]):
    """The loss of the last few steps, the progress after them, and a callback to notify watchers."""

    loss: float
    progress: P
    tell: Callable[[], None]


@dataclass
class Loop(ABC, Generic[B, L, P, W]):
    """A training loop. Its next action follows from the progress alone, so it can stop after any step."""

    problem: B
    device: Device
    checkpoints: LoopCheckpoints[L, P]
    watcher: W
    stop: Callable[[], bool] = lambda: False  # asked between steps

    slower: ClassVar[str]  # what to call the learning rates in messages
    advice: ClassVar[str]  # how to prevent explosions

    @abstractmethod
    def initial(self) -> tuple[L, P]:
        """Return the state at the start."""

    @abstractmethod
    def end_of_phase(self, progress: P) -> int:
        """Return the step at which this phase of training ends."""

    @abstractmethod
    def take_step(self, learner: L, progress: P, step: int) -> tuple[Tensor, Tensor]:
        """Take a step; return its loss and the terms of its metric, on the device."""

    @abstractmethod
    def look(self, learner: L, progress: P, until: int, total: Tensor, seconds: float) -> Look[P]:
        """Return the loss and progress after some steps, given the sums of losses and of the terms of the metric."""

    def sums(self, _progress: P) -> tuple[float, ...]:
        """Return the initial sums of losses and of the terms of the metric."""
        return (0.0,) * (1 + self.problem.objective.size)

    def reset_batches(self) -> None:
        """Discard the position in the data."""

    def next_look(self, progress: P) -> int:
        """Return the step at which the loss is next read from the device."""
        every: int = self.problem.config.log_steps
        return min(self.end_of_phase(progress), progress.step + every - progress.step % every)

    def is_possible(self, progress: P) -> bool:
        """Return whether this run can have this progress. A checkpoint may hold any numbers."""
        in_phase = 0 <= progress.step <= self.end_of_phase(progress)
        return in_phase and 0 <= progress.explosions <= MOST_EXPLOSIONS and 0 < progress.slowdown <= 1

    def start(self) -> tuple[L, P]:
        """Return the last checkpoint, or save and return the initial state. Watchers are told."""
        notes: list[str] = []
        saved = self.checkpoints.last(self.problem, self.device, self.is_possible, notes.append)
        if saved is None:
            seed_everything(self.problem.config.seed, "weights")
            saved = self.initial()
            self.save(*saved)
        self.watcher.started(self.problem, *saved)
        for note in notes:
            self.watcher.noted(note)
        return saved

    def train(self, learner: L, progress: P) -> tuple[L, P]:
        """Take some steps, check the loss, and save a checkpoint when one is due."""
        config, began, processes = self.problem.config, progress.step, self.device.processes
        until = self.next_look(progress)
        start = time.perf_counter()
        total = torch.tensor(self.sums(progress), device=self.device.torch_device)
        for step in range(began, until):
            if processes.world == 1 and self.stop():
                until = step
                break
            seed_everything(config.seed, "step", step, processes.rank)
            loss, terms = self.take_step(learner, progress, step)
            total = total + torch.cat([loss.view(1), terms])
        if until > began:
            look = self.look(learner, progress, until, total, time.perf_counter() - start)
            limit = EXPLODED * (progress.first_loss or math.inf)
            if not look.loss < limit or not _is_finite(learner.module):  # also true for nan
                return self._roll_back(progress, until, look.loss)
            look.tell()
            first = progress.first_loss or max(look.loss, self.problem.objective.loss_of_guessing)
            progress = replace(look.progress, step=until, first_loss=first)
        if processes.any(self.stop()):
            self.save(learner, progress)
            raise Interrupted(progress.step)
        if until // config.checkpoint_steps > began // config.checkpoint_steps:
            self.save(learner, progress)
        return learner, progress

    def _roll_back(self, progress: P, step: int, loss: float) -> tuple[L, P]:
        """Return to the last checkpoint, with half the learning rates."""
        if progress.explosions == MOST_EXPLOSIONS:
            message = f"the loss exploded again, to {loss:.3g} at step {step}, after {MOST_EXPLOSIONS} tries"
            help = f"{self.advice}; the last checkpoint is from before the explosion"
            raise NasError([Diagnostic(EXPLOSION, message, help=help)])
        saved = self.checkpoints.last(self.problem, self.device, self.is_possible, self.watcher.noted)
        assert saved is not None, "a checkpoint is saved at the start"
        learner, before = saved
        before = replace(before, explosions=progress.explosions + 1, slowdown=progress.slowdown / 2)
        self.watcher.noted(
            f"the loss went to {loss:.3g} at step {step}: back to step {before.step}, "
            f"{self.slower} at {before.slowdown:g} of the setting"
        )
        self.reset_batches()
        self.save(learner, before)
        self.watcher.started(self.problem, learner, before)
        return learner, before

    def save(self, learner: L, progress: P) -> None:
        """Save a checkpoint, in the first process."""
        if self.device.processes.first:
            self.checkpoints.save(learner, progress)


def _is_finite(module: nn.Module) -> bool:
    """Return whether all parameters are finite. The loss reveals it only a step later."""
    norms = [parameter.detach().float().norm() for parameter in module.parameters()]
    return bool(torch.stack(norms).isfinite().all())
