"""Overhead of the Bayesian search over plain training of the supernet: `python -m benchmarks.search_overhead`.

Two copies of a compiled supernet alternate: one trains all weights and gates by SGD; the other trains weights and adds
up the slopes of gates. The work between two training phases (curvature on 10 batches, update, decision, compilation of
the rest) is measured separately and spread over the steps of a phase. The table shows median and range.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import median

import torch
from torch import Tensor

from bayesnas_graph.bayes import CrossEntropy
from bayesnas_graph.data import Data, InMemory, Statistics
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.device import Device
from bayesnas_graph.search.learner import SearchLearner, new_learner
from bayesnas_graph.search.problem import Problem
from bayesnas_graph.search.progress import SearchProgress
from bayesnas_graph.search.step import train_step
from bayesnas_graph.search.strategies import strategy_of
from bayesnas_graph.search.strategy import Rates
from benchmarks import tables
from benchmarks.command import arguments, command, finish
from benchmarks.measure import now
from benchmarks.record import Record
from benchmarks.tables import spread

SPACES = {"darts": {"width": 4, "cells": 3}, "nasbench201": {"width": 8, "cells": 1}}


def problem(space: str, config: SearchConfig, parameters: Mapping[str, int] | None = None) -> Problem:
    """A space and noise to train it on; small unless parameters are given."""
    checker = Checker(Report())
    found = checker.path(Path(__file__).parent.parent / "spaces" / f"{space}.nas")
    assert found is not None, "it is shipped"
    network = checker.network(found.module, "search", SPACES[space] if parameters is None else parameters)
    assert network is not None, "its parameters are those of the space"
    generator = torch.Generator().manual_seed(0)
    images = torch.randint(0, 256, (4000, 3, 32, 32), generator=generator, dtype=torch.uint8)
    examples = InMemory(images, torch.randint(0, 10, (4000,), generator=generator))
    data = Data("noise", examples, examples, (3, 32, 32), 10, Statistics((0.5,) * 3, (0.3,) * 3))
    return Problem.of(network, data, config)


def plain_step(learner: SearchLearner, optimiser: torch.optim.Optimizer, batch: tuple[Tensor, Tensor]) -> None:
    """A step of plain SGD."""
    learner.network.train()
    optimiser.zero_grad()
    torch.autograd.backward([CrossEntropy()(learner.network(batch[0]), batch[1])])
    torch.nn.utils.clip_grad_norm_(learner.network.parameters(), 5.0)
    optimiser.step()


def measure(space: str, batch: int, rounds: int, phase: int) -> dict[str, object]:
    """A row of the record; the costs of gates and updates are fractions of a plain step."""
    config = SearchConfig(batch=batch)
    task = problem(space, config)
    device = Device(torch.device("cpu"))
    ours, theirs = new_learner(task.graph, config, device), new_learner(task.graph, config, device)
    optimiser = torch.optim.SGD(theirs.network.parameters(), 0.05, momentum=0.9, weight_decay=3e-4)
    batches = task.batches(device, 0)
    rates = Rates(0.05, 0.1, config.intensities)
    strategy = strategy_of(config)
    ours = strategy.start(ours, next(batches))
    plain: list[float] = []
    steps: list[float] = []
    between: list[float] = []
    for i in range(rounds + 1):
        some = next(batches)
        times = [now()]
        plain_step(theirs, optimiser, some)
        times.append(now())
        train_step(ours, some, rates)
        times.append(now())
        held_out = list(task.measured_batches(device, i))
        times.append(now())
        strategy.iterate(task, ours, SearchProgress(), held_out)
        times.append(now())
        if i:  # the first round warms up
            plain.append(times[1] - times[0])
            steps.append((times[2] - times[1]) / plain[-1] - 1)
            between.append((times[4] - times[3]) / (phase * plain[-1]))
    return {"space": space, "plain, ms": [1e3 * one for one in plain], "gates": steps, "updates": between}


def table(record: Record) -> str:
    rows = []
    for row in record.rows:
        whole = [gates + between for gates, between in zip(row["gates"], row["updates"], strict=True)]
        shares = (spread(values, ".1%", " to ") for values in (row["gates"], row["updates"], whole))
        rows.append([row["space"], str(record.settings["batch"]), f"{median(row['plain, ms']):,.0f} ms", *shares])
    shown = tables.table(["space", "batch", "plain step", "gates in a step", "updates", "all"], rows)
    return f"{shown}\nAn update after every {record.settings['phase']} steps.\n"


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--phase", type=int, default=300, help="steps between two updates")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    settings = {"batch": options.batch, "rounds": options.rounds, "phase": options.phase}
    record = Record.begin(options.name, command(), ["space"], seeds=[0], settings=settings, threads=options.threads)
    rows = [measure(space, options.batch, options.rounds, options.phase) for space in SPACES]
    finish(record.with_rows(rows), table, options)


if __name__ == "__main__":
    main()
