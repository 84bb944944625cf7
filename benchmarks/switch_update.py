"""Time of a Bayesian update by the number of switches: `python -m benchmarks.switch_update`.

The graphs are layers of choices with zero switches, each choice reading the whole previous layer. Only the width
varies, because the time of an update also grows with the depth. A search makes a few updates, but a step on the gates
(proximal step and gauge) after every batch. Sizes alternate within each round, so that background load affects all of
them; the table shows median and spread.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from bayesnas_graph.bayes import State, Switches, contributions, proximal_step, rescale, update, whole_path
from bayesnas_graph.ir import Edge, Gate, Graph, Node
from bayesnas_graph.ir.ops import Choice, Input, Sum
from bayesnas_graph.passes import insert_zero_identity
from benchmarks import tables
from benchmarks.command import arguments, command, finish
from benchmarks.measure import now
from benchmarks.record import Record
from benchmarks.tables import spread

SIZES = (1000, 10_000, 100_000)
LAYERS = 20
CANDIDATES = 4  # and a zero switch


def layers(switches: int) -> Graph:
    """A graph with a given number of switches."""
    shape = (8, 8, 8)
    nodes, edges = [Node("x", Input(), shape)], []
    for layer in range(LAYERS):
        last = nodes[-1].name
        choices = [f"h{layer}.{i}" for i in range(switches // LAYERS // (CANDIDATES + 1))]
        for choice in choices:
            nodes.append(Node(choice, Choice(), shape))
            gates = [Gate(f"{choice}.{i}", f"{choice}.{i}", choice, str(i)) for i in range(CANDIDATES)]
            edges += [Edge(last, choice, slot, gate) for slot, gate in enumerate(gates)]
        nodes.append(Node(f"h{layer}", Sum(), shape))
        edges += [Edge(choice, f"h{layer}", slot) for slot, choice in enumerate(choices)]
    return insert_zero_identity(Graph("layers", nodes, edges, [nodes[-1].name]))


def work(switches: Switches) -> dict[str, Callable[[], object]]:
    """The functions to time, on random numbers in single precision."""
    count = len(switches.gates)
    h, w, r = torch.rand(3, count) + 0.5
    state = State.start(switches, torch.float32)
    lambda_w = switches.by_kind(0.05, 0.02, torch.float32)
    contributed = contributions(h, w, r)

    def step(sizes: torch.Tensor | None) -> None:
        rescale(switches.gauge, proximal_step(switches, w, state.omega, lambda_w, 0.1, sizes), sizes)

    return {
        "update, one hop, ms": lambda: update(switches, state.gamma, *contributed, lambda_w),
        "update, whole path, ms": lambda: update(switches, state.gamma, *contributed, lambda_w, whole_path),
        "step, unit of gates, ms": lambda: step(None),
        "step, unit of contributions, ms": lambda: step(r),
    }


def milliseconds(run: Callable[[], object]) -> float:
    start = now()
    run()
    return 1000 * (now() - start)


def table(record: Record) -> str:
    tasks = [name for name in record.rows[0] if name not in record.key]
    rows = [[f"{row['switches']:,}", *(spread(row[task]) for task in tasks)] for row in record.rows]
    return tables.table(["switches", *(f"{task} (spread)" for task in tasks)], rows, words=0)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=21)
    options = parser.parse_args()
    torch.set_num_threads(1)
    tasks = {size: work(Switches.of(layers(size))) for size in SIZES}
    found: dict[int, dict[str, list[float]]] = {size: {name: [] for name in task} for size, task in tasks.items()}
    for task in tasks.values():
        for run in task.values():
            run()  # warm-up
    for _ in range(options.rounds):
        for size, task in tasks.items():
            for name, run in task.items():
                found[size][name].append(milliseconds(run))
    settings = {"rounds": options.rounds, "layers": LAYERS, "candidates": CANDIDATES}
    record = Record.begin(options.name, command(), ["switches"], settings=settings)
    finish(record.with_rows({"switches": size, **times} for size, times in found.items()), table, options)


if __name__ == "__main__":
    main()
