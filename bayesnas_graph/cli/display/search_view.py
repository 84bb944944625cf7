"""The display of a search: a screen on a terminal, lines elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bayesnas_graph.cli.console import say, show_diagnostics
from bayesnas_graph.cli.display.run_view import RunView, show_written
from bayesnas_graph.cli.display.search_lines import SearchDisplay, SearchLines, comparison_text, selection, trial_text
from bayesnas_graph.cli.display.search_screen import SearchScreen
from bayesnas_graph.cli.display.search_state import SearchState
from bayesnas_graph.cli.display.search_summary import outcome_lines, too_large
from bayesnas_graph.passes import prune
from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.manifest import Kind
from bayesnas_graph.runs.reading.comparison import Comparison
from bayesnas_graph.runs.reading.outline import unmet
from bayesnas_graph.search.budget import Shrink, too_weak
from bayesnas_graph.search.events import SearchWatcher, StepRow
from bayesnas_graph.search.finalists import Finalist, best_of
from bayesnas_graph.search.iteration import Iteration
from bayesnas_graph.search.learner import SearchLearner
from bayesnas_graph.search.loop import SearchOutcome
from bayesnas_graph.search.outline import outline_of
from bayesnas_graph.search.problem import Problem
from bayesnas_graph.search.progress import SearchProgress
from bayesnas_graph.search.run import SearchTask, result_of
from bayesnas_graph.search.strategies import strategy_of


@dataclass
class SearchView(RunView, SearchWatcher):
    """A watcher that shows a search."""

    verb: ClassVar[Kind] = "search"

    space: str = ""  # as the user named it
    display: SearchDisplay | None = None
    state: SearchState | None = None

    def opened(self, task: SearchTask, device: Device) -> None:
        super().opened(task, device)
        self.space = task.subject.name
        self.display = SearchScreen() if self.live else SearchLines()

    def started(self, problem: Problem, learner: SearchLearner, progress: SearchProgress) -> None:
        outline = outline_of(self.space, problem, learner.device, progress)
        budgets = strategy_of(problem.config).shrink_budgets(problem, learner, progress)
        early = progress.step <= problem.warmup  # later, part of the steps are already over
        warning = too_weak(problem, learner, budgets) if early and budgets is not None else None
        so_far = problem.graph if progress.architecture is None else prune(problem.graph, progress.architecture.off)
        intensity = problem.config.lambda_w * progress.growth
        reach = None if budgets is None else Shrink.of(budgets)
        self.state = SearchState.start(outline, progress, cost(so_far), intensity, reach, problem.objective.metric)
        self._display.started(self.state, warning)

    def logged(self, row: StepRow) -> None:
        self.state = self._state.logged(row)
        self._display.logged(self.state)

    def updated(self, iteration: Iteration, accuracy: float, seconds: float) -> None:
        before, self.state = self._state, self._state.updated(iteration, accuracy, seconds)
        self._display.updated(before, self.state)

    def concluded(self, progress: SearchProgress) -> None:
        self.state = self._state.concluded(progress)
        self._display.concluded(self.state, progress.ended)

    def compared(self, finalist: Finalist, number: int) -> None:
        self._display.compared(self._state, finalist, number)

    def selected(self, progress: SearchProgress) -> None:
        number = best_of(progress.finalists)
        self.state = self._state.selected(progress, progress.finalists[number])
        self._display.noted(selection(self.state, number + 1))

    def comparing(self, comparison: Comparison) -> None:
        self.state = self._state.comparing(comparison)
        if not comparison.is_done:
            self._display.happened(self.state, comparison_text(comparison))

    def trial_logged(self, number: int, row: StepRow) -> None:
        self.state = self._state.trial_logged(number, row)
        self._display.logged(self.state)

    def trial_ended(self, comparison: Comparison, number: int) -> None:
        self._display.happened(self._state, trial_text(comparison, number))

    def noted(self, text: str) -> None:
        self._display.noted(text)

    def closed(self) -> None:
        self._display.closed()

    def finished(self, task: SearchTask, outcome: SearchOutcome) -> None:
        """Show the architecture, choice by choice, and where it was written."""
        result = result_of(task.problem, outcome)
        missed = unmet(result, task.config.to_plain())
        for line in outcome_lines(self._state.outline, outcome, missed, task.problem.objective.metric):
            say(line)
        warning = too_large(result, missed, task.config)
        if warning is not None:
            show_diagnostics([warning])
        folder = task.folder
        written = [folder.decision, folder.architecture, folder.result, folder.metrics, folder.updates, folder.history]
        written += [folder.finalists] if folder.finalists.exists() else []
        written += [folder.comparison] if outcome.comparison is not None else []
        show_written(task, *written, next_steps={"view it": "report", "derive a network": "derive"})

    @property
    def _display(self) -> SearchDisplay:
        assert self.display is not None, "a run is opened first"
        return self.display

    @property
    def _state(self) -> SearchState:
        assert self.state is not None, "a search starts first"
        return self.state
