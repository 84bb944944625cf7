"""How good estimators of curvature are, and what they cost: `python -m benchmarks.curvature`.

The network is that of DARTS with 3 cells of 4 channels, after a few steps of training on images that are noise with
labels of a random linear teacher, so that norms and predictions are not those of a network that has seen nothing.
`exact` and `ggn` are what the others are compared with: rank correlation (Spearman) and relative error over all
gates. Cost is in units of one plain backward pass, the plain forward pass taken off; passes take turns, and the table
shows the median of the rounds with the smallest and the largest. Memory is what a process of its own grows by, beside
what it grows by for a plain forward and backward pass.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
from pathlib import Path

import torch
from torch import Tensor

from bayesnas_graph import passes
from bayesnas_graph.bayes.curvature import Estimator, curvature
from bayesnas_graph.bayes.losses import CrossEntropy
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.elaborate import Checker
from bayesnas_graph.supernet import Supernet
from benchmarks.measure import peak, printed_by

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


def supernet(steps: int = 20) -> Supernet:
    """The network, a little trained."""
    checker = Checker(Report())
    space = checker.path(Path(__file__).parent.parent / "spaces" / "darts.nas")
    assert space is not None, "it is shipped"
    network = checker.network(space.module, "search", {"width": 4, "cells": 3})
    assert network is not None, "its parameters are those of the space"
    torch.manual_seed(0)
    found = Supernet.of(passes.run(network.graph(), passes.passes(fuse=False)), batch=16)
    optimiser = torch.optim.SGD(found.module.parameters(), 0.05, momentum=0.9)
    for seed in range(steps):
        optimiser.zero_grad()
        x, labels = data(16, seed)
        torch.autograd.backward([LOSS(found.module(x), labels)])
        optimiser.step()
    return found


def data(batch: int, seed: int) -> tuple[Tensor, Tensor]:
    """Noise, and what a linear teacher calls it."""
    generator = torch.Generator().manual_seed(seed)
    teacher = torch.randn(3 * 32 * 32, 10, generator=torch.Generator().manual_seed(1234))
    x = torch.randn(batch, 3, 32, 32, generator=generator)
    return x, (x.flatten(1) @ teacher).argmax(1)


def spearman(a: Tensor, b: Tensor) -> float:
    """The correlation of ranks."""
    ranks = [x.argsort().argsort().double() for x in (a, b)]
    return float(torch.corrcoef(torch.stack(ranks))[0, 1])


def measure(net: Supernet, form: str, batch: tuple[Tensor, Tensor]) -> Tensor:
    """The curvature along all gates."""
    estimator, samples = FORMS[form]
    return curvature(net, [batch], LOSS, estimator, samples=samples).h


def costs(net: Supernet, batch: tuple[Tensor, Tensor], rounds: int) -> dict[str, list[float]]:
    """What each estimator costs, round by round, in backward passes."""
    found: dict[str, list[float]] = {form: [] for form in FORMS if form != "exact"}
    for i in range(rounds + 1):
        start = time.perf_counter()
        value = LOSS(net.module(batch[0]), batch[1])
        middle = time.perf_counter()
        torch.autograd.backward([value])
        forward, backward = middle - start, time.perf_counter() - middle
        for form, times in found.items():
            start = time.perf_counter()
            measure(net, form, batch)
            if i:  # the first round warms up
                times.append((time.perf_counter() - start - forward) / backward)
    return found


def grow(form: str, batch: int) -> float:
    """By how many MiB this process grows."""
    net = supernet(steps=1)
    if form != "plain":
        measure(net, form, data(1, 0))
    before = peak()
    if form == "plain":
        torch.autograd.backward([LOSS(net.module(data(batch, 0)[0]), data(batch, 0)[1])])
    else:
        measure(net, form, data(batch, 0))
    return peak() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--grow", choices=["plain", *FORMS], help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.grow:
        print(grow(options.grow, options.batch))
        return
    print(f"torch {torch.__version__}, {platform.machine()}, {options.threads} threads, {options.rounds} rounds\n")
    net, batch = supernet(), data(options.batch, 99)
    found = {form: measure(net, form, batch) for form in FORMS}
    spent = costs(net, batch, options.rounds)
    large = str(16 * options.batch)
    grown = {form: printed_by("curvature", "--grow", form, "--batch", large) for form in ("plain", *spent)}
    exact, ggn = found["exact"], found["ggn"]
    print(f"{len(net.names)} gates; memory at batch {large}, plain {grown['plain']:,.0f} MiB\n")
    print(
        "| estimator | rank, exact | rank, ggn | error, exact | error, ggn "
        "| backward passes (spread) | memory, of plain |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|")
    for form, h in found.items():
        ranks = [f"{spearman(h, other):.3f}" for other in (exact, ggn)]
        errors = [f"{float((h - other).norm() / other.norm()):.1e}" for other in (exact, ggn)]
        times = sorted(spent.get(form, []))
        cost = f"{statistics.median(times):.2f} ({times[0]:.2f}-{times[-1]:.2f})" if times else "one per gate"
        memory = f"{grown[form] / grown['plain']:.2f}" if form in grown else ""
        print(f"| {form} | {' | '.join([*ranks, *errors])} | {cost} | {memory} |")


if __name__ == "__main__":
    main()
