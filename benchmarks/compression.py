"""Errors and sizes of compressed networks: `python -m benchmarks.compression lenet300`.

Compresses a network by its recipe, for several values of lambda and seeds, and compares each result with a network of
the same size pruned by magnitude. The dense network of a seed is trained once. Finished runs in the folder are not
repeated, so the benchmark can be interrupted and resumed, and several processes can run one seed each (`--seed`).
`digits` takes minutes; the others, shown in docs/compression.md, take hours.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from bayesnas_graph import api
from benchmarks import tables
from benchmarks.command import arguments, command, finish
from benchmarks.curve import Point, curve
from benchmarks.record import Record, Row


@dataclass(frozen=True)
class Study:
    """The network, and the values of lambda and seeds."""

    source: str
    lambdas: tuple[float, ...]
    seeds: int = 3
    paper: tuple[str, int, float] | None = None  # widths, operations and error in percent (Zhou et al., 2019)


STUDIES = {
    "digits": Study(str(Path(__file__).parent / "digits300.nas"), (3e-5, 1e-4, 3e-4), seeds=2),
    "lenet300": Study("lenet300", (2e-6, 5e-6, 1e-5, 2e-5), paper=("465-37-90-10", 42_733, 1.54)),
    "lenet5": Study("lenet5", (2e-5, 5e-5), paper=("5-10-65-25-10", 314_755, 1.00)),
}


def run_folder(runs: Path, seed: int, intensity: float) -> Path:
    return runs / f"seed-{seed}-lambda-{intensity:g}"


def make(study: Study, runs: Path, data_dir: Path, seed: int) -> None:
    """Make the missing runs of a seed."""
    dense = run_folder(runs, seed, study.lambdas[0]) / "stages" / "dense.safetensors"
    for number, intensity in enumerate(study.lambdas):
        path = run_folder(runs, seed, intensity)
        if (path / "result.json").is_file():
            continue
        if (path / "run.json").is_file():
            api.compress(resume=path)
            continue
        given: dict[str, Any] = {} if number == 0 else {"weights": dense, "epochs": 0}
        api.compress(
            study.source, output=path, data_dir=data_dir, seed=seed, intensity=intensity, rival=True, threads=1, **given
        )


def rows(study: Study, runs: Path) -> Iterator[dict[str, object]]:
    """A row for each finished run."""
    for intensity in study.lambdas:
        for path in sorted(runs.glob(f"seed-*-lambda-{intensity:g}/result.json")):
            result = json.loads(path.read_text())
            row: dict[str, object] = {"lambda": intensity, "seed": int(path.parent.name.split("-")[1])}
            for name in ("whole", "left", "rival"):
                row[f"{name}, widths"] = result[name]["widths"]
                row[f"{name}, operations"] = result[name]["operations"]
                row[f"{name}, error, %"] = 100 * (1 - float(result[name]["accuracy"]))
            whole, left = (result[name]["latency"][1]["median"] for name in ("whole", "left"))
            yield {**row, "times as fast": whole / left}


def mean(found: list[Row], column: str) -> str:
    """The mean and the range."""
    values = [row[column] for row in found]
    return f"{fmean(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def table(record: Record) -> str:
    lines = []
    for intensity in record.values("lambda"):
        found = record.where(**{"lambda": intensity})
        lines.append(
            [
                f"{intensity:g}",
                found[0]["left, widths"],
                f"{fmean(row['left, operations'] for row in found):,.0f}",
                mean(found, "left, error, %"),
                mean(found, "rival, error, %"),
                f"1/{fmean(row['times as fast'] for row in found):.1f}",
            ]
        )
    some = record.where(**{"lambda": record.values("lambda")[0]})
    whole = [some[0]["whole, widths"], f"{some[0]['whole, operations']:,}", mean(some, "whole, error, %")]
    lines.append(["whole", *whole, "", ""])
    paper = STUDIES[record.settings["network"]].paper
    if paper is not None:
        widths, operations, error = paper
        lines.append(["the paper", widths, f"{operations:,}", f"{error:.2f}", "", ""])
    head = ["lambda", "widths with seed 0", "operations", "error, %", "by magnitude, %", "time, of the whole"]
    return tables.table(head, lines, words=len(head))


def picture(record: Record) -> str:
    """Error by operations, a point for each run."""
    clusters = [record.where(**{"lambda": intensity}) for intensity in record.values("lambda")]
    series = {
        title: [[Point(row[f"{of}, operations"], row[f"{of}, error, %"]) for row in some] for some in clusters]
        for title, of in (("compress", "left"), ("by magnitude", "rival"))
    }
    paper = STUDIES[record.settings["network"]].paper
    if paper is not None:
        series["the paper"] = [[Point(paper[1], paper[2])]]
    return curve(series, "operations", "test error, %")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("network", choices=STUDIES)
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--runs", type=Path, help="folder of the runs (default: runs/compression-NETWORK)")
    parser.add_argument("--seed", type=int, action="append", help="only run this seed")
    parser.add_argument("--svg", type=Path, help="write a chart of error by operations")
    options = parser.parse_args()
    study = STUDIES[options.network]
    runs = options.runs or Path("runs") / f"compression-{options.network}"
    for seed in options.seed or range(study.seeds):
        make(study, runs, options.data_dir, seed)
    settings = {"network": options.network, "lambdas": study.lambdas}
    name = f"{options.name}_{options.network}"
    record = Record.begin(name, command(), ["lambda", "seed"], settings=settings).with_rows(rows(study, runs))
    record = replace(record, seeds=tuple(sorted(record.values("seed"))))
    finish(record, table, options)
    if options.svg is not None:
        options.svg.write_text(picture(record))


if __name__ == "__main__":
    main()
