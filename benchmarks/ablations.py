"""Ablations of the strategy `bayesnas`: `python -m benchmarks.ablations --data-dir data`.

One part at a time is removed or replaced, in the setup of `benchmarks.rivals`. The rankings select the best candidate
of each edge from the same search. Runs in the record are not repeated.
"""

from __future__ import annotations

from statistics import fmean
from typing import Any, get_args

from bayesnas_graph.bayes import Ranking
from benchmarks import tables
from benchmarks.command import search_arguments
from benchmarks.dots import dots
from benchmarks.record import Record, load
from benchmarks.runs import Run, make
from benchmarks.trial import DATA, SEARCH, TRAIN, WEIGHTS, Trial, overlap

ON = "fashion-mnist"
BASE: dict[str, Any] = {"strategy": "bayesnas", "lambda": 0.05}
WHOLE = "as it is"
VARIANTS: dict[str, dict[str, Any]] = {
    WHOLE: {},
    "dependency: none": {"dependency": "none"},
    "dependency: whole path": {"dependency": "whole_path"},
    "gauge: none": {"gauge": "none"},
    "unit: rms": {"unit": "rms"},
    "unit: gate": {"unit": "gate"},
    "zero: before": {"zero": "before"},
    "curvature: ggn": {"curvature": "ggn"},
    "curvature: empirical": {"curvature": "empirical"},
    "curvature: recursive": {"curvature": "recursive"},
    "lambda: 0.01": {"lambda": 0.01},
    "lambda: 0.2": {"lambda": 0.2},
    "drop path: 0.3": {"drop_path": 0.3},
    "gates on held-out samples": {"gates_on": "held_out"},
    "warm-up: 1,000 steps": {"warmup": 1000},
}
RANKINGS: tuple[Ranking, ...] = get_args(Ranking)
SEEDS = 3


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


def runs(seeds: tuple[int, ...]) -> list[Run]:
    """Every variant, seed by seed; all rankings use the unchanged search."""
    found = []
    for seed in seeds:
        for variant, settings in VARIANTS.items():
            ranks: tuple[Ranking | None, ...] = (None, *RANKINGS) if variant == WHOLE else (None,)
            names = [variant if rank is None else f"ranking: {rank}" for rank in ranks]
            keys = tuple({"variant": name, "seed": seed} for name in names)
            found.append(Run(Trial(ON, seed, {**BASE, **settings}), keys, ranks))
    return found


def table(record: Record) -> str:
    """A row for each variant."""
    head = ["variant", "accuracy, %", "switches closed", "bridges", "parameters at width 8"]
    head += ["seeds agree on", "search, s"]
    rows = []
    for variant in _shown(record):
        runs = record.where(variant=variant)
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
    """The errors of all runs."""
    rows = {
        variant: [100 * (1 - row["accuracy"]) for row in record.where(variant=variant)] for variant in _shown(record)
    }
    return dots({"": rows}, "test error, %")


def _shown(record: Record) -> list[str]:
    """The variants in the record, in the order of the settings."""
    return [name for name in (*VARIANTS, *(f"ranking: {rank}" for rank in RANKINGS)) if record.where(variant=name)]


def main() -> None:
    parser = search_arguments(__doc__)
    parser.add_argument("--seed", type=int, action="append", help="only run this seed")
    options = parser.parse_args()
    seeds = tuple(options.seed or range(SEEDS))
    make(begin(seeds), runs(seeds), options.data_dir, options.jobs)
    print(table(load("ablations")), end="")


if __name__ == "__main__":
    main()
