"""When things happened in a search, in steps: its updates, and the phases of training between them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bayesnas_graph.diagnostics.words import counted
from bayesnas_graph.runs.reading.run import Numbers, RunRecord


@dataclass(frozen=True)
class Phase:
    """A part of a search, from one step to another."""

    name: str
    begin: float
    end: float


@dataclass(frozen=True)
class Timeline:
    """The steps at which the parts of a search ended."""

    updates: Mapping[int, float]  # the step of each update, by its number
    phases: tuple[Phase, ...] = ()  # in order, without gaps
    last: float = 0  # the last step so far

    def stepped(self, updates: Sequence[Numbers]) -> list[Numbers]:
        """The rows of updates, each with its step."""
        return [
            {**update, "step": self.updates[int(update["iteration"])]}
            for update in updates
            if int(update["iteration"]) in self.updates
        ]


def timeline(run: RunRecord) -> Timeline:
    """The updates and phases of a search so far.

    An update follows the last logged step of its iteration. Without a log, settings say when it was due.
    """
    ends = sorted((row["iteration"], row["step"]) for row in run.rows if "iteration" in row)
    numbers = [int(update["iteration"]) for update in run.updates]
    steps = {number: step for number in numbers if (step := _end(run, ends, number)) is not None}
    last = max((run.step, *steps.values()))
    return Timeline(steps, tuple(_phases(run, ends, steps, last)), last)


def _end(run: RunRecord, ends: Sequence[tuple[float, float]], iteration: int) -> float | None:
    """The last step of an iteration; None if it is unknown."""
    before = bisect_right(ends, (iteration, float("inf")))
    if before:
        return ends[before - 1][1]
    return None if run.outline is None else run.outline.warmup + iteration * run.outline.steps


def _phases(
    run: RunRecord, ends: Sequence[tuple[float, float]], updates: Mapping[int, float], last: float
) -> Iterator[Phase]:
    warm = min(last, (_end(run, ends, 0) or 0) if not ends or ends[0][0] == 0 else 0)
    if warm:
        yield Phase("warm-up", 0, warm)
    is_searching = run.result is None and (run.outline is None or run.iteration < run.outline.iterations)
    decided = last if is_searching else max(updates.values(), default=warm)
    if decided > warm:
        yield Phase(counted(len(updates), "update"), warm, decided)
    outline = run.outline
    compared = min(last, decided + (outline.finalists * outline.finalist_steps if outline else 0))
    if compared > decided:
        yield Phase("finalists", decided, compared)
    if last > compared:
        yield Phase("finish", compared, last)
