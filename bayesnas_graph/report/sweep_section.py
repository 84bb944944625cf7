"""A sweep: how its settings affect the size and accuracy of the result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from bayesnas_graph.report.charts import sweep
from bayesnas_graph.report.charts.metric import of_metric
from bayesnas_graph.report.charts.sweep import Trial
from bayesnas_graph.report.section import Section, Table, build_section
from bayesnas_graph.runs.objectives import ACCURACY, Metric
from bayesnas_graph.runs.reading.sweep import read_sweep
from bayesnas_graph.runs.sweep.comparison import summary
from bayesnas_graph.runs.sweep.folder import SweepRun

_COLUMNS = ("seed", "state", "parameters", "multiply-adds", "accuracy", "kept")


def sweep_section(folder: Path) -> Section:
    """Tables of grid points and runs, and charts. Raises NasError if the folder is not a sweep."""
    _, runs = read_sweep(folder)
    heading, *rows = summary(runs)
    points = Table(heading, tuple(rows), title="Grid points")
    trials = [_trial(run) for run in runs if run.result is not None]
    metric = next((run.result.metric for run in runs if run.result is not None), ACCURACY)
    by_setting = [sweep.parameters(trials), sweep.accuracy(trials)] if sweep.swept_key(trials) else []
    charts = [of_metric(chart, metric) for chart in (*by_setting, sweep.trade_off(trials))]
    tables = [points, _all_runs(runs, metric), _failed(runs)]
    return build_section("sweep", "Sweep", notes=[_progress(runs)], tables=tables, charts=charts)


def _progress(runs: Sequence[SweepRun]) -> str:
    """Return the number of finished runs, and the states of the others.

    >>> from bayesnas_graph.runs.sweep.folder import SweepRequest, SweepRun
    >>> request = SweepRequest(space="a", file="a", python_ops=False, data_dir="", settings={"data": "digits"},
    ...                        sweep=[], seeds=3, begun="", versions={})
    >>> _progress([SweepRun(point, state) for point, state in zip(request.points(), ["done", "failed", "done"])])
    '2 of 3 runs are done, 1 failed.'
    """
    states = Counter(run.state for run in runs)
    others = [f"{states[state]:,} {state}" for state in ("running", "waiting", "stopped", "failed") if states[state]]
    if not others:
        return f"All {len(runs):,} runs are done." if len(runs) > 1 else "The only run is done."
    return ", ".join([f"{states['done']:,} of {len(runs):,} runs are done", *others]) + "."


def _all_runs(runs: Sequence[SweepRun], metric: Metric) -> Table:
    keys = tuple(key for key, _ in runs[0].point.values)
    rows = []
    for run in runs:
        result, numbers = run.result, ("",) * 4
        if result is not None:
            sizes = (f"{result.parameters:,}", f"{result.flops:,}")
            numbers = (*sizes, f"{result.accuracy:.4f}", f"{result.kept:,} of {result.switches:,}")
        rows.append((*(value for _, value in run.point.values), str(run.point.seed), run.state, *numbers))
    head = (*keys, *metric.columns(_COLUMNS))
    return Table(head, tuple(rows), ("state",), f"All runs: {len(rows):,}", folded=len(rows) > 1)


def _failed(runs: Sequence[SweepRun]) -> Table:
    rows = tuple((run.point.shown, run.error) for run in runs if run.state == "failed")
    return Table(("run", "error"), rows, ("error",), title="Failed runs")


def _trial(run: SweepRun) -> Trial:
    result = run.result
    assert result is not None, "the run is done"
    return Trial(run.point.values, run.point.seed, result.parameters, result.flops, result.accuracy)
