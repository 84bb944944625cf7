"""Ablations of the strategy `bayes` on NAS-Bench-201: `python -m benchmarks.worth_ablations --data-dir data`.

One part at a time is removed or replaced, and the cells are looked up in the table of the benchmark. Looks are half as
long as in `benchmarks.nasbench201`: a whole search finds nearly the best cell, and would not show what a part is good
for. The seeds are not those of that benchmark. Runs in the record are not repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor

from bayesnas_graph import api, bayes
from benchmarks import tables
from benchmarks.command import search_arguments
from benchmarks.dots import dots
from benchmarks.record import Record, Row, append, load, resumed
from benchmarks.trial import overlap
from benchmarks.truth import History, Truth, best_cell

SEEDS = range(110, 113)
SHORTER: dict[str, Any] = {"steps": 400, "finish": 0, "threads": 1}
STRATEGY = "bayesnas_graph.search.strategies.bayes"

InUnits = Callable[[bayes.Looks, Tensor, Tensor], bayes.Looks]
in_units: InUnits = bayes.in_units


def candidates_alone(looks: bayes.Looks, is_alone: Tensor, curvature: Tensor) -> bayes.Looks:
    """Candidates are measured by what closing them costs, as zero switches are."""
    return in_units(looks, torch.ones_like(is_alone), curvature)


@dataclass(frozen=True)
class Variant:
    """What differs from the default: settings, constants of the strategy, and the unit of looks."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    constants: Mapping[str, float] = field(default_factory=dict)
    units: InUnits | None = None


WHOLE = "as it is"
VARIANTS = {
    WHOLE: Variant(),
    "gates move (`bayesnas`)": Variant({"strategy": "bayesnas"}),
    "gates start at 1": Variant({"unit": "gate"}),
    "learning rate falls to 5 %": Variant({"final_rate": 0.05}),
    "only the last look counts": Variant(constants={"MEMORY": 0}),
    "all looks count the same": Variant(constants={"MEMORY": 1}),
    "one in four closed at a time": Variant(constants={"SHARE": 4}),
    "means decide, not intervals": Variant(constants={"SURE": 0.5}),
    "candidates like zero switches": Variant(units=candidates_alone),
}


def begin(seeds: tuple[int, ...]) -> Record:
    """An empty record of these seeds."""
    command = "python -m benchmarks.worth_ablations"
    settings = {"search": SHORTER}
    return Record.begin("worth_ablations", command, ("variant", "seed"), seeds=seeds, settings=settings)


def row(name: str, seed: int, data_dir: Path) -> Row:
    """Search with a variant, and look up the cells that would have been derived after each update."""
    variant, start = VARIANTS[name], process_time()
    with TemporaryDirectory() as folder, ExitStack() as changes:
        for constant, value in variant.constants.items():
            changes.enter_context(patch(f"{STRATEGY}.{constant}", value))
        if variant.units is not None:
            changes.enter_context(patch("bayesnas_graph.bayes.in_units", variant.units))
        run = Path(folder) / "run"
        api.search("nasbench201", output=run, data_dir=data_dir, seed=seed, **{**SHORTER, **variant.settings})
        history = History.read(run)
    truth = Truth.load()
    assert history.derived is not None, "the search has ended"
    ranking = "worth" if "strategy" not in variant.settings else "relevance"
    return {
        "variant": name,
        "seed": seed,
        "accuracy": truth.accuracy(history.derived),
        "rank": truth.rank(history.derived),
        "cell": str(history.derived),
        "after_updates": [truth.accuracy(best_cell(update[ranking])) for update in history.updates],
        "correlation": max(truth.correlation(update[ranking]) for update in history.updates),
        "minutes": (process_time() - start) / 60,
    }


def table(record: Record) -> str:
    """A row for each variant."""
    rows = []
    for name in shown(record):
        runs = record.where(variant=name)
        accuracies, cells = [run["accuracy"] for run in runs], [run["cell"] for run in runs]
        rows.append(
            [
                name,
                str(len(runs)),
                f"{fmean(accuracies):.2f}",
                f"{min(accuracies):.2f}",
                ", ".join(f"{run['rank']:,}" for run in runs),
                f"{fmean(fmean(run['after_updates']) for run in runs):.2f}",
                f"{overlap(cells):.0%} of edges" if len(cells) > 1 else "",
            ]
        )
    head = ["variant", "seeds", "mean, %", "worst, %", "ranks of 15,625", "mean of all updates, %", "seeds agree on"]
    return tables.table(head, rows)


def picture(record: Record) -> str:
    """The accuracy of each run."""
    by_variant = {
        name.replace("`", ""): [run["accuracy"] for run in record.where(variant=name)] for name in shown(record)
    }
    return dots({"": by_variant}, "accuracy of the cell in NAS-Bench-201, %; dashed: the best cell", reference=91.607)


def shown(record: Record) -> list[str]:
    """The variants in the record, in the order of `VARIANTS`."""
    return [name for name in VARIANTS if record.where(variant=name)]


def main() -> None:
    parser = search_arguments(__doc__)
    parser.add_argument("--variant", action="append", choices=VARIANTS, help="only run this variant")
    parser.add_argument("--seed", type=int, action="append", help="only run this seed")
    options = parser.parse_args()
    seeds = tuple(options.seed or SEEDS)
    record = begin(seeds)
    saved = resumed(record)
    missing = [
        (name, seed)
        for seed in seeds
        for name in options.variant or VARIANTS
        if saved.row(variant=name, seed=seed) is None
    ]
    with ProcessPoolExecutor(options.jobs, get_context("spawn"), max_tasks_per_child=1) as pool:
        futures = [pool.submit(row, name, seed, options.data_dir) for name, seed in missing]
        for future in as_completed(futures):
            result = future.result()
            append(record, result)
            print(result["variant"], result["seed"], f"{result['accuracy']:.2f}", result["cell"], flush=True)
    print(table(load("worth_ablations")), end="")


if __name__ == "__main__":
    main()
