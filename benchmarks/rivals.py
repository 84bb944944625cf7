"""All strategies on the same supernet, data, steps and seeds: `python -m benchmarks.rivals --data-dir data`.

Each searches the cell of NAS-Bench-201; its cell is put into a network of about 12,000 parameters and trained from
scratch. `drawn` does not search but takes a random cell. The settings of each strategy were chosen by
`benchmarks.tuning`. Runs in the record are not repeated: the benchmark can be interrupted and resumed at any time.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from benchmarks import tables
from benchmarks.command import search_arguments
from benchmarks.dots import dots
from benchmarks.record import Record, load
from benchmarks.runs import Run, make
from benchmarks.trial import DATA, SEARCH, TRAIN, WEIGHTS, Trial, overlap
from benchmarks.tuning import FIXED, tuned

DRAWN = {"strategy": "random", "iterations": 1, "warmup": 1, "steps": 1, "samples": 1}
SEEDS = 3
DRAWS = 16  # random cells, which are cheap and vary a lot


def strategies() -> dict[str, dict[str, Any]]:
    """The strategies and their settings."""
    return {**tuned(load("tuning")), "drawn": DRAWN}


def begin(seeds: tuple[int, ...]) -> Record:
    settings = {"search": SEARCH, "strategies": strategies(), "train": TRAIN, "data": DATA, "weights": WEIGHTS}
    command = "python -m benchmarks.rivals"
    return Record.begin("rivals", command, ("data", "strategy", "seed"), seeds=seeds, settings=settings)


def runs(seeds: Sequence[int], draws: Sequence[int], chosen: Sequence[str]) -> list[Run]:
    """Each strategy on all data, seed by seed."""
    return [
        Run(Trial(data, seed, settings), ({"data": data, "strategy": strategy, "seed": seed},))
        for seed in sorted({*seeds, *draws})
        for data in chosen
        for strategy, settings in strategies().items()
        if seed in (draws if strategy == "drawn" else seeds)
    ]


def table(record: Record) -> str:
    """Accuracies by strategy and data, and the agreement between seeds."""
    names, sets = _shown(record)
    head = ["strategy", *(f"{data}, %" for data in sets)]
    head += ["parameters", "multiply-adds", "seeds agree on", "search, s"]
    rows = []
    for strategy in names:
        runs = record.where(strategy=strategy)
        cells = [[row["cell"] for row in runs if row["data"] == data] for data in sets]
        agreed = [overlap(some) for some in cells if len(some) > 1]
        rows.append(
            [
                strategy,
                *(_accuracy(record, strategy, data) for data in sets),
                f"{fmean(row['weights'] for row in runs):,.0f}",
                f"{fmean(row['multiply_adds'] for row in runs) / 1e6:.2f} M",
                f"{fmean(agreed):.0%} of edges" if agreed else "",
                f"{fmean(row['search_seconds'] for row in runs):.0f}",
            ]
        )
    return tables.table(head, rows)


def _shown(record: Record) -> tuple[list[str], list[str]]:
    """The strategies and data in the record, in the order of the settings."""
    names = [name for name in (*FIXED, "drawn") if record.where(strategy=name)]
    return names, [data for data in DATA if record.where(data=data)]


def _accuracy(record: Record, strategy: str, data: str) -> str:
    found = [100 * row["accuracy"] for row in record.where(strategy=strategy, data=data)]
    if not found:
        return ""
    low, high = min(found), max(found)
    return f"{fmean(found):.2f} ({low:.2f}-{high:.2f})" if len(found) > 1 else f"{found[0]:.2f}"


def picture(record: Record) -> str:
    """The error of each run minus the mean error of random cells."""
    groups = {}
    names, sets = _shown(record)
    for data in sets:
        plain = fmean(row["accuracy"] for row in record.where(strategy="drawn", data=data))
        groups[data] = {
            strategy: [100 * (plain - row["accuracy"]) for row in record.where(strategy=strategy, data=data)]
            for strategy in names
            if record.where(strategy=strategy, data=data)
        }
    return dots(groups, "test error relative to random cells, percentage points", reference=0)


def main() -> None:
    parser = search_arguments(__doc__)
    parser.add_argument("--seed", type=int, action="append", help="only run this seed")
    parser.add_argument("--data", action="append", choices=DATA, help="only run on this data set")
    options = parser.parse_args()
    seeds, draws = options.seed or range(SEEDS), options.seed or range(DRAWS)
    record = begin(tuple(sorted({*seeds, *draws})))
    make(record, runs(seeds, draws, options.data or list(DATA)), options.data_dir, options.jobs)
    print(table(load("rivals")), end="")


if __name__ == "__main__":
    main()
