"""The checksums of the files that have none of their own, from `checksums.json`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.checksums import digest
from bayesnas_graph.diagnostics.reading import read_file
from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.runs.reading.run import read_object


def changed_files(paths: RunPaths) -> Iterator[Path]:
    """Yield the files that have changed since the run finished."""
    files = (read_object(paths.checksums, {"files": dict}) or {"files": {}})["files"]
    for path in paths.plain_files:
        if path.name in files and _digest(path) != files[path.name]:
            yield path


def changed_tables(paths: RunPaths) -> list[Diagnostic]:
    """Return a warning for each table that has changed since the run finished; the other files are written again."""
    help = "its rows stay as they are"
    return [
        Diagnostic("NAS602", f"`{path}` has changed since the run finished", help=help, severity="warning")
        for path in changed_files(paths)
        if path.suffix == ".csv"
    ]


def check_unchanged(paths: RunPaths, path: Path) -> None:
    """Raise NasError if a file has changed since the run finished."""
    if path in changed_files(paths):
        message = f"cannot use `{path}`: it has changed since it was written"
        help = f"restore it, or resume the run; if you edited it, remove `{paths.checksums.name}`"
        raise NasError([Diagnostic("NAS602", message, help=help)])


def _digest(path: Path) -> str | None:
    try:
        return digest(read_file(path))
    except OSError:
        return None
