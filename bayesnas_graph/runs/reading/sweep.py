"""The state of a sweep's runs, as recorded in its folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bayesnas_graph.runs.reading.run import is_locked, read_rows

if TYPE_CHECKING:
    from bayesnas_graph.runs.sweep.folder import SweepFolder, SweepRequest, SweepRun
    from bayesnas_graph.runs.sweep.grid import Point


def is_sweep(path: Path) -> bool:
    """Return whether a folder is a sweep folder."""
    return (path / "sweep.json").exists()


def read_sweep(path: Path) -> tuple[SweepRequest, tuple[SweepRun, ...]]:
    """Read the request and the state of every run, in the order of the grid. Raises NasError if this is not a sweep."""
    from bayesnas_graph.runs.sweep.folder import SweepFolder

    folder = SweepFolder(path)
    request = folder.request()
    rows = {row["folder"]: row for row in read_rows(folder.table) if "folder" in row}
    return request, tuple(_run(folder, point, rows.get(point.name, {})) for point in request.points())


def _run(folder: SweepFolder, point: Point, row: dict[str, str]) -> SweepRun:
    """Return the state of a run from its folder, or else from the table, which is stale if the sweep was killed."""
    from bayesnas_graph.runs.sweep.folder import SweepRun, run_of

    run = run_of(folder, point)
    if run.state == "done":
        return run
    if is_locked(folder.run(point).lock):
        return SweepRun(point, "running")
    if row.get("state") == "failed":
        return SweepRun(point, "failed", error=row.get("error", ""))
    return SweepRun(point, "stopped" if folder.run(point).manifest_file.is_file() else "waiting")
