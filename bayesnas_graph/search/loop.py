"""The search: train, measure, update, prune, repeat."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import torch
from torch import Tensor

from bayesnas_graph.bayes import Decision
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes import prune
from bayesnas_graph.passes.analysis import Cost, cost
from bayesnas_graph.runs.loop import Look, Loop
from bayesnas_graph.runs.reading.comparison import Comparison
from bayesnas_graph.runs.schedule import rate
from bayesnas_graph.runs.seeds import generator, seed_everything
from bayesnas_graph.search.budget import LARGEST_GROWTH
from bayesnas_graph.search.events import SearchWatcher, StepRow
from bayesnas_graph.search.finalists import Finalist, best_of, chosen, finalist_graph, propose
from bayesnas_graph.search.iteration import Iteration
from bayesnas_graph.search.learner import SearchLearner, add_weights, new_learner, weights, without
from bayesnas_graph.search.measure import loss_and_metric, metric
from bayesnas_graph.search.possible import is_possible
from bayesnas_graph.search.problem import Batches, Problem
from bayesnas_graph.search.progress import SearchProgress
from bayesnas_graph.search.step import train_step
from bayesnas_graph.search.strategies import strategy_of
from bayesnas_graph.search.strategy import Rates, Strategy


@dataclass(frozen=True, eq=False)
class SearchOutcome:
    """The result of a search."""

    decision: Decision
    graph: Graph  # with the gates that are kept
    cost: Cost
    accuracy: float  # or another metric: on the test set, with the weights of the search
    why: str  # reason why the search ended
    learner: SearchLearner
    steps: int  # of training
    comparison: Comparison | None = None  # with random architectures


@dataclass
class Search(Loop[Problem, SearchLearner, SearchProgress, SearchWatcher]):
    """A search in progress."""

    slower: ClassVar[str] = "learning rates"
    advice: ClassVar[str] = "lower `rate` or `gate_rate`, or reduce `clip`"

    _batches: Batches | None = None
    _held_out: Batches | None = None

    @property
    def strategy(self) -> Strategy:
        """The strategy of the settings."""
        return strategy_of(self.problem.config)

    def run(self) -> SearchOutcome:
        """Run from the start or the last checkpoint to the end. Raises Interrupted or NasError."""
        learner, progress = self.start()
        if not self.strategy.beliefs <= learner.beliefs.keys() and not progress.ended:
            learner = self._believe(learner, progress)
        while not progress.ended or progress.trying is not None or progress.step < progress.last_step:
            if progress.step == self.problem.warmup and not progress.measured:
                learner = self.strategy.warmed_up(learner, self.problem.measured_batches(self.device, 0))
                progress = replace(progress, measured=True)
            elif progress.trying is not None and progress.step == self.end_of_phase(progress):
                learner, progress = self._compare(learner, progress)
            elif progress.step == self.end_of_phase(progress) and progress.measured:
                learner, progress = self._iterate(learner, progress)
            else:
                learner, progress = self.train(learner, progress)
        self.save(learner, progress)  # the weights are exported from it
        return self._outcome(learner, progress)

    def initial(self) -> tuple[SearchLearner, SearchProgress]:
        learner, progress = new_learner(self.problem.graph, self.problem.config, self.device), SearchProgress()
        if learner.graph.gates:
            return self.strategy.start(learner, next(self.problem.batches(self.device, 0))), progress
        progress = replace(progress, measured=True, ended="there was nothing to decide", architecture=Decision(()))
        return learner, progress.concluded(self.problem.finish if weights(learner.supernet) else 0)

    def _believe(self, learner: SearchLearner, progress: SearchProgress) -> SearchLearner:
        """Return a learner from the checkpoint of an older version, with gates and beliefs at their start values."""
        name = self.problem.config.strategy
        self.watcher.noted(f"an older version began this search: what strategy `{name}` learns is learnt from here on")
        learner = self.strategy.start(learner, next(self.problem.batches(self.device, progress.step)))
        self.save(learner, progress)
        return learner

    def end_of_phase(self, progress: SearchProgress) -> int:
        """Return the step that ends the warm-up, the iteration, the training of a finalist, or the search."""
        if progress.trying is not None:
            return self._finalist_start(progress) + self.problem.finalist_steps
        if progress.ended:
            return progress.last_step
        if progress.step < self.problem.warmup:
            return self.problem.warmup
        return self.problem.warmup + (progress.iteration + 1) * self.problem.steps

    def is_possible(self, progress: SearchProgress) -> bool:
        return is_possible(progress, self.problem) and super().is_possible(progress)

    def reset_batches(self) -> None:
        self._batches = None

    def take_step(self, learner: SearchLearner, progress: SearchProgress, step: int) -> tuple[Tensor, Tensor]:
        config = self.problem.config
        if self._batches is None:
            if progress.trying is None:
                self._batches = self.problem.batches(self.device, step)
            else:  # the same batches for all finalists
                self._batches = self.problem.of_finalists.batches(self.device, step - self._finalist_start(progress))
            moved = max(0, step - self.problem.warmup)  # no held-out batch is used before the gates move
            self._held_out = self.problem.held_out_batches(self.device, moved)
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
            assert self._held_out is not None, "created together with the other batches"
            held_out = next(self._held_out)
        return train_step(learner, next(self._batches), rates, held_out)

    def _rate(self, progress: SearchProgress, step: int) -> float:
        """Return the learning rate of the weights. Once the architecture is found, it falls again from half."""
        config, problem = self.problem.config, self.problem
        if progress.trying is not None:
            passed = step - self._finalist_start(progress)
            return rate(problem.of_finalists.config, passed, problem.finalist_steps) * progress.slowdown
        if progress.ended:
            return rate(config, step - progress.last_step + problem.finish, problem.finish) * progress.slowdown / 2
        return rate(config, step, problem.total_steps) * progress.slowdown

    def look(
        self, learner: SearchLearner, progress: SearchProgress, until: int, total: Tensor, seconds: float
    ) -> Look[SearchProgress]:
        steps = until - progress.step
        # The only place that waits for the device.
        loss, *terms = self.device.processes.mean(total / steps).tolist()
        intensities = self.problem.config.grown(progress.growth)
        penalised = learner.switches.groups and progress.trying is None and not progress.finalists
        row = StepRow(
            step=until,
            iteration=progress.iteration + 1 if until > self.problem.warmup else 0,
            loss=loss,
            accuracy=learner.objective.value(terms),
            penalty=self.strategy.penalty(learner, intensities) if penalised else 0.0,
            rate=self._rate(progress, until - 1),
            seconds=seconds / steps,
            alive=self._open(learner, progress),
        )
        return Look(loss, progress, partial(self.watcher.logged, row))

    def _iterate(self, learner: SearchLearner, progress: SearchProgress) -> tuple[SearchLearner, SearchProgress]:
        number, jumps = progress.iteration + 1, self.strategy.jumps
        before = metric(learner, self.problem.measured_batches(self.device, number)) if jumps else 0.0
        start = time.perf_counter()
        batches = self.problem.measured_batches(self.device, number)
        learner, progress, found = self.strategy.iterate(self.problem, learner, progress, batches)
        took = time.perf_counter() - start
        held_out = before if jumps else metric(learner, self.problem.measured_batches(self.device, number))
        self.watcher.updated(found, held_out, took)
        if found.reopened:
            self.watcher.noted(f"stays open, because nothing else leads to the output: {', '.join(found.reopened)}")
        on_target = self.problem.has_target and self.problem.on_target(found.graph)
        if self.strategy.decides_early and self.problem.has_target and not on_target:
            growth = min(progress.growth * self.problem.config.lambda_growth, LARGEST_GROWTH)
            progress = replace(progress, growth=growth)
        progress = replace(progress, ended=self._why_ended(learner, progress, found, on_target))
        if progress.ended and self.problem.finalists:
            off = tuple(sorted(found.architecture.off))
            learner, progress = self._finalist(off), replace(progress, decided_at=progress.step, trying=off)
            self.watcher.concluded(progress)
        elif progress.ended:
            learner = without(learner, found.architecture.off)
            self.strategy.conclude(learner)
            progress = progress.concluded(self.problem.finish if weights(learner.supernet) else 0)
            self.watcher.concluded(progress)
        self.save(learner, progress)
        return learner, progress

    def _open(self, learner: SearchLearner, progress: SearchProgress) -> int:
        """Return the number of switches that are open."""
        if progress.trying is None:
            return len(learner.switches.groups)
        return len(self.problem.graph.switches) - len(progress.trying)

    def _finalist_start(self, progress: SearchProgress) -> int:
        """Return the step at which the training of the current finalist has begun."""
        return progress.decided_at + len(progress.finalists) * self.problem.finalist_steps

    def _finalist(self, off: Iterable[str]) -> SearchLearner:
        """Return a learner for an architecture without switches, with new weights."""
        seed_everything(self.problem.config.seed, "finalist")
        self.reset_batches()
        return new_learner(finalist_graph(self.problem.graph, off), self.problem.of_finalists.config, self.device)

    def _compare(self, learner: SearchLearner, progress: SearchProgress) -> tuple[SearchLearner, SearchProgress]:
        """Measure a finalist. Return the next one, or the best if it was the last."""
        assert progress.trying is not None, "a finalist was trained"
        assert progress.architecture is not None, "a search ends after an update"
        problem, decided = self.problem, progress.architecture
        size = cost(prune(problem.graph, frozenset(progress.trying)))
        loss, found_metric = loss_and_metric(learner, problem.validation_batches(self.device))
        found = Finalist(progress.trying, size.parameters, size.flops, loss, found_metric)
        finalists = (*progress.finalists, found)
        is_best = best_of(finalists) == len(finalists) - 1
        best = {name: value.clone() for name, value in learner.module.state_dict().items()} if is_best else learner.best
        progress = replace(progress, finalists=finalists, trying=None)
        self.watcher.compared(found, len(finalists))
        if len(finalists) < problem.finalists:
            progress = replace(progress, trying=self._proposal(progress))
        if progress.trying is not None:
            learner = replace(self._finalist(progress.trying), best=best)
        else:
            winner = finalists[best_of(finalists)]
            learner = new_learner(prune(problem.graph, frozenset(winner.off)), problem.config, self.device)
            add_weights(learner, best, finalist_graph(problem.graph, winner.off))
            self.reset_batches()
            progress = replace(progress, architecture=chosen(decided, winner))
            progress = progress.concluded(problem.finish if weights(learner.supernet) else 0)
            self.watcher.selected(progress)
        self.save(learner, progress)
        return learner, progress

    def _proposal(self, progress: SearchProgress) -> tuple[str, ...] | None:
        """Return the switches that the next finalist closes, if there is another architecture to try."""
        config, decided = self.problem.config, progress.architecture
        assert decided is not None, "a search ends after an update"
        odds = {verdict.name: self.strategy.odds(config, verdict) for verdict in decided.verdicts}
        numbers = generator(torch.device("cpu"), config.seed, "finalist", len(progress.finalists))
        return propose(self.problem.graph, decided, progress.finalists, odds, self.problem.fits, numbers)

    def _why_ended(self, learner: SearchLearner, progress: SearchProgress, found: Iteration, on_target: bool) -> str:
        config, problem = self.problem.config, self.problem
        early = self.strategy.decides_early  # otherwise the architecture is not decided before the last iteration
        if early and on_target:
            return "the architecture has the size asked for"
        if early and config.stop_at_budget and problem.budgets and not problem.unmet(found.cost):
            return "the architecture meets what the network requires"
        if early and config.stable and progress.unchanged >= config.stable and not problem.has_target:
            return f"the architecture has not changed for {progress.unchanged} iterations"
        if not learner.graph.gates:
            return "no switch is left to decide on"
        if progress.iteration == config.iterations:
            return "all iterations are done"
        return ""

    def _outcome(self, learner: SearchLearner, progress: SearchProgress) -> SearchOutcome:
        assert progress.architecture is not None, "a search ends after an update"
        found = metric(learner, self.problem.test_batches(self.device))
        size = cost(learner.graph)
        return SearchOutcome(progress.architecture, learner.graph, size, found, progress.ended, learner, progress.step)
