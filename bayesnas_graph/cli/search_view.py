"""Watchers for the command line: what all runs show, and how a search is shown."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import typer

from bayesnas_graph.cli.console import labelled, say, show_diagnostics
from bayesnas_graph.cli.live import Screen
from bayesnas_graph.cli.outcome import outcome_lines, too_large, unmet
from bayesnas_graph.cli.running import resume_hint
from bayesnas_graph.cli.standing import Standing
from bayesnas_graph.cli.watch import Display, Lines
from bayesnas_graph.diagnostics import Diagnostic
from bayesnas_graph.passes import prune
from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.manifest import Kind
from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.runs.task import Task
from bayesnas_graph.runs.watching import Watcher
from bayesnas_graph.search.budget import Shrink, too_weak
from bayesnas_graph.search.events import SearchWatcher, StepRow
from bayesnas_graph.search.iteration import Iteration
from bayesnas_graph.search.learner import SearchLearner
from bayesnas_graph.search.loop import SearchOutcome
from bayesnas_graph.search.outline import outline_of
from bayesnas_graph.search.problem import Problem
from bayesnas_graph.search.progress import SearchProgress
from bayesnas_graph.search.run import SearchTask, result_of
from bayesnas_graph.search.strategies import strategy_of


@dataclass
class View(Watcher):
    """What is shown about any run."""

    verb: ClassVar[Kind]

    live: bool = False  # whether there is a terminal to draw on

    def warned(self, diagnostics: Sequence[Diagnostic]) -> None:
        show_diagnostics(diagnostics)

    def opened(self, task: Task[Any, Any], _device: Device) -> None:
        say(labelled("run", str(task.folder.path)))

    def interrupted(self, task: Task[Any, Any], step: int) -> None:
        typer.echo(f"stopped after step {step}; resume with")
        typer.echo(f"  {resume_hint(self.verb, task.folder.path, allow_python=task.subject.python_ops)}")


@dataclass
class SearchView(View, SearchWatcher):
    """Shows a search: on a terminal as a screen, elsewhere in lines."""

    verb: ClassVar[Kind] = "search"

    recipe: Path | None = None
    space: str = ""  # as the user named it
    display: Display | None = None
    standing: Standing | None = None

    def opened(self, task: SearchTask, device: Device) -> None:
        if self.recipe is not None:
            typer.echo(f"settings from {self.recipe.name}")
        super().opened(task, device)
        self.space = task.subject.name
        self.display = Screen(str(task.folder.path)) if self.live else Lines()

    def started(self, problem: Problem, learner: SearchLearner, progress: SearchProgress) -> None:
        outline = outline_of(self.space, problem, learner.device, progress)
        budgets = strategy_of(problem.config).shrink_budgets(problem, learner, progress)
        early = progress.step <= problem.warmup  # later, fewer steps are left than there were
        warning = too_weak(problem, learner, budgets) if early and budgets is not None else None
        so_far = problem.graph if progress.architecture is None else prune(problem.graph, progress.architecture.off)
        intensity = problem.config.lambda_w * progress.growth
        reach = None if budgets is None else Shrink.of(budgets)
        self.standing = Standing.start(outline, progress, cost(so_far), intensity, reach)
        self._display.started(self.standing, warning)

    def logged(self, row: StepRow) -> None:
        self.standing = self._standing.logged(row)
        self._display.logged(self.standing)

    def updated(self, found: Iteration, accuracy: float, seconds: float) -> None:
        before, self.standing = self._standing, self._standing.updated(found, accuracy, seconds)
        self._display.updated(before, self.standing)

    def concluded(self, progress: SearchProgress) -> None:
        self.standing = self._standing.concluded(progress)
        self._display.concluded(self.standing, progress.ended)

    def noted(self, text: str) -> None:
        self._display.noted(text)

    def closed(self) -> None:
        self._display.closed()

    def finished(self, task: SearchTask, outcome: SearchOutcome) -> None:
        """Show the architecture, choice by choice, and where it was written."""
        result = result_of(task.problem, outcome)
        missed = unmet(result, task.config.to_plain())
        for line in outcome_lines(self._standing.outline, outcome, missed):
            say(line)
        warning = too_large(result, missed, task.config)
        if warning is not None:
            show_diagnostics([warning])
        folder = task.folder
        written = folder.decision, folder.architecture, folder.result, folder.metrics, folder.updates, folder.history
        show_written(folder, *written, next_steps={"look at it": "report", "derive a network": "derive"})

    @property
    def _display(self) -> Display:
        assert self.display is not None, "a run is opened first"
        return self.display

    @property
    def _standing(self) -> Standing:
        assert self.standing is not None, "a search starts first"
        return self.standing


def show_written(folder: RunPaths, *paths: Path, next_steps: dict[str, str]) -> None:
    """Show which files were written, and the verbs to continue with."""
    for path in paths:
        say(f"wrote {path}")
    for purpose, verb in next_steps.items():
        say(f"{purpose} with")
        say(f"  bayesnas-graph {verb} {shlex.quote(str(folder.path))}")
