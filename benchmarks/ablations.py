"""What each part of the Bayesian strategy is good for: `python -m benchmarks.ablations --data-dir data`.

One part at a time is left out or replaced, in the set-up of `benchmarks.rivals` but with a lambda at which switches
close. The rankings are those by which the best candidate of an edge is taken, from one and the same search. Runs that
are in the record are not made again.
"""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import Any, get_args

from bayesnas_graph.bayes import Ranking
from benchmarks import tables
from benchmarks.command import arguments
from benchmarks.dots import dots
from benchmarks.record import Record, append, load, resumed
from benchmarks.trial import DATA, SEARCH, TRAIN, WEIGHTS, Trial, overlap

ON = "fashion-mnist"
BASE: dict[str, Any] = {"lambda": 0.05}
VARIANTS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "dependency: none": {"dependency": "none"},
    "dependency: whole path": {"dependency": "whole_path"},
    "gauge: none": {"gauge": "none"},
    "unit: gate": {"unit": "gate"},
    "zero: before": {"zero": "before"},
    "curvature: ggn": {"curvature": "ggn"},
    "curvature: empirical": {"curvature": "empirical"},
    "curvature: recursive": {"curvature": "recursive"},
    "lambda: 0.01": {"lambda": 0.01},
    "lambda: 0.2": {"lambda": 0.2},
}
RANKINGS: tuple[Ranking, ...] = get_args(Ranking)


def begin(seeds: tuple[int, ...]) -> Record:
    settings = {
        "search": {**SEARCH, **BASE},
        "variants": VARIANTS,
        "train": TRAIN,
        "data": {ON: DATA[ON]},
        "weights": WEIGHTS,
    }
    command = "python -m benchmarks.ablations"
    return Record.begin("ablations", command, ("variant", "seed"), seeds=seeds, settings=settings)


def make(data_dir: Path, seeds: tuple[int, ...]) -> None:
    """Make the runs that are not there yet."""
    record = begin(seeds)
    for seed in seeds:
        for variant, settings in VARIANTS.items():
            if resumed(record).row(variant=variant, seed=seed) is not None:
                continue
            whole = variant == "as it is"  # from which the rankings are taken as well
            names = [variant, *(f"ranking: {rank}" for rank in RANKINGS)] if whole else [variant]
            ranks = (None, *RANKINGS) if whole else (None,)
            rows = Trial(ON, seed, {**BASE, **settings}).row(data_dir, ranks)
            for name, row in reversed(list(zip(names, rows, strict=True))):  # what is asked for above comes last
                append(record, {"variant": name, "seed": seed, **row})
                print(name, seed, f"{row['accuracy']:.4f}", row["closed"], row["cell"], flush=True)


def table(record: Record) -> str:
    """What every variant comes to."""
    head = ["variant", "accuracy, %", "switches closed", "bridges", "weights at width 8", "seeds agree on", "search, s"]
    rows = []
    for variant in (*VARIANTS, *(f"ranking: {rank}" for rank in RANKINGS)):
        runs = record.where(variant=variant)
        if not runs:
            continue
        found = [100 * row["accuracy"] for row in runs]
        cells = [row["cell"] for row in runs]
        rows.append(
            [
                variant,
                f"{fmean(found):.2f} ({min(found):.2f}-{max(found):.2f})",
                f"{fmean(row['closed'] for row in runs):.1f} of 30",
                f"{fmean(row['bridges'] for row in runs):.1f}",
                f"{fmean(row['at_width_8'] for row in runs):,.0f}",
                f"{overlap(cells):.0%} of edges" if len(cells) > 1 else "",
                f"{fmean(row['search_seconds'] for row in runs):.0f}",
            ]
        )
    return tables.table(head, rows)


def picture(record: Record) -> str:
    """Errors of all runs."""
    rows = {
        variant: [100 * (1 - row["accuracy"]) for row in record.where(variant=variant)]
        for variant in record.values("variant")
    }
    return dots({"": {name: rows[name] for name in sorted(rows)}}, "test error, %")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--seed", type=int, action="append", help="make the runs of this seed only")
    options = parser.parse_args()
    make(options.data_dir, tuple(options.seed or range(2)))
    print(table(load("ablations")), end="")


if __name__ == "__main__":
    main()
