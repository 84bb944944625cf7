"""Parallel trials, each saved to a record when it finishes."""

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
    """A trial, and the keys and rankings of its rows in the record."""

    trial: Trial
    keys: tuple[Mapping[str, Any], ...]
    ranks: tuple[Ranking | None, ...] = (None,)

    def is_in(self, record: Record) -> bool:
        """Whether all rows are in the record."""
        return all(record.row(**key) is not None for key in self.keys)

    def rows(self, data_dir: Path) -> list[Row]:
        """Run the trial and return its rows."""
        rows = self.trial.row(data_dir, self.ranks)
        return [{**key, **row} for key, row in zip(self.keys, rows, strict=True)]


def make(record: Record, runs: Iterable[Run], data_dir: Path, jobs: int, folder: Path = RESULTS) -> None:
    """Make the runs that are missing in the record, `jobs` at a time. Can be interrupted and resumed."""
    saved = resumed(record, folder)
    missing = [run for run in runs if not run.is_in(saved)]
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        futures = {pool.submit(run.rows, data_dir): run for run in missing}
        for future in as_completed(futures):
            for row in future.result():
                append(record, row, folder)
                print(*(row[name] for name in record.key), f"{row['accuracy']:.4f}", row["cell"], flush=True)
