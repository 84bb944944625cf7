"""Detecting damaged files, so that a damaged run is not mistaken for an unfinished one."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from bayesnas_graph.diagnostics import Diagnostic
from bayesnas_graph.diagnostics.atomic_files import reason
from bayesnas_graph.diagnostics.checksums import problem_of
from bayesnas_graph.diagnostics.reading import read_file, read_json
from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.runs.reading.decision import read_final
from bayesnas_graph.runs.reading.listed import changed_files
from bayesnas_graph.runs.reading.run import RunRecord, read_object


def damage(record: RunRecord) -> tuple[Diagnostic, ...]:
    """Return a warning for each file that exists but cannot be read, or has changed since the run finished."""
    paths = RunPaths(record.folder)
    unreadable = list(_damaged(record, paths))
    changed = [] if record.running else [path for path in changed_files(paths) if path not in unreadable]
    return (
        *(_warning(f"cannot read `{path}`: {_problem(path)}", "its content is omitted") for path in unreadable),
        *(
            _warning(f"`{path}` has changed since the run finished", "its content is shown as it is")
            for path in changed
        ),
    )


def _warning(message: str, help: str) -> Diagnostic:
    return Diagnostic("NAS602", message, help=help, severity="warning")


def _problem(path: Path) -> str:
    try:
        if path.suffix == ".json":
            read_json(path)
    except OSError as error:
        return reason(error)
    except ValueError as error:
        return problem_of(error)
    return "it is damaged"


def _damaged(record: RunRecord, paths: RunPaths) -> Iterator[Path]:
    if record.result is None and paths.result.exists():
        yield paths.result
    if record.outline is None and paths.outline.exists():
        yield paths.outline
    if paths.checksums.exists() and read_object(paths.checksums, {"files": dict}) is None:
        yield paths.checksums
    if paths.decision.exists() and not _is_decision(paths):
        yield paths.decision
    if paths.comparison.exists() and record.comparison is None:
        yield paths.comparison
    tables = {paths.metrics: "step", paths.updates: "iteration", paths.history: "switch"}  # a column of each table
    yield from (path for path, column in tables.items() if path.exists() and not _is_table(path, column))


def _is_decision(paths: RunPaths) -> bool:
    written = read_object(paths.decision, {"verdicts": list})
    return written is not None and len(written["verdicts"]) == len(read_final(paths))


def _is_table(path: Path, column: str) -> bool:
    """Return whether all lines have the same number of cells. An unfinished last line does not count."""
    try:
        rows = list(csv.reader(read_file(path).decode().split("\n")[:-1], strict=True))
    except (OSError, ValueError, csv.Error):
        return False
    return not rows or (column in rows[0] and len(set(map(len, rows))) == 1)
