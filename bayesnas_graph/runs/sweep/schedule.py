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

__all__ = ["Sweep", "SweepWatcher"]

TURN = 0.2  # seconds between checks
MOST_RESUBMITTED = 3  # times, for each run


class SweepWatcher:
    """Base class of watchers of a sweep. By default, every method does nothing."""

    def ended(self, run: SweepRun, number: int, total: int) -> None:
        """A run has ended: the `number`th of `total`."""

    def resubmitted(self, run: SweepRun, most: int) -> None:
        """The node of a run died, and the run waits for another one; that happens at most `most` times."""

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
                    self._runs[name] = self._ended(self._runs[name], code, stopped)
                    self.write_tables()
                    if self._runs[name].state == "waiting":
                        waiting.appendleft(self._runs[name].point)
                        watcher.resubmitted(self._runs[name], MOST_RESUBMITTED)
                        continue
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

    def _ended(self, before: SweepRun, code: int | None, stopped: bool) -> SweepRun:
        """The state of a run that has ended; it waits again if its node died (no code) and that was not too often."""
        point, resubmitted = before.point, before.resubmitted
        run = replace(run_of(self.folder, point), resubmitted=resubmitted)
        if run.state == "done":  # even if it was killed while finishing
            return run
        if stopped:
            return replace(run, state="stopped")
        if code is None and resubmitted < MOST_RESUBMITTED:
            return replace(run, resubmitted=resubmitted + 1)
        if code is None:
            error = f"its node died, after {MOST_RESUBMITTED} others"
        elif code < 0:
            error = f"ended by {signal.Signals(-code).name}"
        else:
            error = first_error(self.folder.log(point))
        return replace(run, state="failed", error=error)
