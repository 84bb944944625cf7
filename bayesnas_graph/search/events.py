"""The events of a search, and its tables: a row per log interval, per update, and per switch and update."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace

from bayesnas_graph.bayes import Verdict
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runs.reading.comparison import Comparison
from bayesnas_graph.runs.reading.outline import Outline
from bayesnas_graph.runs.tables import append, cell, cut
from bayesnas_graph.runs.watching import Watcher
from bayesnas_graph.search.finalists import Finalist
from bayesnas_graph.search.iteration import Iteration
from bayesnas_graph.search.learner import SearchLearner
from bayesnas_graph.search.outline import outline_of
from bayesnas_graph.search.problem import Problem
from bayesnas_graph.search.progress import SearchProgress

__all__ = ["SearchWatcher", "StepRow"]


@dataclass(frozen=True, slots=True)
class StepRow:
    """Some steps of training, as a row of `metrics.csv`."""

    step: int  # the last of them, counted from 1
    iteration: int  # 0 during warm-up
    loss: float  # mean over these steps
    accuracy: float  # or another metric: over these steps, on training samples
    penalty: float
    rate: float
    seconds: float  # per step
    alive: int  # switches that are still open


class SearchWatcher(Watcher):
    """Base class of watchers of a search."""

    def logged(self, row: StepRow) -> None:
        """Some steps were taken."""

    def updated(self, found: Iteration, accuracy: float, seconds: float) -> None:
        """The switches were updated, in so many seconds; `accuracy`, or another metric, is on held-out samples."""

    def concluded(self, progress: SearchProgress) -> None:
        """The architecture is decided; from now on finalists are compared, or its weights trained."""

    def compared(self, finalist: Finalist, number: int) -> None:
        """A finalist was trained and measured."""

    def selected(self, progress: SearchProgress) -> None:
        """The best finalist is the architecture; only its weights are trained from now on."""

    def comparing(self, comparison: Comparison) -> None:
        """The search is over, and architectures are trained to compare them with the one that was found."""

    def trial_logged(self, number: int, row: StepRow) -> None:
        """Some steps were taken to train the architecture of this number, counted from 0."""

    def trial_ended(self, comparison: Comparison, number: int) -> None:
        """The architecture of this number was trained and measured."""


METRICS = tuple(field.name for field in fields(StepRow))
UPDATES = ("iteration", "accuracy", "parameters", "flops", "alive", "lambda", "seconds")
SCORES = ("worth", "error", "relevance", "removal", "magnitude")
FINALISTS = ("finalist", "loss", "accuracy", "parameters", "flops", "off")
HISTORY = ("iteration", "switch", "keep", "why", "gamma", "s", "omega", "entropy", "w", "h", *SCORES)


@dataclass
class SearchRecorder(SearchWatcher):
    """Writes `metrics.csv`, `updates.csv`, `switches.csv` and `outline.json`.

    When a search resumes, rows after its checkpoint are removed, because they are written again.
    """

    folder: RunFolder
    space: str  # as the user named it
    _outline: Outline | None = None
    _finalists: tuple[str, ...] = FINALISTS

    def started(self, problem: Problem, learner: SearchLearner, progress: SearchProgress) -> None:
        self._finalists = problem.objective.metric.columns(FINALISTS)
        cut(self.folder.metrics, problem.objective.metric.columns(METRICS), "step", progress.step)
        cut(self.folder.updates, problem.objective.metric.columns(UPDATES), "iteration", progress.iteration)
        cut(self.folder.history, HISTORY, "iteration", progress.iteration)
        if progress.ended and problem.finalists:
            cut(self.folder.finalists, self._finalists, "finalist", len(progress.finalists))
        self._write(outline_of(self.space, problem, learner.device, progress))

    def logged(self, row: StepRow) -> None:
        append(self.folder.metrics, [[cell(value) for value in asdict(row).values()]])

    def updated(self, found: Iteration, accuracy: float, seconds: float) -> None:
        alive = sum(verdict.keep for verdict in found.decision.verdicts)
        numbers = accuracy, found.cost.parameters, found.cost.flops, alive, found.intensities[0], seconds
        append(self.folder.updates, [[str(found.number), *map(cell, numbers)]])
        append(self.folder.history, (_of_switch(found.number, verdict) for verdict in found.decision.verdicts))

    def concluded(self, progress: SearchProgress) -> None:
        assert self._outline is not None, "a search starts before it ends"
        self._write(replace(self._outline, iterations=progress.iteration))
        if progress.trying is not None:
            cut(self.folder.finalists, self._finalists, "finalist", len(progress.finalists))

    def compared(self, finalist: Finalist, number: int) -> None:
        numbers = map(cell, (finalist.loss, finalist.accuracy, finalist.parameters, finalist.flops))
        append(self.folder.finalists, [[str(number), *numbers, " ".join(finalist.off)]])

    def selected(self, progress: SearchProgress) -> None:
        assert self._outline is not None, "a search starts before it ends"
        self._write(replace(self._outline, finalists=len(progress.finalists)))

    def comparing(self, comparison: Comparison) -> None:
        assert self._outline is not None, "a search starts before it ends"
        self._write(replace(self._outline, compared=len(comparison.networks)))

    def _write(self, outline: Outline) -> None:
        self._outline = outline
        self.folder.write(self.folder.outline, outline.to_json().decode())


def _of_switch(iteration: int, v: Verdict) -> list[str]:
    """Return a row of the history."""
    numbers = map(cell, (v.gamma, v.s, v.omega, v.entropy))
    scores = (cell(getattr(v, name)) for name in SCORES)
    return [str(iteration), v.name, str(int(v.keep)), v.why, *numbers, _cells(v.w), _cells(v.h), *scores]


def _cells(values: Iterable[float]) -> str:
    return " ".join(map(cell, values))
