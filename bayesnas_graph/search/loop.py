"""The search: train, measure, update, prune, and again.

What is to be done next follows from how far the search has come, so that it can stop after any step and go on from
there as if nothing had happened.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from bayesnas_graph.bayes import Decision
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.analysis import Cost, cost
from bayesnas_graph.runs.device import Place
from bayesnas_graph.runs.schedule import rate
from bayesnas_graph.runs.seeds import seed_everything
from bayesnas_graph.search.budget import LARGEST_GROWTH
from bayesnas_graph.search.checkpoint import Checkpoints
from bayesnas_graph.search.events import Row, Watcher
from bayesnas_graph.search.iteration import Iteration
from bayesnas_graph.search.learner import Learner, begin, weights, without
from bayesnas_graph.search.measure import accuracy
from bayesnas_graph.search.problem import Batches, Problem
from bayesnas_graph.search.progress import Progress
from bayesnas_graph.search.strategies import strategy_of
from bayesnas_graph.search.strategy import Rates, Strategy
from bayesnas_graph.search.train import train_step

EXPLODED = 5.0  # times the loss in the beginning, or that of a guess
MOST_EXPLOSIONS = 3


class Interrupted(Exception):
    """The search was asked to stop, and has saved its state."""

    def __init__(self, step: int) -> None:
        super().__init__(f"interrupted after step {step}")
        self.step = step


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a search has found."""

    decision: Decision
    graph: Graph  # with the gates of what is left
    cost: Cost
    accuracy: float  # on the test set, with the weights of the search
    why: str  # it ended
    learner: Learner


