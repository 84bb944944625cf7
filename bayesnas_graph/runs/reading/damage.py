"""Detecting damaged files, so that a damaged run is not mistaken for an unfinished one."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from bayesnas_graph.diagnostics import Diagnostic
from bayesnas_graph.diagnostics.reading import read_file
from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.runs.reading.decision import read_final
from bayesnas_graph.runs.reading.run import RunRecord, read_object


def damage(record: RunRecord) -> tuple[Diagnostic, ...]:
    """Return a warning for each file that exists but cannot be read."""
    help = "its content is omitted"
    return tuple(
        Diagnostic("NAS602", f"cannot read `{path}`: it is damaged", help=help, severity="warning")
        for path in _damaged(record, RunPaths(record.folder))
    )


def _damaged(record: RunRecord, paths: RunPaths) -> Iterator[Path]:
    if record.result is None and paths.result.exists():
        yield paths.result
    if paths.decision.exists() and not _is_decision(paths):
        yield paths.decision
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
