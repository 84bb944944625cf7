"""Memory of training steps as `stats` estimates it, and as it is: `python -m benchmarks.memory`.

Each network is compiled as a run would compile it. What the forward pass saves is measured by the storages of the
tensors that autograd saves, and a whole step with SGD and momentum by the allocations of torch, also with cells that
are computed again (`recompute`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.profiler import ProfilerActivity, profile

from bayesnas_graph import passes
from bayesnas_graph.cli.network_options import load_network
from bayesnas_graph.codegen.emit import build, emit
from bayesnas_graph.ir import Graph
from bayesnas_graph.ir.ops.tracing import saved_by
from bayesnas_graph.passes.analysis import step_memory
from bayesnas_graph.runtime import recompute_cells, use_channels_last
from benchmarks import tables
from benchmarks.command import arguments, command, finish
from benchmarks.record import Record

SPACES = Path(__file__).parent.parent / "spaces"
MIB = 2**20


@dataclass(frozen=True)
class Subject:
    """A network of a shipped space, with parameters that make it small."""

    space: str
    network: str
    batch: int
    parameters: tuple[str, ...] = ()

    def graph(self) -> Graph:
        """The graph with its switches."""
        loaded = load_network(SPACES / f"{self.space}.nas", self.network, list(self.parameters))
        return passes.run(loaded.graph(), passes.SWITCHES)


SUBJECTS = (
    Subject("quickstart", "digits", 64),
    Subject("darts", "search", 16),
    Subject("nasbench201", "search", 16),
    Subject("densenet", "densenet_bc_100_12", 16),
    Subject("resnet18_cifar", "resnet18", 16, ("width=32",)),
    Subject("mobilenet_v2", "mobilenet_v2", 4),
    Subject("efficientnet_b0", "efficientnet", 4),
    Subject("vit", "vit", 16, ("width=192", "depth=4", "heads=3", "size=128")),
    Subject("sequence", "search", 16),
)


def compiled(subject: Subject) -> Graph:
    """The graph as a run compiles it for this machine."""
    return passes.run(subject.graph(), passes.FASTER, passes.Options(batch=subject.batch))


def ready(graph: Graph, batch: int) -> tuple[nn.Module, Tensor, Callable[[], Tensor]]:
    """A network in training mode, a batch, and a function that computes the loss."""
    torch.manual_seed(0)
    network = build(emit(graph)).train()
    use_channels_last(network)
    first = next(node for node in graph if node.op.is_input)
    shape = (batch, *first.shape)
    x = torch.randint(2, shape) if first.op.is_tokens else torch.randn(shape)
    if x.ndim == 4:
        x = x.contiguous(memory_format=torch.channels_last)
    labels = torch.randint(prod(graph[graph.outputs[0]].shape), (batch,))
    return network, x, lambda: F.cross_entropy(network(x).flatten(1), labels)


def saved(graph: Graph, batch: int) -> int:
    """The bytes that the forward pass of a batch saves, with the batch."""
    network, x, loss = ready(graph, batch)
    return saved_by(loss, [x, *network.parameters(), *network.buffers()]) + x.nbytes


def allocated(graph: Graph, batch: int, *, recompute: bool = False) -> int:
    """The most bytes during a step, with weights, state and batch."""
    network, x, loss = ready(graph, batch)
    if recompute:
        recompute_cells(network)
    weights = list(network.parameters())
    optimiser = torch.optim.SGD(weights, lr=0.01, momentum=0.9)

    def step() -> None:
        optimiser.zero_grad()
        torch.autograd.backward(loss())
        optimiser.step()

    step()  # the state is there from the second step on
    optimiser.zero_grad()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as recorded:
        step()
    before = x.nbytes + 2 * sum(weight.nbytes for weight in weights)
    return before + _peak(recorded)


def _peak(recorded: profile) -> int:
    """The most bytes that were allocated and not freed."""
    events: list[Any] = recorded.profiler.kineto_results.events()  # type: ignore[union-attr]
    changes = sorted((event.start_ns(), event.nbytes()) for event in events if event.name() == "[memory]")
    live = most = 0
    for _, change in changes:
        live += change
        most = max(most, live)
    return most


def rows(subjects: tuple[Subject, ...]) -> Iterator[dict[str, object]]:
    """A row for each network."""
    for subject in subjects:
        graph, batch = compiled(subject), subject.batch
        estimate = step_memory(graph)
        yield {
            "network": f"{subject.space} {subject.network}" if subject.space != subject.network else subject.space,
            "parameters": ", ".join(subject.parameters),
            "batch": batch,
            "activations, estimate": estimate.activations(batch) / MIB,
            "activations, MiB": saved(graph, batch) / MIB,
            "training, estimate": estimate.training(batch) / MIB,
            "training, MiB": allocated(graph, batch) / MIB,
            "recomputing, estimate": step_memory(graph, recompute=True).training(batch) / MIB,
            "recomputing, MiB": allocated(graph, batch, recompute=True) / MIB,
        }


def table(record: Record) -> str:
    lines = [
        [
            row["network"] + (f" ({row['parameters']})" if row["parameters"] else ""),
            str(row["batch"]),
            *(
                cell
                for kind in ("activations", "training", "recomputing")
                for cell in (
                    f"{row[f'{kind}, estimate']:,.1f}",
                    f"{row[f'{kind}, MiB']:,.1f}",
                    f"{row[f'{kind}, estimate'] / row[f'{kind}, MiB']:.2f}",
                )
            ),
        ]
        for row in record.rows
    ]
    head = ["network", "batch", "activations, estimate, MiB", "measured", "ratio"]
    more = [word for kind in ("training", "`recompute`") for word in (f"{kind}, estimate, MiB", "measured", "ratio")]
    return tables.table([*head, *more], lines)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", nargs="+", default=[], help="spaces to measure")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    record = Record.begin(options.name, command(), ["network"], seeds=[0], threads=options.threads)
    chosen = tuple(subject for subject in SUBJECTS if not options.only or subject.space in options.only)
    finish(record.with_rows(rows(chosen)), table, options)


if __name__ == "__main__":
    main()
