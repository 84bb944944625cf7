"""Results of a sweep, as in docs/results.md: `python -m benchmarks.search_results SWEEP`.

SWEEP is the folder of `bayesnas-graph search ... --sweep ... --seeds ...`. Prints the table of its points, the
candidates that each run keeps on each edge, and for one run how its switches closed and its steps got faster.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections import defaultdict
from pathlib import Path
from statistics import fmean, median


def runs(sweep: Path) -> list[Path]:
    """The finished runs of a sweep."""
    return sorted(path.parent for path in sweep.glob("*/result.json"))


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def kept(run: Path) -> dict[str, list[str]]:
    """The kept candidates by choice, without choices that keep none."""
    found: dict[str, list[str]] = defaultdict(list)
    for verdict in json.loads((run / "decision.json").read_text())["verdicts"]:
        choice, _, candidate = verdict["name"].rpartition(".")
        if candidate != "zero" and verdict["keep"]:
            found[choice].append(candidate)
    return found


def choices(run: Path) -> list[str]:
    names = [verdict["name"].rpartition(".") for verdict in json.loads((run / "decision.json").read_text())["verdicts"]]
    return list(dict.fromkeys(choice for choice, _, candidate in names if candidate != "zero"))


def cells(found: list[Path]) -> None:
    """Print the candidates that each run keeps on each edge."""
    print(f"| edge | {' | '.join(run.name for run in found)} |")
    print(f"|---|{'---|' * len(found)}")
    by_run = [kept(run) for run in found]
    for choice in choices(found[0]):
        print(f"| `{choice}` | {' | '.join(', '.join(one[choice]) or '-' for one in by_run)} |")


def history(run: Path) -> None:
    """Print the open candidates of each edge after each update."""
    found: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    iterations = set()
    for row in rows(run / "switches.csv"):
        choice, _, candidate = row["switch"].rpartition(".")
        iterations.add(int(row["iteration"]))
        if row["keep"] == "1" and candidate != "zero":
            found[choice][int(row["iteration"])].append(candidate)
    print(f"| edge | {' | '.join(f'update {i}' for i in sorted(iterations))} |")
    print(f"|---|{'---|' * len(iterations)}")
    for choice in choices(run):
        print(f"| `{choice}` | {' | '.join(', '.join(found[choice][i]) or '-' for i in sorted(iterations))} |")


def pace(run: Path) -> None:
    """Print the step time of each iteration, and the architecture after it."""
    times: dict[int, list[float]] = defaultdict(list)
    for row in rows(run / "metrics.csv"):
        times[int(row["iteration"])].append(float(row["seconds"]))
    print("| | step | open switches | parameters | multiply-adds | held-out accuracy |")
    print("|---|---:|---:|---:|---:|---:|")
    if 0 in times:
        print(f"| warm-up | {_ms(times[0])} | | | | |")
    for row in rows(run / "updates.csv"):
        number = int(row["iteration"])
        sizes = f"{int(row['alive'])} | {int(row['parameters']):,} | {int(row['flops']):,}"
        print(f"| iteration {number} | {_ms(times[number])} | {sizes} | {float(row['accuracy']):.3f} |")
    print(f"| finish | {_ms(times[max(times)])} | | | | |")


def _ms(times: list[float]) -> str:
    return f"{median(times) * 1e3:,.0f} ms"


def whole_time(found: list[Path]) -> float:
    """The mean time of a run in minutes, by its steps and updates."""
    spent = []
    for run in found:
        metrics, before = rows(run / "metrics.csv"), 0
        total = sum(float(row["seconds"]) for row in rows(run / "updates.csv"))
        for row in metrics:
            total += float(row["seconds"]) * (int(row["step"]) - before)
            before = int(row["step"])
        spent.append(total / 60)
    return fmean(spent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("sweep", type=Path)
    parser.add_argument("--cells", default="*", help="pattern of the names of runs whose cells are shown")
    parser.add_argument("--history", help="run whose switches are shown")
    options = parser.parse_args()
    found = runs(options.sweep)
    print((options.sweep / "table.md").read_text())
    print(f"{len(found)} runs, {whole_time(found):.1f} minutes each on average\n")
    cells([run for run in found if run.match(options.cells)])
    if options.history:
        print()
        history(options.sweep / options.history)
        print()
        pace(options.sweep / options.history)


if __name__ == "__main__":
    main()
