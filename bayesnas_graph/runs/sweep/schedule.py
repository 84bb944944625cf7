"""A sweep in progress: starts runs as slots become free, and updates the tables."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from bayesnas_graph.diagnostics import Diagnostic
from bayesnas_graph.runs.sweep.comparison import to_csv, to_markdown
from bayesnas_graph.runs.sweep.folder import SweepFolder, SweepRequest, SweepRun, arguments, first_error, run_of
from bayesnas_graph.runs.sweep.grid import Point
from bayesnas_graph.runs.sweep.pool import Job, RunPool

TURN = 0.2  # seconds between checks


class SweepWatcher:
    """Base class of watchers of a sweep. By default, every method does nothing."""

    def ended(self, run: SweepRun, number: int, total: int) -> None:
        """A run has ended: the `number`th of `total`."""

    def stopping(self) -> None:
        """All runs were asked to save their state and end."""

    def turn(self, runs: Sequence[SweepRun]) -> None:
        """The current state of all runs."""


@dataclass
class Sweep:
    """The state of all runs. Finished runs are kept."""

    folder: SweepFolder
    request: SweepRequest
    points: Sequence[Point]
    data_dir: Path | None = None  # if it has moved
    options: tuple[str, ...] = ()  # passed to every run
    warnings: tuple[Diagnostic, ...] = ()  # about the space
    _runs: dict[str, SweepRun] = field(init=False)  # by name

    def __post_init__(self) -> None:
        self._runs = {point.name: run_of(self.folder, point) for point in self.points}

    @property
    def runs(self) -> tuple[SweepRun, ...]:
        """All runs, in the order of the grid."""
        return tuple(self._runs.values())

    @property
    def left(self) -> tuple[Point, ...]:
        """The points that are not done."""
        return tuple(run.point for run in self.runs if run.state != "done")

    @property
    def over(self) -> int:
        """The number of runs that have ended, successfully or not."""
        return sum(run.state in ("done", "failed") for run in self.runs)

    def run(self, pool: RunPool, threads: int, stop: Callable[[], bool], watcher: SweepWatcher) -> bool:
        """Run the remaining points; return False if interrupted. Raises NasError if a table cannot be written."""
        waiting, stopped = deque(self.left), False
        self.write_tables()
        try:
            while waiting or pool.running:
                if stop() and not stopped:
                    stopped = True
                    waiting.clear()
                    pool.stop()
                    watcher.stopping()
                while waiting and pool.room:
                    self._start(waiting.popleft(), pool, threads)
                watcher.turn(self.runs)
                for name, code in pool.ended(TURN):
                    self._runs[name] = self._ended(self._runs[name].point, code, stopped)
                    self.write_tables()
                    watcher.ended(self._runs[name], self.over, len(self.runs))
        except KeyboardInterrupt:  # the running ones are abandoned
            self._runs |= {name: replace(self._runs[name], state="stopped") for name in pool.running}
            self.write_tables()
            raise
        return not stopped

    def write_tables(self) -> None:
        """Write both tables, each completely or not at all."""
        self.folder.check_there()
        files = self.folder.own
        files.write(self.folder.table, to_csv(self.runs))
        files.write(self.folder.summary, to_markdown(f"Sweep of {self.request.space}", self.runs))

    def _start(self, point: Point, pool: RunPool, threads: int) -> None:
        self.folder.check_there()
        self.folder.make_room(point)
        words = (*arguments(self.folder, self.request, point, self.data_dir, threads), *self.options)
        pool.start(Job(point.name, words, point.config.threads or threads, self.folder.log(point)))
        self._runs[point.name] = replace(self._runs[point.name], state="running")

    def _ended(self, point: Point, code: int, stopped: bool) -> SweepRun:
        run = run_of(self.folder, point)
        if run.state == "done":  # even if it was killed while finishing
            return run
        if stopped:
            return SweepRun(point, "stopped")
        error = f"ended by {signal.Signals(-code).name}" if code < 0 else first_error(self.folder.log(point))
        return SweepRun(point, "failed", error=error)
