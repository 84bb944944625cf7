"""CSV tables of a run: appended row by row, truncated when a run rolls back, and readable while they are written."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from bayesnas_graph.diagnostics.atomic_files import FREE_SPACE, atomic_write, read_error, write_error
from bayesnas_graph.diagnostics.reading import read_file

LONGEST = 18  # digits of a step


def read_table(path: Path) -> list[dict[str, str]]:
    """Read the rows of a table; none if the file is missing. Incomplete lines are skipped."""
    rows = []
    try:
        lines = io.StringIO(read_file(path).decode(errors="replace"), newline="")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise read_error(path, error) from None
    with suppress(csv.Error):
        for row in csv.DictReader(lines):
            if None not in row and None not in row.values():
                rows.append(row)
    return rows


def cut(path: Path, columns: tuple[str, ...], key: str, last: int, until: int | None = None) -> bool:
    """Keep the rows up to a step or an iteration, and those after `until`; return whether there are any of those.

    Starts a new table if the file is missing or has unknown columns. Columns that an older version did not write are
    left empty.
    """
    rows = [row for row in read_table(path) if set(row) <= set(columns) and _is_number(row.get(key, ""))]
    before = [row for row in rows if int(row[key]) <= last]
    after = [] if until is None else [row for row in rows if int(row[key]) > max(last, until)]
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(sorted([*before, *after], key=lambda row: int(row[key])))
    with atomic_write(path, FREE_SPACE) as file:
        file.write(text.getvalue().encode())
    return bool(after)


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) <= LONGEST


def append(path: Path, rows: Iterable[Sequence[str]]) -> None:
    """Append rows to a table. Raises NasError if the disk is full."""
    try:
        with path.open("a", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    except OSError as error:
        raise write_error(path, error, FREE_SPACE) from None


def cell(value: float | None) -> str:
    """Format a number for a table, with six digits."""
    if value is None:
        return ""
    return str(value) if isinstance(value, int) else f"{value:.6g}"
