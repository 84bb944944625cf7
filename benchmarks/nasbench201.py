"""Searches of NAS-Bench-201 on CIFAR-10, compared with the truth: `python -m benchmarks.nasbench201 --data-dir data`.

Every strategy searches with the settings that the space ships with, on one core, with the same seeds and for about as
long: those whose steps take longer have fewer of them. The cells are looked up in the table of the benchmark. The seeds
are not those that the defaults were chosen with, which are 100 and above. `--finalists 6` compares six architectures at
the end of every search; its seeds are others. Runs in the record are not repeated: the benchmark can be interrupted and
resumed at any time.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from bayesnas_graph.runs.strategies import STRATEGIES
from benchmarks import tables
from benchmarks.command import search_arguments
from benchmarks.dots import dots
from benchmarks.record import Record, Row, append, load, resumed
from benchmarks.trial import overlap
from benchmarks.truth import History, Truth, best_cell

SEEDS = range(30, 35)
SEEDS_WITH_FINALISTS = range(20, 25)
EVERY = 3  # updates, in the table of the course of searches
# Settings of each strategy besides those of the space. Steps of `bayes` and `bayesnas` become cheaper while switches
# close. `darts`, `gdas` and `proxyless` take a second pass per step, for their gates. `gdas`, `proxyless` and `random`
# compute only what they draw.
SETTINGS: dict[str, Mapping[str, Any]] = {
    "bayes": {},
    "bayesnas": {"lambda": 0.002},  # its penalty acts in every step, and there are many
    "darts": {"steps": 310},
    "snas": {"steps": 700},
    "gdas": {"steps": 1150},
    "proxyless": {"steps": 930},
    "dso": {"steps": 700, "gate_rate": 0.05},  # its momentum amplifies this tenfold
    "random": {"steps": 2050},
    "magnitude": {"steps": 700},
}


KEY = ("strategy", "finalists", "seed")


def begin(seeds: Sequence[int]) -> Record:
    """An empty record of these seeds."""
    command = "python -m benchmarks.nasbench201"
    return Record.begin("nasbench201", command, KEY, seeds=seeds, settings={"strategies": SETTINGS})


def row(strategy: str, finalists: int, seed: int, data_dir: Path) -> Row:
    """Search, and look up the cell that was derived and those that would have been derived after each update."""
    given = {"seed": seed, "strategy": strategy, "finalists": finalists, "threads": 1, **SETTINGS[strategy]}
    options = [word for name, value in given.items() for word in ("-s", f"{name}={value}")]
    with TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        command = [sys.executable, "-m", "bayesnas_graph", "search", "nasbench201", "-o", str(run), *options]
        command += ["--data-dir", str(data_dir), "--display", "plain"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"})
        spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        history = History.read(run)
    truth = Truth.load()
    assert history.derived is not None, "the search has ended"
    ranking = "worth" if strategy == "bayes" else "gamma"
    scores = [update[ranking] for update in history.updates]
    return {
        "strategy": strategy,
        "finalists": finalists,
        "seed": seed,
        "accuracy": truth.accuracy(history.derived),
        "rank": truth.rank(history.derived),
        "cell": str(history.derived),
        "after_updates": [truth.accuracy(best_cell(update)) for update in scores],
        "correlations": [truth.correlation(update) for update in scores],
        "compared": [{"accuracy": truth.accuracy(cell), "loss": loss} for cell, loss in history.finalists],
        "minutes": spent / 60,
    }


def table(record: Record) -> str:
    """Accuracies by strategy and number of finalists."""
    rows = []
    for strategy, finalists in groups(record):
        runs = record.where(strategy=strategy, finalists=finalists)
        accuracies = [run["accuracy"] for run in runs]
        decided = [run["compared"][0]["accuracy"] for run in runs if run["compared"]]
        cells = [run["cell"] for run in runs]
        rows.append(
            [
                strategy,
                str(finalists),
                str(len(runs)),
                f"{fmean(accuracies):.2f}",
                f"{min(accuracies):.2f}",
                f"{max(accuracies):.2f}",
                f"{fmean(decided):.2f}" if decided else "",
                ", ".join(f"{run['rank']:,}" for run in runs),
                f"{overlap(cells):.0%} of edges" if len(cells) > 1 else "",
                f"{fmean(run['minutes'] for run in runs):.0f}",
            ]
        )
    head = [
        "strategy",
        "finalists",
        "seeds",
        "mean, %",
        "worst, %",
        "best, %",
        "before finalists, %",
        "ranks of 15,625",
        "seeds agree on",
        "minutes",
    ]
    return f"{tables.table(head, rows)}\nThe cells that would have been derived after an update:\n\n{over_time(record)}"


def groups(record: Record) -> list[tuple[str, int]]:
    """The strategies in the record, with their numbers of finalists."""
    return list(dict.fromkeys((run["strategy"], run["finalists"]) for run in record.rows))


def over_time(record: Record) -> str:
    """The accuracy of the best candidates of every edge after some updates: the mean and the worst of all seeds."""
    rows = []
    for strategy in record.values("strategy"):
        curves = [run["after_updates"] for run in record.where(strategy=strategy, finalists=0)]
        count = min(map(len, curves), default=0)
        for number in sorted({*range(0, count, EVERY), count - 1} - {-1}):
            now = [curve[number] for curve in curves]
            rows.append([strategy, str(number + 1), f"{fmean(now):.2f}", f"{min(now):.2f}"])
    return tables.table(["strategy", "update", "mean, %", "worst, %"], rows)


def picture(record: Record) -> str:
    """The accuracy of each run."""
    by_group = {
        f"{strategy}, {finalists} finalists" if finalists else strategy: [
            run["accuracy"] for run in record.where(strategy=strategy, finalists=finalists)
        ]
        for strategy, finalists in groups(record)
    }
    return dots({"": by_group}, "accuracy of the cell in NAS-Bench-201, %; dashed: the best cell", reference=91.607)


def main() -> None:
    parser = search_arguments(__doc__)
    parser.add_argument("--strategy", action="append", choices=STRATEGIES, help="only run this strategy")
    parser.add_argument("--finalists", type=int, default=0, help="architectures to compare at the end")
    parser.add_argument("--seed", type=int, action="append", help="only run this seed")
    options: argparse.Namespace = parser.parse_args()
    finalists = options.finalists
    seeds = options.seed or list(SEEDS_WITH_FINALISTS if finalists else SEEDS)
    record = begin(seeds)
    saved = resumed(record)
    missing = [
        (strategy, seed)
        for seed in seeds
        for strategy in options.strategy or list(STRATEGIES)
        if saved.row(strategy=strategy, finalists=finalists, seed=seed) is None
    ]
    with ProcessPoolExecutor(options.jobs, get_context("spawn"), max_tasks_per_child=1) as pool:
        futures = [pool.submit(row, strategy, finalists, seed, options.data_dir) for strategy, seed in missing]
        for future in as_completed(futures):
            result = future.result()
            append(record, result)
            print(result["strategy"], result["seed"], f"{result['accuracy']:.2f}", result["cell"], flush=True)
    print(table(load("nasbench201")), end="")


if __name__ == "__main__":
    main()
