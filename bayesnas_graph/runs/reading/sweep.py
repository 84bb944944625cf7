"""How the runs of a sweep stand, as its folder shows it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bayesnas_graph.runs.reading.run import is_locked, read_rows

if TYPE_CHECKING:
    from bayesnas_graph.runs.sweep.folder import Asked, Run, SweepFolder
    from bayesnas_graph.runs.sweep.grid import Point


def is_sweep(path: Path) -> bool:
    """Whether a folder is that of a sweep."""
    return (path / "sweep.json").exists()


def read_sweep(path: Path) -> tuple[Asked, tuple[Run, ...]]:
    """What was asked for, and what has become of it, in the order of the grid. Raises NasError if this is no sweep."""
    from bayesnas_graph.runs.sweep.folder import SweepFolder

    folder = SweepFolder(path)
    asked = folder.asked()
    said = {row["folder"]: row for row in read_rows(folder.table) if "folder" in row}
    return asked, tuple(_run(folder, point, said.get(point.name, {})) for point in asked.points())


def _run(folder: SweepFolder, point: Point, said: dict[str, str]) -> Run:
    """A run by its own folder, or else by what the table says. A sweep that was killed has not said so there."""
    from bayesnas_graph.runs.sweep.folder import Run, run_of

    run = run_of(folder, point)
    if run.state == "done":
        return run
    if is_locked(folder.run(point).lock):
        return Run(point, "running")
    if said.get("state") == "failed":
        return Run(point, "failed", error=said.get("error", ""))
    return Run(point, "stopped" if folder.run(point).manifest_file.is_file() else "waiting")
