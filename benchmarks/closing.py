"""Switches that short searches of the large spaces close, by lambda: `python -m benchmarks.closing --data-dir data`.

Uses the recipe `quick` of every space with fewer steps and without any size limit, so nothing but lambda
decides how much is closed. Rows in the record are not repeated: the benchmark can be interrupted and resumed.
"""

from __future__ import annotations

import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bayesnas_graph import api
from benchmarks import tables
from benchmarks.command import search_arguments
from benchmarks.record import Record, Row, append, load, resumed

SPACES = ("darts", "tree_cell", "densenet", "hierarchical", "proxyless_mobile")
LAMBDAS = (0.05, 0.15, 0.5)
SEED = 0
SHORT: dict[str, Any] = {
    "warmup": 40,
    "steps": 40,
    "iterations": 5,
    "curvature_batches": 4,
    "finish": 0,
    "stop_at_budget": False,
    "threads": 1,
}


def begin() -> Record:
    """An empty record."""
    settings = {"search": SHORT, "lambdas": list(LAMBDAS)}
    return Record.begin("closing", "python -m benchmarks.closing", ("space", "lambda"), seeds=[SEED], settings=settings)


def row(space: str, intensity: float, data_dir: Path) -> Row:
    """Search a space, and count what is closed."""
    start = time.process_time()
    with TemporaryDirectory() as folder:
        found = api.search(
            space,
            output=Path(folder) / "run",
            data_dir=data_dir,
            recipe="quick",
            intensity=intensity,
            seed=SEED,
            **SHORT,
        )
    outcome = found.outcome
    return {
        "space": space,
        "lambda": intensity,
        "closed": sum(not verdict.keep for verdict in outcome.decision.verdicts),
        "switches": len(outcome.decision.verdicts),
        "weights": outcome.cost.parameters,
        "lost_outputs": len(outcome.decision.lost),
        "minutes": (time.process_time() - start) / 60,
    }


def table(record: Record) -> str:
    """A row for each space, a column for each lambda."""
    rows = []
    for space in record.values("space"):
        runs = sorted(record.where(space=space), key=lambda run: run["lambda"])
        by_lambda = {run["lambda"]: run for run in runs}
        closed = [f"{by_lambda[value]['closed']:,}" if value in by_lambda else "" for value in LAMBDAS]
        sizes = [f"{by_lambda[value]['weights']:,}" if value in by_lambda else "" for value in LAMBDAS]
        rows.append([f"`{space}`", f"{runs[0]['switches']:,}", *closed, *sizes])
    closed_at = [f"closed at {value:g}" for value in LAMBDAS]
    left_at = [f"parameters at {value:g}" for value in LAMBDAS]
    return tables.table(["space", "switches", *closed_at, *left_at], rows)


def main() -> None:
    parser = search_arguments(__doc__)
    parser.add_argument("--space", action="append", choices=SPACES, help="only search this space")
    options = parser.parse_args()
    record = begin()
    saved = resumed(record)
    missing = [
        (space, value)
        for space in options.space or SPACES
        for value in LAMBDAS
        if saved.row(**{"space": space, "lambda": value}) is None
    ]
    with ProcessPoolExecutor(options.jobs, get_context("spawn"), max_tasks_per_child=1) as pool:
        futures = [pool.submit(row, space, value, options.data_dir) for space, value in missing]
        for future in as_completed(futures):
            result = future.result()
            append(record, result)
            print(result["space"], result["lambda"], f"{result['closed']} of {result['switches']}", flush=True)
    print(table(load("closing")), end="")


if __name__ == "__main__":
    main()
