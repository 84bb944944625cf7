"""The state of the runs of a sweep, as its folder shows it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bayesnas_graph.runs.reading.run import is_locked, read_rows

if TYPE_CHECKING:
    from bayesnas_graph.runs.sweep.folder import Asked, Run, SweepFolder
    from bayesnas_graph.runs.sweep.grid import Point


def is_sweep(path: Path) -> bool:
    """Return whether a folder is a sweep folder."""
    return (path / "sweep.json").exists()


def read_sweep(path: Path) -> tuple[Asked, tuple[Run, ...]]:
    """Read the request and the state of every run, in the order of the grid. Raises NasError if this is not a sweep."""
    from bayesnas_graph.runs.sweep.folder import SweepFolder

    folder = SweepFolder(path)
    asked = folder.asked()
    said = {row["folder"]: row for row in read_rows(folder.table) if "folder" in row}
    return asked, tuple(_run(folder, point, said.get(point.name, {})) for point in asked.points())


def _run(folder: SweepFolder, point: Point, said: dict[str, str]) -> Run:
    """Return the state of a run by its own folder, or by the table, which a killed sweep has not updated."""
    from bayesnas_graph.runs.sweep.folder import Run, run_of

    run = run_of(folder, point)
    if run.state == "done":
        return run
    if is_locked(folder.run(point).lock):
        return Run(point, "running")
    if said.get("state") == "failed":
        return Run(point, "failed", error=said.get("error", ""))
    return Run(point, "stopped" if folder.run(point).manifest_file.is_file() else "waiting")
