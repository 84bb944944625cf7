"""`status` of a sweep: a row for each of its runs, read from their folders while they run or afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bayesnas_graph.cli.console import echo, hint, labelled, resume_command
from bayesnas_graph.cli.terminal import bold, dim, paint, red
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.diagnostics.words import counted
from bayesnas_graph.runs.consent import settings_name_code
from bayesnas_graph.runs.paths import RunPaths, is_gone
from bayesnas_graph.runs.reading.damage import damage
from bayesnas_graph.runs.reading.run import RunRecord, is_locked, read_run_record
from bayesnas_graph.runs.reading.sweep import read_sweep
from bayesnas_graph.runs.sweep.folder import SweepFolder, SweepRequest, SweepRun
from bayesnas_graph.runs.sweep.grid import Point

State = Literal["waiting", "running", "done", "stopped", "failed", "damaged"]

HEADINGS = ("run", "state", "update", "held-out", "test", "parameters")


@dataclass(frozen=True)
class RunState:
    """A run of a sweep, and what its folder says."""

    point: Point
    state: State
    record: RunRecord | None = None  # None before it has started, or if it cannot be read
    problem: str = ""  # why it failed, or which file is damaged

    @property
    def held_out(self) -> float | None:
        """The accuracy on held-out samples at the last update."""
        return self.record.updates[-1]["accuracy"] if self.record and self.record.updates else None

    @property
    def test(self) -> float | None:
        """The accuracy on the test set at the end."""
        return float(self.record.result["accuracy"]) if self.record and self.record.result else None

    @property
    def parameters(self) -> int | None:
        """The parameters of the architecture so far."""
        return self.record.sizes[0] if self.record and self.record.sizes else None


def show_sweep(path: Path) -> None:
    """Print the state of a sweep and of its runs. Raises NasError."""
    folder = SweepFolder(path)
    request, found = read_sweep(path)
    runs = [_state(folder, run) for run in found]
    for label, text in _head(folder, request, runs):
        echo(labelled(label, text))
    echo()
    for line in _table(runs):
        echo(line)
    _problems(runs)
    if not _is_running(folder) and any(run.state != "done" for run in runs):
        allow = request.python_ops or any(settings_name_code(dict(run.point.config)) for run in runs)
        echo()
        hint("resume", resume_command("search", path, allow_python=allow))


def sweep_json(path: Path) -> dict[str, Any]:
    """Return the state of a sweep for JSON. Raises NasError."""
    folder = SweepFolder(path)
    request, found = read_sweep(path)
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
        for run in (_state(folder, run) for run in found)
    ]
    about = {"version": 1, "kind": "sweep", "sweep": str(path), "state": _sweep_state(folder)}
    return {**about, "space": request.space, "data_dir": request.data_dir, "runs": runs}


def _state(folder: SweepFolder, run: SweepRun) -> RunState:
    """Return what the folder of a run says. A file that cannot be read counts more than the state of the run."""
    paths = RunPaths(folder.run(run.point).path)
    if is_gone(paths.manifest_file):
        return RunState(run.point, run.state, None, run.error)
    try:
        record = read_run_record(paths)
    except NasError as problem:
        return RunState(run.point, "damaged", None, problem.diagnostics[0].message)
    damaged = damage(record)
    if damaged:
        return RunState(run.point, "damaged", record, damaged[0].message)
    return RunState(run.point, run.state, record, run.error)


def _is_running(folder: SweepFolder) -> bool:
    return bool(is_locked(RunPaths(folder.path).lock))


def _sweep_state(folder: SweepFolder) -> str:
    return "running" if _is_running(folder) else "not running"


def _head(folder: SweepFolder, request: SweepRequest, runs: Sequence[RunState]) -> Iterator[tuple[str, str]]:
    counts = Counter(run.state for run in runs)
    data = dict.fromkeys(str(run.point.config.data) for run in runs)
    yield "sweep", dim(str(folder.path))
    yield "search", bold(f"{request.space} on {', '.join(data)}, {counted(len(runs), 'run')}")
    listed = ", ".join(f"{number:,} {state}" for state, number in counts.most_common())
    yield "state", f"{_sweep_state(folder)}: {listed}"


def _table(runs: Sequence[RunState]) -> Iterator[str]:
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


def _cells(run: RunState) -> tuple[str, ...]:
    def accuracy(value: float | None) -> str:
        return "" if value is None else f"{value:.4f}"

    update = f"{run.record.iteration}/{run.point.config.iterations}" if run.record else ""
    size = "" if run.parameters is None else f"{run.parameters:,}"
    return run.point.shown, run.state, update, accuracy(run.held_out), accuracy(run.test), size


def _problems(runs: Sequence[RunState]) -> None:
    """Print why runs have failed, and what is damaged."""
    faulty = [run for run in runs if run.problem]
    if faulty:
        echo()
    for run in faulty:
        echo(f"{red(run.state)}: {run.point.shown}: {run.problem}", 2)