@dataclass
class Search:
    """A search that is going on."""

    problem: Problem
    place: Place
    checkpoints: Checkpoints
    watcher: Watcher
    stop: Callable[[], bool] = lambda: False  # asked between two steps
    _batches: Batches | None = None
    _held_out: Batches | None = None

    @property
    def strategy(self) -> Strategy:
        """How gates move, and what becomes of the switches."""
        return strategy_of(self.problem.config)

    def run(self) -> Outcome:
        """Begin, or go on from the last checkpoint, to the end. Raises Interrupted or NasError."""
        learner, progress = self._start()
        self.watcher.begun(self.problem, learner, progress)
        while not progress.ended or progress.step < progress.last_step:
            if progress.step == self.problem.warmup and not progress.measured:
                learner = self.strategy.warmed_up(learner, self.problem.measured_batches(self.place, 0))
                progress = replace(progress, measured=True)
            elif progress.step == self._end_of_phase(progress) and progress.measured:
                learner, progress = self._iterate(learner, progress)
            else:
                learner, progress = self._train(learner, progress)
        self._save(learner, progress)  # from which the weights are exported
        return self._outcome(learner, progress)

    def _start(self) -> tuple[Learner, Progress]:
        saved = self.checkpoints.last(self.problem, self.place)
        if saved is not None:
            return saved
        seed_everything(self.problem.config.seed, "weights")
        learner, progress = begin(self.problem.graph, self.problem.config, self.place), Progress()
        if not learner.graph.gates:
            progress = replace(progress, measured=True, ended="there was nothing to decide", architecture=Decision(()))
            progress = progress.concluded(self.problem.finish if weights(learner.supernet) else 0)
        else:
            learner = self.strategy.start(learner, next(self.problem.batches(self.place, 0)))
        self._save(learner, progress)
        return learner, progress

    def _end_of_phase(self, progress: Progress) -> int:
        """The step at which training stops for what comes between: the end of warm-up, of an iteration, or of all."""
        if progress.ended:
            return progress.last_step
        if progress.step < self.problem.warmup:
            return self.problem.warmup
        return self.problem.warmup + (progress.iteration + 1) * self.problem.steps

    def _train(self, learner: Learner, progress: Progress) -> tuple[Learner, Progress]:
        """Some steps, a row of the log, and perhaps a checkpoint."""
        config, began = self.problem.config, progress.step
        until = min(self._end_of_phase(progress), began + config.log_steps - began % config.log_steps)
        start = time.perf_counter()
        total = torch.zeros(2, device=self.place.device)
        for step in range(began, until):
            if self.place.processes.world == 1 and self.stop():
                until = step
                break
            total = total + torch.stack(self._step(learner, progress, step))
        if until > began:
            row = self._row(learner, progress, until, total / (until - began), time.perf_counter() - start)
            limit = EXPLODED * (progress.first_loss or math.inf)
            if not row.loss < limit or not _is_finite(learner):  # nan is not less than anything either
                return self._roll_back(progress, row)
            self.watcher.logged(row)
            first = progress.first_loss or max(row.loss, math.log(self.problem.data.classes))  # of a guess
            progress = replace(progress, step=until, first_loss=first)
        if self.place.processes.any(self.stop()):
            self._save(learner, progress)
            raise Interrupted(progress.step)
        if until // config.checkpoint_steps > began // config.checkpoint_steps:
            self._save(learner, progress)
        return learner, progress

    def _step(self, learner: Learner, progress: Progress, step: int) -> tuple[Tensor, Tensor]:
        config = self.problem.config
        if self._batches is None:
            self._batches = self.problem.batches(self.place, step)
            moved = max(0, step - self.problem.warmup)  # for none is taken before the gates move
            self._held_out = self.problem.held_out_batches(self.place, moved)
        seed_everything(config.seed, "step", step, self.place.processes.rank)
        moving = step >= self.problem.warmup and not progress.ended
        rates = Rates(
            weights=self._rate(progress, step),
            gates=config.gate_rate * progress.slowdown if moving else 0.0,
            intensities=config.grown(progress.growth),
            slowdown=progress.slowdown,
            step=step,
            passed=min(1.0, step / max(1, self.problem.total_steps)),
            settled=bool(progress.ended),
        )
        held_out = None
        if moving and (config.gates_on or self.strategy.gates_on) == "held_out":
            assert self._held_out is not None, "made together with the others"
            held_out = next(self._held_out)
        return train_step(learner, next(self._batches), rates, held_out)

    def _rate(self, progress: Progress, step: int) -> float:
        """The learning rate of the weights. In the end it falls once more, from half its height."""
        config, problem = self.problem.config, self.problem
        if progress.ended:
            return rate(config, step - progress.last_step + problem.finish, problem.finish) * progress.slowdown / 2
        return rate(config, step, problem.total_steps) * progress.slowdown

    def _row(self, learner: Learner, progress: Progress, step: int, mean: Tensor, seconds: float) -> Row:
        switches = learner.switches
        loss, right = self.place.processes.mean(mean).tolist()  # the one place where the device is waited for
        return Row(
            step=step,
            iteration=progress.iteration + 1 if step > self.problem.warmup else 0,
            loss=loss,
            accuracy=right,
            penalty=self._penalty(learner, progress),
            rate=self._rate(progress, step - 1),
            seconds=seconds / (step - progress.step),
            alive=len(switches.groups),
        )

    def _penalty(self, learner: Learner, progress: Progress) -> float:
        """What is added to the loss for the gates, if there are any."""
        intensities = self.problem.config.grown(progress.growth)
        return self.strategy.penalty(learner, intensities) if learner.switches.groups else 0.0

    def _roll_back(self, progress: Progress, row: Row) -> tuple[Learner, Progress]:
        """Go back to the last checkpoint and on from there with smaller steps."""
        if progress.explosions == MOST_EXPLOSIONS:
            message = f"the loss exploded again, to {row.loss:.3g} at step {row.step}, after {MOST_EXPLOSIONS} tries"
            help = "lower `rate` or `gate_rate`, or set `clip` to less; the last checkpoint is from before"
            raise NasError([Diagnostic("NAS605", message, help=help)])
        saved = self.checkpoints.last(self.problem, self.place)
        assert saved is not None, "one is written in the beginning"
        learner, before = saved
        before = replace(before, explosions=progress.explosions + 1, slowdown=progress.slowdown / 2)
        self.watcher.said(
            f"the loss went to {row.loss:.3g} at step {row.step}: back to step {before.step}, "
            f"learning rates at {before.slowdown:g} of what was asked for"
        )
        self._batches = None
        self._save(learner, before)
        self.watcher.begun(self.problem, learner, before)
        return learner, before

    def _iterate(self, learner: Learner, progress: Progress) -> tuple[Learner, Progress]:
        start = time.perf_counter()
        batches = self.problem.measured_batches(self.place, progress.iteration + 1)
        learner, progress, found = self.strategy.iterate(self.problem, learner, progress, batches)
        took = time.perf_counter() - start
        right = accuracy(learner, self.problem.measured_batches(self.place, progress.iteration))
        self.watcher.iterated(found, right, took)
        if found.reopened:
            self.watcher.said(f"stays open, for nothing else leads to the output: {', '.join(found.reopened)}")
        on_target = self.problem.has_target and self.problem.on_target(found.graph)
        if self.problem.has_target and not on_target:
            growth = min(progress.growth * self.problem.config.lambda_growth, LARGEST_GROWTH)
            progress = replace(progress, growth=growth)
        progress = replace(progress, ended=self._why_ended(progress, found, on_target))
        if progress.ended:
            learner = without(learner, found.architecture.off)
            self.strategy.conclude(learner)
            progress = progress.concluded(self.problem.finish if weights(learner.supernet) else 0)
            self.watcher.concluded(progress)
        self._save(learner, progress)
        return learner, progress

    def _why_ended(self, progress: Progress, found: Iteration, on_target: bool) -> str:
        config, problem = self.problem.config, self.problem
        early = self.strategy.closes  # where nothing is closed on the way, what would be derived is not yet decided
        if early and on_target:
            return "the architecture has the size asked for"
        if early and config.stop_at_budget and problem.budgets and not problem.unmet(found.cost):
            return "the architecture meets what the network requires"
        if config.stable and progress.unchanged >= config.stable and not problem.has_target:
            return f"the architecture has not changed for {progress.unchanged} iterations"
        if not any(found.graph.gates):
            return "no switch is left to decide on"
        if progress.iteration == config.iterations:
            return "all iterations are done"
        return ""

    def _outcome(self, learner: Learner, progress: Progress) -> Outcome:
        assert progress.architecture is not None, "a search ends after an update"
        right = accuracy(learner, self.problem.test_batches(self.place))
        return Outcome(progress.architecture, learner.graph, cost(learner.graph), right, progress.ended, learner)

    def _save(self, learner: Learner, progress: Progress) -> None:
        if self.place.processes.first:
            self.checkpoints.save(learner, progress)


def _is_finite(learner: Learner) -> bool:
    """Whether all weights and gates are numbers. The loss tells of them only a step later."""
    sizes = [parameter.detach().float().norm() for parameter in learner.supernet.module.parameters()]
    return bool(torch.stack(sizes).isfinite().all())
