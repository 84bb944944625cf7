"""Records of benchmarks: results with the conditions under which they were made, stored as JSON.

A record has the command, date, machine, versions, seeds and settings, and rows: flat dictionaries of strings and
numbers. Repeated measurements are stored as lists of all values, so that their spread can be shown. `key` names the
columns that identify a row.

A benchmark of many runs calls `append` after each. When restarted, it finds the existing rows in the record that
`resumed` returns. Several processes can append to one record.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from filelock import FileLock

import bayesnas_graph

RESULTS = Path(__file__).parent / "results"
DIGITS = 5  # significant digits stored

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Record:
    """The result of a benchmark, without host names and paths."""

    name: str
    command: str
    date: str
    machine: Mapping[str, str | int]
    versions: Mapping[str, str]
    seeds: tuple[int, ...]
    settings: Mapping[str, Any]
    key: tuple[str, ...]
    rows: tuple[Row, ...] = ()

    @staticmethod
    def begin(
        name: str,
        command: str,
        key: Iterable[str],
        *,
        seeds: Iterable[int] = (),
        settings: Mapping[str, Any] | None = None,
        threads: int = 1,
    ) -> Record:
        """An empty record with today's date and this machine."""
        return Record(
            name=name,
            command=command,
            date=datetime.now(UTC).date().isoformat(),
            machine=_machine(threads),
            versions={
                "Python": platform.python_version(),
                "torch": version("torch"),
                "bayesnas-graph": bayesnas_graph.__version__,
            },
            seeds=tuple(seeds),
            settings=_plain(settings or {}),
            key=tuple(key),
        )

    def row(self, **key: Any) -> Row | None:
        """The row with this key, or None."""
        return next((row for row in self.rows if all(row[name] == key[name] for name in self.key)), None)

    def with_rows(self, rows: Iterable[Row]) -> Record:
        """The record with more rows, which replace those of the same key."""
        found = {tuple(row[name] for name in self.key): row for row in self.rows}
        for row in map(_plain, rows):
            found[tuple(row[name] for name in self.key)] = row
        return replace(self, rows=tuple(found.values()))

    def where(self, **values: Any) -> list[Row]:
        """The rows with these values."""
        return [row for row in self.rows if all(row[name] == value for name, value in values.items())]

    def values(self, column: str) -> list[Any]:
        """The distinct values of a column, in the order of the rows."""
        return list(dict.fromkeys(row[column] for row in self.rows))


def load(name: str, folder: Path = RESULTS) -> Record:
    """Load the record of a name."""
    plain = json.loads(path_of(name, folder).read_text())
    return Record(**{**plain, **{field: tuple(plain[field]) for field in ("seeds", "key", "rows")}})


def save(record: Record, folder: Path = RESULTS) -> Path:
    """Save a record, replacing the one of the same name."""
    folder.mkdir(parents=True, exist_ok=True)
    path = path_of(record.name, folder)
    new = path.with_suffix(f".{os.getpid()}")
    new.write_text(to_text(record))
    new.replace(path)  # atomic for readers
    return path


def resumed(record: Record, folder: Path = RESULTS) -> Record:
    """The record with the rows saved under its name.

    Raises ValueError if they were made under other conditions, because a table must not mix them.
    """
    path = path_of(record.name, folder)
    if not path.is_file():
        return record
    saved = load(record.name, folder)
    for condition in ("settings", "versions", "machine", "key"):
        if getattr(saved, condition) != getattr(record, condition):
            raise ValueError(f"{path.name} was made with other {condition}: delete it to start over")
    return replace(record, seeds=tuple(sorted({*saved.seeds, *record.seeds})), rows=saved.rows)


def append(record: Record, row: Row, folder: Path = RESULTS) -> Record:
    """Add a row to the saved record of the same name, and return that record."""
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / f"{record.name}.lock"):
        whole = resumed(record, folder).with_rows([row])
        save(whole, folder)
    return whole


def saved_names(folder: Path = RESULTS) -> list[str]:
    """The names of all saved records."""
    return sorted(path.stem for path in folder.glob("*.json"))


def path_of(name: str, folder: Path = RESULTS) -> Path:
    """The file of a record."""
    return folder / f"{name}.json"


def to_text(record: Record) -> str:
    """A record as JSON with one line per row, for readable diffs."""
    plain = asdict(record)
    rows = ",\n".join(f"    {json.dumps(row)}" for row in plain.pop("rows"))
    head = json.dumps(plain, indent=2).removesuffix("\n}")
    return f'{head},\n  "rows": [\n{rows}\n  ]\n}}\n'


def _machine(threads: int) -> dict[str, str | int]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": platform.machine(),
        "cores": os.cpu_count() or 1,
        "memory, GiB": round(memory / 2**30),
        "threads": threads,
    }


def _plain(values: Any) -> Any:
    """Values as JSON returns them, rounded to `DIGITS`."""
    if isinstance(values, Mapping):
        return {name: _plain(value) for name, value in values.items()}
    if isinstance(values, list | tuple):
        return [_plain(value) for value in values]
    return float(f"{values:.{DIGITS}g}") if isinstance(values, float) else values
