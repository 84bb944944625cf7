"""How the time of a Bayesian update grows with the number of switches: `python -m benchmarks.switch_update`.

Layers of choices with their zero switches, each choice reading all of the layer before. The depth is the same for
all sizes, for the time of an update grows with it; the width is not. An update happens a few times in a search,
a step on the gates (the penalty's share, and the gauge) after every batch. The sizes take turns, so that a slow
moment of the machine falls on all of them; the table shows the median of the rounds and their spread.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
from collections.abc import Callable

import torch

from bayesnas_graph.bayes import State, Switches, contributions, proximal_step, rescale, update, whole_path
from bayesnas_graph.ir import Edge, Gate, Graph, Node
from bayesnas_graph.ops import Choice, Input, Sum
from bayesnas_graph.passes import insert_zero_identity

SIZES = (1000, 10_000, 100_000)
LAYERS = 20
CANDIDATES = 4  # and a zero switch


def layers(switches: int) -> Graph:
    """A graph with so many switches."""
    shape = (8, 8, 8)
    nodes, edges = [Node("x", Input(), shape)], []
    for layer in range(LAYERS):
        last = nodes[-1].name
        choices = [f"h{layer}.{i}" for i in range(switches // LAYERS // (CANDIDATES + 1))]
        for choice in choices:
            nodes.append(Node(choice, Choice(), shape))
            gates = [Gate(f"{choice}.{i}", f"{choice}.{i}") for i in range(CANDIDATES)]
            edges += [Edge(last, choice, slot, gate) for slot, gate in enumerate(gates)]
        nodes.append(Node(f"h{layer}", Sum(), shape))
        edges += [Edge(choice, f"h{layer}", slot) for slot, choice in enumerate(choices)]
    return insert_zero_identity(Graph("layers", nodes, edges, [nodes[-1].name]))


def work(switches: Switches) -> dict[str, Callable[[], object]]:
    """What is timed, on random numbers in single precision."""
    count = len(switches.gates)
    h, w, r = torch.rand(3, count) + 0.5
    state = State.start(switches, torch.float32)
    lambda_w = switches.by_kind(0.05, 0.02, torch.float32)
    contributed = contributions(h, w, r)

    def step(sizes: torch.Tensor | None) -> None:
        rescale(switches.gauge, proximal_step(switches, w, state.omega, lambda_w, 0.1, sizes), sizes)

    return {
        "update, one hop": lambda: update(switches, state.gamma, *contributed, lambda_w),
        "update, whole path": lambda: update(switches, state.gamma, *contributed, lambda_w, whole_path),
        "step, unit of gates": lambda: step(None),
        "step, unit of contributions": lambda: step(r),
    }


def milliseconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return 1000 * (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=21)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    print(f"{platform.machine()}, Python {platform.python_version()}, torch {torch.__version__}, one thread, ", end="")
    print(f"{rounds} rounds, {LAYERS} layers\n")
    tasks = {size: work(Switches.of(layers(size))) for size in SIZES}
    found: dict[tuple[int, str], list[float]] = {}
    for task in tasks.values():
        for run in task.values():
            run()  # the first call of anything is slow
    for _ in range(rounds):
        for size, task in tasks.items():
            for name, run in task.items():
                found.setdefault((size, name), []).append(milliseconds(run))
    names = list(tasks[SIZES[0]])
    print(f"| switches | {' | '.join(f'{name}, ms (spread)' for name in names)} |")
    print(f"|---:|{'---:|' * len(names)}")
    for size in SIZES:
        times = [found[size, name] for name in names]
        cells = [f"{statistics.median(each):.2f} ({min(each):.2f}-{max(each):.2f})" for each in times]
        print(f"| {size:,} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
