"""Steps of a small search beside other busy processes: `python -m benchmarks.busy_machine`.

A search runs with one or two threads, alone and beside two processes that never wait. Threads of torch wait for each
other at the end of every operation: by default they spin, which takes processor time from the thread that they wait
for if there are fewer free cores than threads. With `OMP_WAIT_POLICY=PASSIVE`, which `bayesnas-graph` sets, they sleep.
All forms alternate; the table shows median and range of wall-clock milliseconds per step.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

import torch

from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.device import Device
from bayesnas_graph.search.learner import new_learner
from bayesnas_graph.search.step import train_step
from bayesnas_graph.search.strategies import strategy_of
from bayesnas_graph.search.strategy import Rates
from benchmarks import tables
from benchmarks.command import arguments, command, finish
from benchmarks.record import Record
from benchmarks.search_overhead import problem
from benchmarks.tables import spread

FORMS = ((1, "ACTIVE"), (2, "ACTIVE"), (2, "PASSIVE"))  # threads, and what they do while they wait


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Other processes that use a core each."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def step(steps: int) -> float:
    """Wall-clock milliseconds per step, in this process."""
    config = SearchConfig(batch=16)
    task, device = problem("nasbench201", config), Device(torch.device("cpu"), channels_last=True)
    learner, rates = new_learner(task.graph, config, device), Rates(0.05, 0.1, config.intensities)
    first, *rest = islice(task.batches(device, 0), steps + 1)
    learner = strategy_of(config).start(learner, first)
    train_step(learner, first, rates)
    start = time.perf_counter()
    for some in rest:
        train_step(learner, some, rates)
    return 1e3 * (time.perf_counter() - start) / steps


def measured(threads: int, waiting: str, steps: int) -> float:
    """The same in a separate process: the way to wait is read when torch is loaded."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": waiting}
    words = [sys.executable, "-m", "benchmarks.busy_machine", "--here", "--steps", str(steps)]
    found = subprocess.run(words, check=True, capture_output=True, text=True, env=environment)
    return float(found.stdout.split()[-1])


def rows(others: int, rounds: int, steps: int) -> list[dict[str, object]]:
    """A row for each form."""
    found: dict[tuple[int, str], list[float]] = {form: [] for form in FORMS}
    with busy(others):
        for _ in range(rounds):
            for form in FORMS:
                found[form].append(measured(*form, steps))
    return [
        {"busy processes": others, "threads": threads, "waiting": waiting, "step, ms": times}
        for (threads, waiting), times in found.items()
    ]


def table(record: Record) -> str:
    lines = [
        [
            str(row["busy processes"]),
            str(row["threads"]),
            "" if row["threads"] == 1 else {"ACTIVE": "spin", "PASSIVE": "sleep"}[row["waiting"]],
            spread(row["step, ms"], ".0f"),
        ]
        for row in record.rows
    ]
    return tables.table(["busy processes", "threads", "waiting threads", "step, ms (spread)"], lines)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=10, help="steps of a measurement")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        print(step(options.steps))
        return
    settings = {"rounds": options.rounds, "steps": options.steps}
    record = Record.begin(
        options.name, command(), ["busy processes", "threads", "waiting"], seeds=[0], settings=settings, threads=2
    )
    for others in (0, 2):
        record = record.with_rows(rows(others, options.rounds, options.steps))
    finish(record, table, options)


if __name__ == "__main__":
    main()
