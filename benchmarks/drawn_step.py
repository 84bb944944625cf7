"""Training steps of strategies that draw networks, with and without the rest: `python -m benchmarks.drawn_step`.

Two copies of a supernet alternate, with the same draws in the first step. One computes all candidates, fused, and
multiplies those that are not drawn by zero. The other computes what is drawn. A step trains the weights, and for `gdas`
and `proxyless` also the logits, on another batch. Draws differ in size, so the table shows the ratio of the sums over
all rounds, and the range within rounds.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import median

import torch

from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.device import Device
from bayesnas_graph.search.learner import SearchLearner, new_learner
from bayesnas_graph.search.step import train_step
from bayesnas_graph.search.strategies import strategy_of
from bayesnas_graph.search.strategy import Rates
from benchmarks import search_overhead, tables
from benchmarks.command import arguments, command, finish
from benchmarks.measure import now
from benchmarks.record import Record
from benchmarks.tables import ratios

SPACES = ("darts", "nasbench201")  # in the sizes of their papers
STRATEGIES = ("gdas", "proxyless", "random")


def learners(space: str, config: SearchConfig, device: Device) -> tuple[SearchLearner, SearchLearner]:
    """A learner that computes everything, and one that computes what is drawn."""
    graph = search_overhead.problem(space, config, {}).graph
    other = config.model_copy(update={"strategy": "darts"})  # which draws nothing, so that its program has it all
    torch.manual_seed(0)
    whole = replace(new_learner(graph, other, device), config=config)
    torch.manual_seed(0)
    return whole, new_learner(graph, config, device)


def measure(space: str, strategy: str, batch: int, rounds: int) -> dict[str, object]:
    """A row of the record."""
    config = SearchConfig.model_validate({"batch": batch, "strategy": strategy})
    task, device = search_overhead.problem(space, config, {}), Device(torch.device("cpu"), channels_last=True)
    rule = strategy_of(config)
    batches, held_out = task.batches(device, 0), task.held_out_batches(device, 0)
    first = next(batches)
    both = [rule.start(learner, first) for learner in learners(space, config, device)]
    seconds: list[list[float]] = [[], []]
    for step in range(rounds + 1):
        rates = Rates(0.025, 0.1, config.intensities, step=step)
        some, others = next(batches), next(held_out)
        for learner, found in zip(both, seconds, strict=True):
            start = now()
            train_step(learner, some, rates, others if rule.gates_on == "held_out" else None)
            found.append(now() - start)
    all_of_it, drawn = (found[1:] for found in seconds)  # the first step warms up
    return {"space": space, "strategy": strategy, "all, s": all_of_it, "drawn, s": drawn}


def table(record: Record) -> str:
    rows = []
    for row in record.rows:
        found = ratios(row["all, s"], row["drawn, s"])
        ratio = sum(row["all, s"]) / sum(row["drawn, s"])
        times = (f"{1e3 * median(row[name]):,.0f} ms" for name in ("all, s", "drawn, s"))
        speed = f"{ratio:.1f} ({min(found):.1f}-{max(found):.1f})"
        rows.append([row["space"], row["strategy"], *times, speed])
    head = ["space", "strategy", "everything", "what is drawn", "times as fast (spread)"]
    return tables.table(head, rows, words=2)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    settings = {"batch": options.batch, "rounds": options.rounds}
    record = Record.begin(
        options.name, command(), ["space", "strategy"], seeds=[0], settings=settings, threads=options.threads
    )
    rows = [measure(space, strategy, options.batch, options.rounds) for space in SPACES for strategy in STRATEGIES]
    finish(record.with_rows(rows), table, options)


if __name__ == "__main__":
    main()
