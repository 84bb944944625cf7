"""Agreement of two searches on the ranks of candidates: `python -m benchmarks.rank_agreement RUN RUN`.

For each update, the rank correlation (Spearman) between two runs of the candidates open in both, by `w^2 h`, gamma and
`s`.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from pathlib import Path

import numpy as np

History = dict[int, dict[str, dict[str, str]]]  # update -> candidate -> row


def read(run: Path) -> History:
    found: History = defaultdict(dict)
    with (run / "switches.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if not row["switch"].endswith("zero"):
                found[int(row["iteration"])][row["switch"]] = row
    return found


def loss_without(row: dict[str, str]) -> float:
    pairs = zip(row["w"].split(), row["h"].split(), strict=True)
    return float(np.mean([float(w) ** 2 * float(h) for w, h in pairs]))


def correlation(one: list[float], other: list[float]) -> float:
    ranks = [np.argsort(np.argsort(values)).astype(float) for values in (one, other)]
    a, b = (values - values.mean() for values in ranks)
    return float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", type=Path, nargs=2)
    one, other = map(read, parser.parse_args().runs)
    print("| update | open in both | w^2 h | gamma | s |\n|---|---|---|---|---|")
    for update in sorted(one.keys() & other.keys()):
        names = sorted(one[update].keys() & other[update].keys())
        correlations = []
        for worth in (loss_without, lambda row: float(row["gamma"]), lambda row: float(row["s"])):
            values = [[worth(run[update][name]) for name in names] for run in (one, other)]
            correlations.append(f"{correlation(*values):.2f}")
        print(f"| {update} | {len(names)} | {' | '.join(correlations)} |")


if __name__ == "__main__":
    main()
