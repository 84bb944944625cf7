"""How much derived architectures of several seeds have in common: `python -m benchmarks.derived_overlap RUN RUN ...`.

For some rules of `bayesnas-graph derive`, the table has the overlap of the candidates that two searches keep: the
number that both keep over the number that one of them keeps, on average over all pairs. Beside it stands the overlap of
sets of the same sizes that are drawn at random. `edges` is the same for the choices that keep anything.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from random import Random
from statistics import fmean

from bayesnas_graph.derive import Architecture, Rule, of_run
from bayesnas_graph.derive.derived import kept_groups
from bayesnas_graph.sweep.comparison import overlap

DRAWS = 200


def candidates(architecture: Architecture) -> frozenset[str]:
    return frozenset(name for name in kept_groups(architecture.derived) if not name.endswith("zero"))


def edges(kept: frozenset[str]) -> frozenset[str]:
    return frozenset(name.rpartition(".")[0] for name in kept)


def at_random(found: Sequence[frozenset[str]], everything: Sequence[str]) -> tuple[float, float]:
    """The overlaps of sets of these sizes, on average."""
    random = Random(0)
    drawn = [[frozenset(random.sample(everything, len(one))) for one in found] for _ in range(DRAWS)]
    return fmean(overlap(sets) or 1 for sets in drawn), fmean(overlap([*map(edges, sets)]) or 1 for sets in drawn)


def row(runs: Sequence[Path], rule: Rule) -> str:
    found = [of_run(run, rule) for run in runs]
    kept = [candidates(one) for one in found]
    everything = sorted({v.name for v in found[0].decision.verdicts if not v.name.endswith("zero")})
    chance, chance_of_edges = at_random(kept, everything)
    weights = [one.cost.parameters for one in found]
    sizes = [len(one) for one in kept]
    return (
        f"| {rule} | {min(weights):,}-{max(weights):,} | {min(sizes)}-{max(sizes)} of {len(everything)} "
        f"| {overlap(kept):.2f} ({chance:.2f}) | {overlap([*map(edges, kept)]):.2f} ({chance_of_edges:.2f}) |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--params", type=int, nargs="*", default=[])
    parser.add_argument("--rank", default="relevance", choices=["gamma", "relevance", "removal"])
    given = parser.parse_args()
    rules = [Rule(), *(Rule(params=most, rank=given.rank) for most in given.params), Rule(per_node=2, rank=given.rank)]
    print("| rule | weights | candidates | overlap (at random) | edges (at random) |")
    print("|---|---|---|---|---|")
    for rule in rules:
        print(row(given.runs, rule))


if __name__ == "__main__":
    main()
