"""Accuracy and cost of curvature estimators: `python -m benchmarks.curvature`.

The network is the one of DARTS with 3 cells of 4 channels, after a few training steps on noise images labelled by a
random linear teacher, so that norms and predictions are not those at initialisation. The others are compared with
`exact` and `ggn` by rank correlation (Spearman) and relative error over all gates. Cost is in plain backward passes,
without the forward pass; estimators alternate within each round, and the table shows median and range. Memory is the
growth of a separate process, relative to the growth for a plain forward and backward pass.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor

from bayesnas_graph import passes
from bayesnas_graph.bayes import Estimator, curvature
from bayesnas_graph.bayes.losses import CrossEntropy
from bayesnas_graph.codegen.supernet import Supernet
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.language.elaborate import Checker
from benchmarks import tables
from benchmarks.command import arguments, command, finish
from benchmarks.dots import dots
from benchmarks.measure import now, peak, printed_by
from benchmarks.record import Record
from benchmarks.tables import spread

FORMS: dict[str, tuple[Estimator, int]] = {
    "exact": ("exact", 1),
    "ggn": ("ggn", 1),
    "fisher, 1 draw": ("fisher", 1),
    "fisher, 4 draws": ("fisher", 4),
    "fisher, 16 draws": ("fisher", 16),
    "empirical": ("empirical", 1),
    "recursive": ("recursive", 1),
    "mean": ("mean", 1),
}
LOSS = CrossEntropy()
SETTLING = 50  # batches for the running statistics of norms after training
LARGER = 16  # factor on the batch size for memory measurements


def supernet(steps: int = 20) -> Supernet:
    """The network after a few training steps."""
    checker = Checker(Report())
    space = checker.path(Path(__file__).parent.parent / "spaces" / "darts.nas")
    assert space is not None, "it is shipped"
    network = checker.network(space.module, "search", {"width": 4, "cells": 3})
    assert network is not None, "its parameters are those of the space"
    torch.manual_seed(0)
    found = Supernet.of(passes.run(network.graph(), passes.SWITCHES), batch=16)
    optimiser = torch.optim.SGD(found.module.parameters(), 0.05, momentum=0.9)
    for seed in range(steps):
        optimiser.zero_grad()
        x, labels = data(16, seed)
        torch.autograd.backward([LOSS(found.module(x), labels)])
        optimiser.step()
    with torch.no_grad():  # running statistics, used when measuring, lag behind fast-moving weights
        for seed in range(steps, steps + SETTLING):
            found.module(data(16, seed)[0])
    return found


def data(batch: int, seed: int) -> tuple[Tensor, Tensor]:
    """Noise images, and labels by a linear teacher."""
    generator = torch.Generator().manual_seed(seed)
    teacher = torch.randn(3 * 32 * 32, 10, generator=torch.Generator().manual_seed(1234))
    x = torch.randn(batch, 3, 32, 32, generator=generator)
    return x, (x.flatten(1) @ teacher).argmax(1)


def spearman(a: Tensor, b: Tensor) -> float:
    """Rank correlation."""
    ranks = [x.argsort().argsort().double() for x in (a, b)]
    return float(torch.corrcoef(torch.stack(ranks))[0, 1])


def measure(net: Supernet, form: str, batch: tuple[Tensor, Tensor]) -> Tensor:
    """The curvature along all gates."""
    estimator, samples = FORMS[form]
    return curvature(net, [batch], LOSS, estimator, samples=samples).h


def costs(net: Supernet, batch: tuple[Tensor, Tensor], rounds: int) -> dict[str, list[float]]:
    """The cost of each estimator in backward passes, by round."""
    found: dict[str, list[float]] = {form: [] for form in FORMS if form != "exact"}
    for i in range(rounds + 1):
        start = now()
        value = LOSS(net.module(batch[0]), batch[1])
        middle = now()
        torch.autograd.backward([value])
        forward, backward = middle - start, now() - middle
        for form, times in found.items():
            start = now()
            measure(net, form, batch)
            if i:  # the first round warms up
                times.append((now() - start - forward) / backward)
    return found


def grow(form: str, batch: int) -> float:
    """The growth of this process in MiB."""
    net = supernet(steps=1)
    if form != "plain":
        measure(net, form, data(1, 0))
    before = peak()
    if form == "plain":
        torch.autograd.backward([LOSS(net.module(data(batch, 0)[0]), data(batch, 0)[1])])
    else:
        measure(net, form, data(batch, 0))
    return peak() - before


def rows(batch: int, rounds: int) -> Iterator[dict[str, object]]:
    """A row for a plain pass, and one for each estimator."""
    net, some = supernet(), data(batch, 99)
    found = {form: measure(net, form, some) for form in FORMS}
    spent = costs(net, some, rounds)
    large = str(LARGER * batch)
    yield {"estimator": "plain", "gates": len(net.names), "memory, MiB": memory("plain", large)}
    for form, h in found.items():
        row: dict[str, object] = {"estimator": form}
        for name, other in (("exact", found["exact"]), ("ggn", found["ggn"])):
            row[f"rank, {name}"] = spearman(h, other)
            row[f"error, {name}"] = float((h - other).norm() / other.norm())
        yield row if form == "exact" else {**row, "backward": spent[form], "memory, MiB": memory(form, large)}


def memory(form: str, batch: str) -> float:
    """The growth of a separate process in MiB."""
    return printed_by("curvature", "--grow", form, "--batch", batch)


def table(record: Record) -> str:
    plain, *others = record.rows
    lines = [
        [
            row["estimator"],
            *(f"{row[f'rank, {name}']:.3f}" for name in ("exact", "ggn")),
            *(f"{row[f'error, {name}']:.1e}" for name in ("exact", "ggn")),
            spread(row["backward"]) if "backward" in row else "one per gate",
            f"{row['memory, MiB'] / plain['memory, MiB']:.2f}" if "backward" in row else "",
        ]
        for row in others
    ]
    head = ["estimator", "rank, exact", "rank, ggn", "error, exact", "error, ggn", "backward passes (spread)"]
    large = LARGER * record.settings["batch"]
    sizes = (
        f"{plain['gates']} gates; memory at batch {large}, where a plain pass takes {plain['memory, MiB']:,.0f} MiB."
    )
    return tables.table([*head, "memory, of plain"], lines) + f"\n{sizes}\n"


def picture(record: Record) -> str:
    costs = {row["estimator"]: row["backward"] for row in record.rows if "backward" in row}
    return dots({"": costs}, "cost of an estimate, in backward passes", reference=1)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--grow", choices=["plain", *FORMS], help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.grow:
        print(grow(options.grow, options.batch))
        return
    settings = {"batch": options.batch, "rounds": options.rounds}
    record = Record.begin(options.name, command(), ["estimator"], seeds=[0], settings=settings, threads=options.threads)
    finish(record.with_rows(rows(options.batch, options.rounds)), table, options)


if __name__ == "__main__":
    main()
