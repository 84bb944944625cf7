"""Overlap of the architectures derived with several seeds: `python -m benchmarks.derived_overlap RUN RUN ...`.

For some rules of `bayesnas-graph derive`, the table shows the overlap of the kept candidates: the number that both of
two searches keep over the number that either keeps, averaged over all pairs. In brackets: the overlap of random sets of
the same sizes. `convolutions` counts convolutions alone, since pools and skips have no parameters and are kept under
any budget; `edges` counts the choices that keep anything.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from random import Random
from statistics import fmean

from bayesnas_graph.derive import Architecture, Rule
from bayesnas_graph.derive.derived import kept_groups
from bayesnas_graph.runs.opening import open_run
from bayesnas_graph.runs.searched import architecture_of
from bayesnas_graph.runs.sweep.comparison import overlap

DRAWS = 200


def candidates(architecture: Architecture) -> frozenset[str]:
    return frozenset(name for name in kept_groups(architecture.derived) if not name.endswith("zero"))


def edges(kept: frozenset[str]) -> frozenset[str]:
    return frozenset(name.rpartition(".")[0] for name in kept)


def convolutions(kept: frozenset[str]) -> frozenset[str]:
    return frozenset(name for name in kept if "conv" in name)


def compared(found: Sequence[frozenset[str]], everything: frozenset[str]) -> str:
    """The overlap of some sets, and of random sets of the same sizes."""
    random = Random(0)
    drawn = [[frozenset(random.sample(sorted(everything), len(one))) for one in found] for _ in range(DRAWS)]
    return f"{overlap(found):.2f} ({fmean(overlap(sets) or 0.0 for sets in drawn):.2f})"


def row(runs: Sequence[Path], rule: Rule) -> str:
    found = [architecture_of(open_run(run), rule) for run in runs]
    kept = [candidates(one) for one in found]
    everything = frozenset(v.name for v in found[0].decision.verdicts if not v.name.endswith("zero"))
    weights = [one.cost.parameters for one in found]
    sizes = [len(one) for one in kept]
    return (
        f"| {rule} | {min(weights):,}-{max(weights):,} | {min(sizes)}-{max(sizes)} of {len(everything)} "
        f"| {compared(kept, everything)} | {compared([*map(convolutions, kept)], convolutions(everything))} "
        f"| {compared([*map(edges, kept)], edges(everything))} |"
    )


def cells(runs: Sequence[Path], rule: Rule) -> None:
    """For each edge, the candidates kept by all runs and by some."""
    found = [architecture_of(open_run(run), rule) for run in runs]
    kept = [candidates(one) for one in found]
    print(f"\n{rule}\n\n| edge | kept by all | by some |\n|---|---|---|")
    for edge in dict.fromkeys(v.name.rpartition(".")[0] for v in found[0].decision.verdicts):
        own = [{name.rpartition(".")[2] for name in one if name.rpartition(".")[0] == edge} for one in kept]
        common, some = set.intersection(*own), set.union(*own)
        print(f"| `{edge}` | {', '.join(sorted(common)) or '-'} | {', '.join(sorted(some - common)) or '-'} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--params", type=int, nargs="*", default=[])
    parser.add_argument("--rank", default="relevance", choices=["gamma", "relevance", "removal"])
    parser.add_argument("--cells", type=int, help="only show the edges for this budget")
    given = parser.parse_args()
    if given.cells:
        cells(given.runs, Rule(params=given.cells, rank=given.rank))
        return
    rules = [Rule(), *(Rule(params=most, rank=given.rank) for most in given.params), Rule(per_node=2, rank=given.rank)]
    print("| rule | parameters | candidates | overlap (at random) | convolutions | edges |")
    print("|---|---|---|---|---|---|")
    for rule in rules:
        print(row(given.runs, rule))


if __name__ == "__main__":
    main()
