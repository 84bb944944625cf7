"""A comparison of the runs of a sweep: the results of each point of the grid over its seeds."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from itertools import combinations
from statistics import fmean

from bayesnas_graph.runs.objectives import ACCURACY, Metric
from bayesnas_graph.runs.sweep.folder import RunResult, SweepRun

RUN = ("seed", "state", "parameters", "flops", "accuracy", "kept", "switches", "error", "folder", "resubmitted")
POINT = ("done", "parameters", "multiply-adds", "accuracy", "kept", "overlap", "distinct")

Cells = tuple[str, ...]


def summary(runs: Sequence[SweepRun]) -> list[Cells]:
    """Return a header, and a row for each point of the grid: mean and range over the finished seeds."""
    by_point: dict[tuple[tuple[str, str], ...], list[SweepRun]] = {}
    for run in runs:
        by_point.setdefault(run.point.values, []).append(run)
    keys = tuple(key for key, _ in runs[0].point.values)
    return [(*keys, *_metric(runs).columns(POINT)), *(_row(seeds) for seeds in by_point.values())]


def _row(runs: Sequence[SweepRun]) -> Cells:
    results = [run.result for run in runs if run.result is not None]
    architectures = [run.architecture for run in runs if run.result is not None]
    alike = overlap(architectures)
    return (
        *(value for _, value in runs[0].point.values),
        f"{len(results)} of {len(runs)}",
        _spread(results, lambda one: one.parameters, ",.0f"),
        _spread(results, lambda one: one.flops, ",.0f"),
        _spread(results, lambda one: one.accuracy, ".4f"),
        _spread(results, lambda one: one.kept, ",.1f", f" of {results[0].switches:,}" if results else ""),
        "" if alike is None else f"{alike:.2f}",
        str(len(set(architectures))) if results else "",
    )


def _metric(runs: Sequence[SweepRun]) -> Metric:
    """Return what the runs are measured by."""
    return next((run.result.metric for run in runs if run.result is not None), ACCURACY)


def overlap(architectures: Sequence[frozenset[str]]) -> float | None:
    """Return the overlap of architectures, averaged over all pairs; None for fewer than two.

    It is the number of candidates that both keep, divided by the number that either keeps.

    >>> overlap([frozenset("ab"), frozenset("ab"), frozenset("b")])
    0.6666666666666666
    """
    parts = [len(a & b) / len(a | b) if a | b else 1.0 for a, b in combinations(architectures, 2)]
    return fmean(parts) if parts else None


def _spread(results: Sequence[RunResult], number: Callable[[RunResult], float], form: str, of: str = "") -> str:
    """Return a mean, with the range if the values differ."""
    values = [number(one) for one in results]
    if not values:
        return ""
    mean, low, high = (format(value, form).removesuffix(".0") for value in (fmean(values), min(values), max(values)))
    return f"{mean}{of}" if low == high else f"{mean}{of} ({low}-{high})"


def to_csv(runs: Sequence[SweepRun]) -> str:
    """Return a CSV table with a row for each run."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*(key for key, _ in runs[0].point.values), *_metric(runs).columns(RUN)])
    for run in runs:
        result = run.result
        numbers = (
            (result.parameters, result.flops, result.accuracy, result.kept, result.switches) if result else ("",) * 5
        )
        values = (value for _, value in run.point.values)
        writer.writerow([*values, run.point.seed, run.state, *numbers, run.error, run.point.name, run.resubmitted])
    return text.getvalue()


def to_markdown(title: str, runs: Sequence[SweepRun]) -> str:
    """Return the summary, and a list of failures."""
    heading, *rows = summary(runs)
    lines = [f"# {title}", "", _line(heading), _line(["---"] * len(heading)), *map(_line, rows)]
    failed = [f"- {_escaped(run.point.shown)}: {_escaped(run.error)}" for run in runs if run.state == "failed"]
    return "\n".join([*lines, *(["", "Failed:", "", *failed] if failed else [])]) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_escaped, cells))} |"


def _escaped(text: str) -> str:
    return text.replace("|", r"\|")
