"""Errors and sizes of compressed networks, as docs/compression.md shows them.

    python -m benchmarks.compression lenet300 --data-dir data --runs runs/lenet300 --svg docs/compression_lenet300.svg

Compresses a shipped network by its recipe, for some lambda and seeds, each beside a network of the same size that was
made by magnitude. The dense network of a seed is trained once. Runs that are in the folder are not made again, so that
this may be stopped, and several processes may make one seed each (`--seed`).
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from bayesnas_graph import api
from benchmarks.curve import Point, curve

LAMBDAS = {"lenet300": (2e-6, 5e-6, 1e-5, 2e-5), "lenet5": (2e-5, 5e-5)}
# Widths, error in percent and operations of the paper's own networks (Zhou et al., 2019).
PAPER = {"lenet300": ("465-37-90-10", 1.54, 42_733), "lenet5": ("5-10-65-25-10", 1.00, 314_755)}


@dataclass(frozen=True)
class Run:
    """What a compression has come to."""

    seed: int
    result: dict[str, Any]

    def error(self, of: str) -> float:
        return 100 * (1 - float(self.result[of]["accuracy"]))

    def operations(self, of: str) -> int:
        return int(self.result[of]["operations"])


def run_folder(runs: Path, seed: int, intensity: float) -> Path:
    return runs / f"seed-{seed}-lambda-{intensity:g}"


def make(network: str, runs: Path, data_dir: Path, seed: int, intensities: tuple[float, ...]) -> None:
    """Make the runs of a seed that are not there yet."""
    dense = run_folder(runs, seed, intensities[0]) / "stages" / "dense.safetensors"
    for number, intensity in enumerate(intensities):
        path = run_folder(runs, seed, intensity)
        if (path / "result.json").is_file():
            continue
        if (path / "run.json").is_file():
            api.compress(resume=path)
            continue
        given: dict[str, Any] = {} if number == 0 else {"weights": dense, "epochs": 0}
        api.compress(
            network, output=path, data_dir=data_dir, seed=seed, intensity=intensity, rival=True, threads=1, **given
        )


def read(runs: Path, intensity: float) -> list[Run]:
    """The runs of all seeds."""
    found = sorted(runs.glob(f"seed-*-lambda-{intensity:g}/result.json"))
    return [Run(int(path.parent.name.split("-")[1]), json.loads(path.read_text())) for path in found]


def spread(numbers: list[float], form: str = ".2f") -> str:
    """The mean and what it lies between."""
    return f"{fmean(numbers):{form}} ({min(numbers):{form}} to {max(numbers):{form}})"


def table(network: str, runs: Path, intensities: tuple[float, ...]) -> None:
    """Print the table."""
    print("| lambda | widths with seed 0 | operations | error, % | by magnitude, % | time, of the whole |")
    print("|---|---|---|---|---|---|")
    for intensity in intensities:
        found = read(runs, intensity)
        if not found:
            continue
        faster = [
            one.result["whole"]["latency"][1]["median"] / one.result["left"]["latency"][1]["median"] for one in found
        ]
        cells = [
            f"{intensity:g}",
            found[0].result["left"]["widths"],
            f"{fmean(one.operations('left') for one in found):,.0f}",
            spread([one.error("left") for one in found]),
            spread([one.error("rival") for one in found]),
            f"1/{fmean(faster):.1f}",
        ]
        print(f"| {' | '.join(cells)} |")
    whole = read(runs, intensities[0])
    print(f"| whole | {whole[0].result['whole']['widths']} | {whole[0].operations('whole'):,} |", end=" ")
    print(f"{spread([one.error('whole') for one in whole])} | | |")
    widths, error, operations = PAPER[network]
    print(f"| the paper | {widths} | {operations:,} | {error:.2f} | | |")


def picture(network: str, runs: Path, intensities: tuple[float, ...]) -> str:
    """The errors over the operations, a point for every run."""
    found = [some for intensity in intensities if (some := read(runs, intensity))]
    series = {
        title: [[Point(one.operations(of), one.error(of)) for one in some] for some in found]
        for title, of in (("compress", "left"), ("by magnitude", "rival"))
    }
    series["the paper"] = [[Point(PAPER[network][2], PAPER[network][1])]]
    return curve(series, "operations", "test error, %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("network", choices=LAMBDAS)
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--seed", type=int, action="append", help="make the runs of this seed only")
    parser.add_argument("--svg", type=Path, help="where to draw the errors over the operations")
    told = parser.parse_args()
    intensities = LAMBDAS[told.network]
    for seed in told.seed or range(3):
        make(told.network, told.runs, told.data_dir, seed, intensities)
    table(told.network, told.runs, intensities)
    if told.svg is not None:
        told.svg.write_text(picture(told.network, told.runs, intensities))


if __name__ == "__main__":
    main()
