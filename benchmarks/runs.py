"""Many trials, some at a time, each kept in a record as soon as it has come to its end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bayesnas_graph.bayes import Ranking
from benchmarks.record import RESULTS, Record, Row, append, resumed
from benchmarks.trial import Trial


@dataclass(frozen=True)
class Run:
    """A trial, and the rows that it makes: each has a key in the record, and a ranking that its cell is taken by."""

    trial: Trial
    keys: tuple[Mapping[str, Any], ...]
    ranks: tuple[Ranking | None, ...] = (None,)

    def is_in(self, record: Record) -> bool:
        """Whether all its rows are there."""
        return all(record.row(**key) is not None for key in self.keys)

    def rows(self, data_dir: Path) -> list[Row]:
        """Make it."""
        found = self.trial.row(data_dir, self.ranks)
        return [{**key, **row} for key, row in zip(self.keys, found, strict=True)]


def make(record: Record, runs: Iterable[Run], data_dir: Path, jobs: int, folder: Path = RESULTS) -> None:
    """Make the runs that are not in the record yet, so many at a time. This may be stopped, and gone on with."""
    saved = resumed(record, folder)
    missing = [run for run in runs if not run.is_in(saved)]
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        futures = {pool.submit(run.rows, data_dir): run for run in missing}
        for future in as_completed(futures):
            for row in future.result():
                append(record, row, folder)
                print(*(row[name] for name in record.key), f"{row['accuracy']:.4f}", row["cell"], flush=True)
