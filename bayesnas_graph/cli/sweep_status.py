"""`status` of a sweep: a row for each of its runs, read from their folders while they run or afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bayesnas_graph.cli.console import echo, hint, labelled, resume_command
from bayesnas_graph.cli.terminal import bold, dim, paint, red
from bayesnas_graph.diagnostics.words import counted
from bayesnas_graph.runs.reading.sweep_record import SweepRecord, SweepRunRecord, read_sweep_record

HEADINGS = ("run", "state", "update", "held-out", "test", "parameters")


def show_sweep(path: Path) -> None:
    """Print the state of a sweep and of its runs. Raises NasError."""
    record = read_sweep_record(path)
    for label, text in _head(record):
        echo(labelled(label, text))
    echo()
    for line in _table(record.runs):
        echo(line)
    _problems(record.runs)
    if not record.is_running and any(run.state != "done" for run in record.runs):
        echo()
        hint("resume", resume_command("search", path, allow_python=record.needs_python))


def sweep_json(path: Path) -> dict[str, Any]:
    """Return the state of a sweep for JSON. Raises NasError."""
    record = read_sweep_record(path)
    runs = [
        {
            "run": run.point.name,
            "settings": dict(run.point.values),
            "seed": run.point.seed,
            "state": run.state,
            "iteration": run.record.iteration if run.record else 0,
            "iterations": run.point.config.iterations,
            "accuracy": {"held_out": run.held_out, "test": run.test},
            "weights": run.parameters,
            "problem": run.problem or None,
        }
        for run in record.runs
    ]
    about = {"version": 1, "kind": "sweep", "sweep": str(path), "state": _state(record)}
    return {**about, "space": record.request.space, "data_dir": record.request.data_dir, "runs": runs}


def _state(record: SweepRecord) -> str:
    return "running" if record.is_running else "not running"


def _head(record: SweepRecord) -> Iterator[tuple[str, str]]:
    counts = Counter(run.state for run in record.runs)
    data = dict.fromkeys(str(run.point.config.data) for run in record.runs)
    yield "sweep", dim(str(record.folder))
    yield "search", bold(f"{record.request.space} on {', '.join(data)}, {counted(len(record.runs), 'run')}")
    listed = ", ".join(f"{number:,} {state}" for state, number in counts.most_common())
    yield "state", f"{_state(record)}: {listed}"


def _table(runs: Sequence[SweepRunRecord]) -> Iterator[str]:
    """Yield a heading and a row for each run. Words are on the left of their columns, numbers on the right."""
    rows = [HEADINGS, *map(_cells, runs)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        cells = [
            cell.ljust(width) if i < 2 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        if number:
            style = {"done": "green", "failed": "red", "damaged": "red"}.get(runs[number - 1].state)
            cells[1] = paint(style, cells[1]) if style else cells[1]
        line = "  ".join(cells).rstrip()
        yield line if number else bold(line)


def _cells(run: SweepRunRecord) -> tuple[str, ...]:
    def accuracy(value: float | None) -> str:
        return "" if value is None else f"{value:.4f}"

    update = f"{run.record.iteration}/{run.point.config.iterations}" if run.record else ""
    size = "" if run.parameters is None else f"{run.parameters:,}"
    return run.point.shown, run.state, update, accuracy(run.held_out), accuracy(run.test), size


def _problems(runs: Sequence[SweepRunRecord]) -> None:
    """Print why runs have failed, and what is damaged."""
    faulty = [run for run in runs if run.problem]
    if faulty:
        echo()
    for run in faulty:
        echo(f"{red(run.state)}: {run.point.shown}: {run.problem}", 2)
