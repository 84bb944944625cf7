"""Tables that a search leaves behind: a row for every line of the log, and one for every switch at every update."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields

from bayesnas_graph.bayes import Verdict
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runs.tables import append, cell, cut
from bayesnas_graph.search.events import Row
from bayesnas_graph.search.iteration import Iteration
from bayesnas_graph.search.learner import Learner
from bayesnas_graph.search.problem import Problem
from bayesnas_graph.search.progress import Progress

METRICS = tuple(field.name for field in fields(Row))
UPDATES = ("iteration", "accuracy", "parameters", "flops", "alive", "lambda", "seconds")
HISTORY = ("iteration", "switch", "keep", "why", "gamma", "s", "omega", "entropy", "w", "h")


@dataclass(frozen=True)
class Recorder:
    """A watcher that writes `metrics.csv`, `updates.csv` and `switches.csv`.

    A search that goes on from a checkpoint, or goes back to one, writes again what came after it, so that is cut off
    first.
    """

    folder: RunFolder

    def begun(self, problem: Problem, learner: Learner, progress: Progress) -> None:
        cut(self.folder.metrics, METRICS, "step", progress.step)
        cut(self.folder.updates, UPDATES, "iteration", progress.iteration)
        cut(self.folder.history, HISTORY, "iteration", progress.iteration)

    def logged(self, row: Row) -> None:
        append(self.folder.metrics, [[cell(value) for value in asdict(row).values()]])

    def iterated(self, found: Iteration, accuracy: float, seconds: float) -> None:
        alive = sum(verdict.keep for verdict in found.decision.verdicts)
        numbers = accuracy, found.cost.parameters, found.cost.flops, alive, found.intensities[0], seconds
        append(self.folder.updates, [[str(found.number), *map(cell, numbers)]])
        append(self.folder.history, (_of_switch(found.number, verdict) for verdict in found.decision.verdicts))

    def concluded(self, progress: Progress) -> None:
        pass

    def said(self, text: str) -> None:
        pass


def _of_switch(iteration: int, v: Verdict) -> list[str]:
    """A row of the history."""
    numbers = map(cell, (v.gamma, v.s, v.omega, v.entropy))
    return [str(iteration), v.name, str(int(v.keep)), v.why, *numbers, _cells(v.w), _cells(v.h)]


def _cells(values: Iterable[float]) -> str:
    return " ".join(map(cell, values))
