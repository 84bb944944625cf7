"""Trade-off of size and accuracy by lambda, and agreement of seeds: `python -m benchmarks.size_by_lambda`.

Uses the shipped space `quickstart` with its recipe, except for lambda and for the required size, which is ignored.
Accuracies are those with the weights of the search. The overlap of two seeds is the number of switches that both keep
over the number that either keeps.
"""

from __future__ import annotations

import argparse
from itertools import combinations
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from bayesnas_graph import api
from benchmarks import tables
from benchmarks.command import arguments, command, finish
from benchmarks.dots import dots
from benchmarks.record import Record

LAMBDAS = (0.05, 0.2, 0.5, 2.0)
SEEDS = (0, 1)


def make(options: argparse.Namespace) -> Record:
    """Search with every lambda and every seed."""
    key = ("lambda", "seed")
    record = Record.begin(options.name, command(), key, seeds=SEEDS, settings={"lambdas": list(LAMBDAS)})
    for intensity in LAMBDAS:
        for seed in SEEDS:
            with TemporaryDirectory() as folder:
                found = api.search(
                    "quickstart",
                    output=Path(folder) / "run",
                    intensity=intensity,
                    seed=seed,
                    threads=1,
                    stop_at_budget=False,
                )
            outcome = found.outcome
            row = {
                "lambda": intensity,
                "seed": seed,
                "weights": outcome.cost.parameters,
                "multiply_adds": outcome.cost.flops,
                "accuracy": outcome.accuracy,
                "kept": sorted(verdict.name for verdict in outcome.decision.verdicts if verdict.keep),
                "switches": len(outcome.decision.verdicts),
            }
            record = record.with_rows([row])
    return record


def table(record: Record) -> str:
    """A row for each lambda."""
    rows = []
    for intensity in record.values("lambda"):
        runs = record.where(**{"lambda": intensity})
        kept = [len(row["kept"]) for row in runs]
        pairs = [(set(a["kept"]), set(b["kept"])) for a, b in combinations(runs, 2)]
        rows.append(
            [
                f"{intensity:g}",
                tables.spread([row["weights"] for row in runs], ",.0f"),
                tables.spread([row["multiply_adds"] for row in runs], ",.0f"),
                tables.spread([100 * row["accuracy"] for row in runs]),
                f"{fmean(kept):g} of {runs[0]['switches']}",
                f"{fmean(len(one & other) / len(one | other) for one, other in pairs):.2f}" if pairs else "",
            ]
        )
    return tables.table(["lambda", "parameters", "multiply-adds", "accuracy, %", "switches kept", "overlap"], rows)


def picture(record: Record) -> str:
    """The parameters of all runs."""
    runs = {f"lambda {value:g}": record.where(**{"lambda": value}) for value in record.values("lambda")}
    return dots({"": {name: [row["weights"] for row in some] for name, some in runs.items()}}, "parameters")


def main() -> None:
    options = arguments(__doc__).parse_args()
    finish(make(options), table, options)


if __name__ == "__main__":
    main()
