"""A sweep and all of its runs, as recorded in their folders, while they run or afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.runs.consent import settings_name_code
from bayesnas_graph.runs.paths import RunPaths, is_gone
from bayesnas_graph.runs.reading.damage import damage
from bayesnas_graph.runs.reading.run import RunRecord, is_locked, read_run_record
from bayesnas_graph.runs.reading.sweep import read_sweep
from bayesnas_graph.runs.sweep.folder import SweepFolder, SweepRequest, SweepRun
from bayesnas_graph.runs.sweep.grid import Point

State = Literal["waiting", "running", "done", "stopped", "failed", "damaged"]


@dataclass(frozen=True)
class SweepRunRecord:
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


@dataclass(frozen=True)
class SweepRecord:
    """A sweep, as recorded in its folder."""

    folder: Path
    request: SweepRequest
    runs: tuple[SweepRunRecord, ...]  # in the order of the grid
    is_running: bool

    @property
    def needs_python(self) -> bool:
        """Whether it can only be resumed with leave to import Python code."""
        return self.request.python_ops or any(settings_name_code(dict(run.point.config)) for run in self.runs)


def read_sweep_record(path: Path) -> SweepRecord:
    """Read a sweep folder. Raises NasError if it is not one."""
    folder = SweepFolder(path)
    request, found = read_sweep(path)
    runs = tuple(_run(folder, run) for run in found)
    return SweepRecord(path, request, runs, bool(is_locked(RunPaths(path).lock)))


def _run(folder: SweepFolder, run: SweepRun) -> SweepRunRecord:
    """Return what the folder of a run says. A file that cannot be read counts more than the state of the run."""
    paths = RunPaths(folder.run(run.point).path)
    if is_gone(paths.manifest_file):
        return SweepRunRecord(run.point, run.state, None, run.error)
    try:
        record = read_run_record(paths)
    except NasError as problem:
        return SweepRunRecord(run.point, "damaged", None, problem.diagnostics[0].message)
    damaged = damage(record)
    if damaged:
        return SweepRunRecord(run.point, "damaged", record, damaged[0].message)
    return SweepRunRecord(run.point, run.state, record, run.error)
