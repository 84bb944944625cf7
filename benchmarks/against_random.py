"""Searches compared with random architectures: `python -m benchmarks.against_random --data-dir data`.

Every search has the recipe `quick` of its space. What it finds and random architectures are then trained from scratch,
all in the same way, as by `search --compare-random`. The random ones meet what the network requires or, where nothing
is required, have about as many parameters. Runs in the record are not repeated: the benchmark can be interrupted and
resumed at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from bayesnas_graph import api
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runs.reading.comparison import read_comparison
from bayesnas_graph.runs.strategies import STRATEGIES
from bayesnas_graph.runs.sweep.comparison import overlap
from benchmarks import tables
from benchmarks.command import search_arguments
from benchmarks.dots import dots
from benchmarks.record import Record, Row, append, load, resumed

RANDOM = 8  # architectures for every search
STEPS = 500  # of training, for each
KEY = ("case", "strategy", "seed")


@dataclass(frozen=True)
class Case:
    """A space and data, with settings that differ from the recipe."""

    space: str
    data: str
    seeds: tuple[int, ...] = (0,)
    settings: Mapping[str, Any] = field(default_factory=dict)


CASES = {
    "quickstart": Case("quickstart", "digits", (0, 1, 2, 3, 4)),
    "darts, fashion-mnist": Case("darts", "fashion-mnist", (0, 1, 2)),
    "darts, cifar10": Case(
        "darts",
        "cifar10",
        (0, 1, 2),
        {"data": "cifar10", "pad": 0, "crop": 4, "parameters": {"width": 4, "cells": 4, "stride": 2}},
    ),
    "nasbench_macro": Case("nasbench_macro", "cifar10"),
    "nats_size": Case("nats_size", "cifar10"),
    "nasbench101": Case("nasbench101", "cifar10"),
    "densenet": Case("densenet", "cifar10"),
    "proxyless_mobile": Case("proxyless_mobile", "cifar10"),
    "tree_cell": Case("tree_cell", "cifar10"),
}


def begin() -> Record:
    """An empty record."""
    settings = {
        "random architectures": RANDOM,
        "steps": STEPS,
        "cases": {name: {"space": case.space, **case.settings} for name, case in CASES.items()},
    }
    seeds = sorted({seed for case in CASES.values() for seed in case.seeds})
    return Record.begin("against_random", "python -m benchmarks.against_random", KEY, seeds=seeds, settings=settings)


def row(name: str, strategy: str, seed: int, data_dir: Path) -> Row:
    """Search, and train what was found and random architectures."""
    case, start = CASES[name], process_time()
    given = {"strategy": strategy, "seed": seed, "finalist_steps": STEPS, "threads": 1, **case.settings}
    with TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        found = api.search(case.space, output=run, data_dir=data_dir, recipe="quick", **given)
        searched = process_time() - start
        api.search(resume=run, data_dir=data_dir, compare_random=RANDOM)
        comparison = read_comparison(RunFolder(run))
    assert comparison is not None, "the comparison has ended"
    own, *others = (network for network in comparison.networks if network.accuracy is not None)
    return {
        "case": name,
        "strategy": strategy,
        "seed": seed,
        "accuracy": own.accuracy,
        "parameters": own.parameters,
        "among": comparison.among,
        "random": [network.accuracy for network in others],
        "random_parameters": [network.parameters for network in others],
        "kept": sorted({verdict.name for verdict in found.outcome.decision.verdicts} - set(own.off)),
        "search_minutes": searched / 60,
        "minutes": (process_time() - start) / 60,
    }


def table(record: Record) -> str:
    """A row for each case and strategy."""
    rows = []
    for name, strategy in groups(record):
        runs = record.where(case=name, strategy=strategy)
        randoms = [fmean(run["random"]) for run in runs]
        ahead = [sum(other < run["accuracy"] for other in run["random"]) for run in runs]
        common = overlap([frozenset(run["kept"]) for run in runs])
        rows.append(
            [
                name,
                strategy,
                str(len(runs)),
                percent([run["accuracy"] for run in runs]),
                percent(randoms),
                percent([max(run["random"]) for run in runs]),
                f"{sum(ahead)} of {sum(len(run['random']) for run in runs)}",
                f"{fmean(run['parameters'] for run in runs):,.0f}",
                f"{fmean(fmean(run['random_parameters']) for run in runs):,.0f}",
                "" if common is None else f"{common:.2f}",
                f"{fmean(run['search_minutes'] for run in runs):.0f}",
            ]
        )
    head = ["space", "strategy", "seeds", "found, %", "random, %", "best random, %", "better than"]
    head += ["parameters", "of random ones", "overlap", "search, minutes"]
    return tables.table(head, rows)


def percent(accuracies: Sequence[float]) -> str:
    """The mean of accuracies, with their range if there are several.

    >>> percent([0.5]), percent([0.5, 0.75])
    ('50.0', '62.5 (50.0-75.0)')
    """
    low, high, mean = (100 * value for value in (min(accuracies), max(accuracies), fmean(accuracies)))
    return f"{mean:.1f} ({low:.1f}-{high:.1f})" if len(accuracies) > 1 else f"{mean:.1f}"


def groups(record: Record) -> list[tuple[str, str]]:
    """The cases and strategies in the record, in the order of `CASES` and `STRATEGIES`."""
    return [(name, strategy) for name in CASES for strategy in STRATEGIES if record.where(case=name, strategy=strategy)]


def picture(record: Record) -> str:
    """What was found minus the mean of the random architectures, for each run."""
    gains: dict[str, dict[str, list[float]]] = {}
    for name, strategy in groups(record):
        runs = record.where(case=name, strategy=strategy)
        gains.setdefault(name, {})[strategy] = [100 * (run["accuracy"] - fmean(run["random"])) for run in runs]
    return dots(gains, "accuracy minus that of random architectures, percentage points", reference=0)


def main() -> None:
    parser = search_arguments(__doc__)
    parser.add_argument("--case", action="append", choices=CASES, help="only run this case")
    parser.add_argument("--strategy", action="append", choices=STRATEGIES, help="the strategies (default: bayes)")
    parser.add_argument("--seed", type=int, action="append", help="only run this seed")
    options = parser.parse_args()
    record = begin()
    saved = resumed(record)
    missing = [
        (name, strategy, seed)
        for name in options.case or CASES
        for strategy in options.strategy or ["bayes"]
        for seed in options.seed or CASES[name].seeds
        if saved.row(case=name, strategy=strategy, seed=seed) is None
    ]
    with ProcessPoolExecutor(options.jobs, get_context("spawn"), max_tasks_per_child=1) as pool:
        futures = [pool.submit(row, *which, options.data_dir) for which in missing]
        for future in as_completed(futures):
            result = future.result()
            append(record, result)
            print(table(record.with_rows([result])), end="", flush=True)
    print(table(load("against_random")), end="")


if __name__ == "__main__":
    main()
