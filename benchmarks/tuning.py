"""Tune one setting of each strategy, with three values each: `python -m benchmarks.tuning --data-dir data`.

The most important setting of each strategy is tuned on Fashion-MNIST with a separate seed, and `benchmarks.rivals` uses
the value whose cell trains best on all data. Runs in the record are not repeated.
"""

from __future__ import annotations

from typing import Any

from benchmarks import tables
from benchmarks.command import search_arguments
from benchmarks.record import Record, load
from benchmarks.runs import Run, make
from benchmarks.trial import DATA, SEARCH, TRAIN, WEIGHTS, Trial

ON = "fashion-mnist"
SEED = 100

# The settings of each strategy besides `SEARCH`, and the setting to tune with its values.
FIXED: dict[str, dict[str, Any]] = {
    "bayes": {"strategy": "bayes", "iterations": 20, "steps": 30},  # it closes one switch at a time
    "bayesnas": {"strategy": "bayesnas"},
    "darts": {"strategy": "darts"},
    "snas": {"strategy": "snas"},
    "gdas": {"strategy": "gdas"},
    "proxyless": {"strategy": "proxyless"},
    "dso": {"strategy": "dso", "gate_rate": 0.05},  # its momentum amplifies this tenfold
    "random": {"strategy": "random", "iterations": 1, "steps": 600},
    "magnitude": {"strategy": "magnitude"},
}
TRIED: dict[str, tuple[str, tuple[float, ...]]] = {
    "bayes": ("final_rate", (0.05, 0.2, 0.4)),
    "bayesnas": ("lambda", (0.02, 0.05, 0.1)),
    "darts": ("logit_rate", (0.005, 0.02, 0.05)),
    "snas": ("logit_rate", (0.005, 0.02, 0.05)),
    "gdas": ("logit_rate", (0.005, 0.02, 0.05)),
    "proxyless": ("logit_rate", (0.005, 0.02, 0.05)),
    "dso": ("lambda", (0.01, 0.03, 0.1)),
    "random": ("samples", (8, 24, 72)),
    "magnitude": ("gate_rate", (0.03, 0.1, 0.3)),
}


def begin() -> Record:
    settings = {
        "search": SEARCH,
        "strategies": FIXED,
        "tried": TRIED,
        "train": TRAIN,
        "data": {ON: DATA[ON]},
        "weights": WEIGHTS,
    }
    command = "python -m benchmarks.tuning"
    return Record.begin("tuning", command, ("strategy", "value"), seeds=(SEED,), settings=settings)


def runs() -> list[Run]:
    """Each value of each strategy."""
    return [
        Run(Trial(ON, SEED, {**FIXED[name], setting: value}), ({"strategy": name, "value": value},))
        for name, (setting, values) in TRIED.items()
        for value in values
    ]


def tuned(record: Record) -> dict[str, dict[str, Any]]:
    """The settings of each strategy with its best value, the first in case of a tie."""
    found = {}
    for name, (setting, _) in TRIED.items():
        best = max(record.where(strategy=name), key=lambda row: row["accuracy"])
        found[name] = {**FIXED[name], setting: best["value"]}
    return found


def table(record: Record) -> str:
    """Accuracies by strategy and value, and the chosen value."""
    taken = tuned(record)
    rows = []
    for name, (setting, values) in TRIED.items():
        shown = [f"{value:g}: {100 * _accuracy(record, name, value):.2f}" for value in values]
        rows.append([name, setting, *shown, f"{taken[name][setting]:g}"])
    return tables.table(["strategy", "setting", "value: accuracy, %", "", "", "chosen"], rows)


def _accuracy(record: Record, strategy: str, value: float) -> float:
    row = record.row(strategy=strategy, value=value)
    assert row is not None, "every value has been tried"
    return float(row["accuracy"])


def main() -> None:
    options = search_arguments(__doc__).parse_args()
    make(begin(), runs(), options.data_dir, options.jobs)
    print(table(load("tuning")), end="")


if __name__ == "__main__":
    main()
