"""Tables that a search leaves behind: a row for every line of the log, and one for every switch at every update."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from bayesnas_graph.bayes import Verdict
from bayesnas_graph.search.events import Row
from bayesnas_graph.search.files import ROOM, not_read, not_written, written_whole
from bayesnas_graph.search.folder import RunFolder
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


def read_table(path: Path) -> list[dict[str, str]]:
    """The rows of a table; none if it is not there. A line that is not whole, as the last may be, is left out."""
    rows = []
    try:
        with path.open(newline="", encoding="utf-8", errors="replace") as file, suppress(csv.Error):
            for row in csv.DictReader(file):
                if None not in row and None not in row.values():
                    rows.append(row)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise not_read(path, error) from None
    return rows


def _of_switch(iteration: int, v: Verdict) -> list[str]:
    """A row of the history."""
    numbers = map(cell, (v.gamma, v.s, v.omega, v.entropy))
    return [str(iteration), v.name, str(int(v.keep)), v.why, *numbers, _cells(v.w), _cells(v.h)]


def cut(path: Path, columns: tuple[str, ...], key: str, last: int) -> None:
    """Leave the rows up to a step or an iteration; a table that is not there, or is another one, is begun."""
    rows = [row for row in read_table(path) if tuple(row) == columns and row[key].isdecimal()]
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(row for row in rows if int(row[key]) <= last)
    with written_whole(path, ROOM) as file:
        file.write(text.getvalue().encode())


def append(path: Path, rows: Iterable[Sequence[str]]) -> None:
    """Add rows to a table. Raises NasError if there is no room."""
    try:
        with path.open("a", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    except OSError as error:
        raise not_written(path, error, ROOM) from None


def cell(value: float | None) -> str:
    """A number as it is read back; six digits are enough for a table."""
    if value is None:
        return ""
    return str(value) if isinstance(value, int) else f"{value:.6g}"


def _cells(values: Iterable[float]) -> str:
    return " ".join(map(cell, values))
