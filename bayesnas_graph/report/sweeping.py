"""A sweep: what its settings do to the size and the accuracy of what is found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bayesnas_graph.report.charts import sweep
from bayesnas_graph.report.charts.sweep import Trial
from bayesnas_graph.report.parts import Table, section
from bayesnas_graph.report.section import Section
from bayesnas_graph.runs.reading.sweep import read_sweep

if TYPE_CHECKING:
    from bayesnas_graph.runs.sweep.folder import Run

_RUN = ("seed", "state", "weights", "multiply-adds", "accuracy", "kept")


def sections(folder: Path) -> tuple[Section, ...]:
    """The grid in a table, every run below it, and charts. Raises NasError if the folder is no sweep."""
    from bayesnas_graph.runs.sweep.comparison import summary

    _, runs = read_sweep(folder)
    heading, *rows = summary(runs)
    points = Table(heading, tuple(rows), title="Points of the grid")
    trials = [_trial(run) for run in runs if run.found is not None]
    along = [sweep.weights(trials), sweep.accuracy(trials)] if sweep.swept_key(trials) else []
    charts = [*along, sweep.trade(trials)]
    tables = [points, _every(runs), _failed(runs)]
    return (section("sweep", "The sweep", notes=[_standing(runs)], tables=tables, charts=charts),)


def _standing(runs: Sequence[Run]) -> str:
    """How many are done, and what the others are.

    >>> from bayesnas_graph.runs.sweep.folder import Asked, Run
    >>> asked = Asked(space="a", file="a", python_ops=False, data_dir="", settings={"data": "digits"}, sweep=[],
    ...               seeds=3, begun="", versions={})
    >>> _standing([Run(point, state) for point, state in zip(asked.points(), ["done", "failed", "done"])])
    '2 of 3 runs are done, 1 failed.'
    """
    states = Counter(run.state for run in runs)
    others = [f"{states[state]:,} {state}" for state in ("running", "waiting", "stopped", "failed") if states[state]]
    if not others:
        return f"All {len(runs):,} runs are done." if len(runs) > 1 else "Its only run is done."
    return ", ".join([f"{states['done']:,} of {len(runs):,} runs are done", *others]) + "."


def _every(runs: Sequence[Run]) -> Table:
    """A row for each seed of each point."""
    keys = tuple(key for key, _ in runs[0].point.values)
    rows = []
    for run in runs:
        found = run.found
        numbers = (
            (
                f"{found.parameters:,}",
                f"{found.flops:,}",
                f"{found.accuracy:.4f}",
                f"{found.kept:,} of {found.switches:,}",
            )
            if found
            else ("",) * 4
        )
        rows.append((*(value for _, value in run.point.values), str(run.point.seed), run.state, *numbers))
    return Table((*keys, *_RUN), tuple(rows), words=("state",), title=f"Every run: {len(rows):,}", folded=len(rows) > 1)


def _failed(runs: Sequence[Run]) -> Table:
    rows = tuple((run.point.shown, run.error) for run in runs if run.state == "failed")
    return Table(("run", "what it said"), rows, words=("what it said",), title="Failed")


def _trial(run: Run) -> Trial:
    found = run.found
    assert found is not None, "it is done"
    return Trial(run.point.values, run.point.seed, found.parameters, found.flops, found.accuracy)
