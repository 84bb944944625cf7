"""Kernels that a step of a search starts on a GPU, and the memory of its tensors: `python -m benchmarks.launches`.

No GPU is needed. The network is compiled for one, and a step is taken with tensors of torch's `meta` device, which have
shapes but no values. Everything that a step calls is counted by kind:

- A function of torch that computes something is one launch, whatever the library does inside: a convolution or a batch
  norm is one, and so is an update of all weights at once (`_foreach`).
- Views (slices, reshapes, transposed tensors), `detach` and the allocation of memory launch nothing.
- A copy is counted for each input of a convolution or a pool that is not contiguous, because their kernels need it.

The plain network is that of `benchmarks/plain_darts.py`, with a module for each candidate of each edge. It has the same
loss and weight update, but no step of the gates. Memory is the largest sum of the sizes of all tensors, weights and
optimizer state included; the library may need more for its own work. Small differences in the speed of a kernel do not
show here: the numbers say how often a GPU has to be told what to do.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args
from unittest.mock import patch

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from bayesnas_graph import passes
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.device import Device
from bayesnas_graph.search.learner import new_learner
from bayesnas_graph.search.step import train_step
from bayesnas_graph.search.strategies import strategy_of
from bayesnas_graph.search.strategy import Rates
from benchmarks import tables
from benchmarks.command import arguments, command, finish
from benchmarks.plain_darts import PlainDarts
from benchmarks.record import Record

META = torch.device("meta")
SPACES = ("darts", "nasbench201", "proxyless_mobile")
BEFORE = {"forward": 2494, "backward": 5599}  # `darts` with a kernel for each candidate and gate: without copies

Phase = Literal["forward", "backward", "update"]
PHASES: tuple[Phase, ...] = get_args(Phase)

_NEEDS_CONTIGUOUS = ("convolution", "pool2d")


@dataclass
class Step:
    """What a step did."""

    launches: dict[Phase, Counter[str]] = field(default_factory=lambda: {phase: Counter() for phase in PHASES})
    peak: int = 0  # bytes

    def total(self, *phases: Phase) -> int:
        """The number of launches in some phases, or in all."""
        return sum(self.launches[phase].total() for phase in phases or PHASES)


class Counting(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts launches, and the bytes of all tensors that exist. `step` may be replaced at any time."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.step = Step()
        self._alive: dict[int, weakref.ref[Any]] = {}
        self._bytes = 0
        self._was_backward = False

    @contextmanager
    def watched(self) -> Iterator[Step]:
        """Count what happens within this block."""
        self.step, self._was_backward = Step(peak=self._bytes), False
        yield self.step

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        self._count(func, args)
        for leaf in tree_leaves(result):
            if isinstance(leaf, Tensor):
                self._keep(leaf)
        return result

    def _count(self, func: Any, args: Any) -> None:
        kinds = [func.overloadpacket.__name__] if _launches(func) else []
        if any(word in func.overloadpacket.__name__ for word in _NEEDS_CONTIGUOUS):
            kinds += ["copy of an input"] * sum(isinstance(arg, Tensor) and not _is_dense(arg) for arg in args)
        is_backward = torch._C._current_graph_task_id() != -1
        self._was_backward |= is_backward
        phase: Phase = "backward" if is_backward else "update" if self._was_backward else "forward"
        self.step.launches[phase].update(kinds)

    def _keep(self, tensor: Tensor) -> None:
        storage = tensor.untyped_storage()
        key, size = storage._cdata, storage.nbytes()
        if key in self._alive:
            return

        def freed(_: object) -> None:
            del self._alive[key]
            self._bytes -= size

        self._alive[key] = weakref.ref(storage, freed)
        self._bytes += size
        self.step.peak = max(self.step.peak, self._bytes)


def _launches(func: Any) -> bool:
    """Whether a function computes something: it is no view, and takes or returns tensors."""
    returned = func._schema.returns
    is_view = any(value.alias_info is not None and not value.alias_info.is_write for value in returned)
    name = func.overloadpacket.__name__
    return not is_view and "empty" not in name and name not in ("detach", "_unsafe_view", "promote_types")


def _is_dense(tensor: Tensor) -> bool:
    forms = (torch.contiguous_format, torch.channels_last) if tensor.ndim == 4 else (torch.contiguous_format,)
    return any(tensor.is_contiguous(memory_format=form) for form in forms)


@contextmanager
def counting() -> Iterator[Counting]:
    """Count launches as on a GPU: torch's optimizers update all weights at once there, so they have to here."""
    with (
        patch("torch.optim.optimizer._get_foreach_kernels_supported_devices", lambda: ["meta"]),
        patch("torch.utils._foreach_utils._get_foreach_kernels_supported_devices", lambda: ["meta"]),
        Counting() as mode,
    ):
        yield mode


def graph_of(space: str, **parameters: int) -> Graph:
    """The search network of a shipped space, with all its switches."""
    checker = Checker(Report())
    found = checker.path(Path(__file__).parent.parent / "spaces" / f"{space}.nas")
    assert found is not None, "it is shipped"
    network = checker.network(found.module, "search", dict(parameters))
    assert network is not None, "its parameters are those of the space"
    return passes.run(network.graph(), passes.SWITCHES)


def compiled(graph: Graph, batch: int, **settings: Any) -> Step:
    """The second step of a search, which finds the state of the optimizer."""
    config = SearchConfig(batch=batch, unit="gate", **settings)
    with counting() as mode:
        learner = new_learner(graph, config, Device(META))
        x, y = _batch(graph, batch)
        learner = strategy_of(config).start(learner, (x, y))
        return _second(mode, lambda: train_step(learner, (x, y), Rates(0.05, 0.1, config.intensities)))


def plain(batch: int, width: int = 16, cells: int = 8) -> Step:
    """A step of the plain network of DARTS."""
    config = SearchConfig()
    with counting() as mode:
        network = PlainDarts(width, cells).to(META)
        weights = [weight for name, weight in network.named_parameters() if not name.endswith((".gates", ".zero"))]
        optimiser = torch.optim.SGD(weights, config.rate, config.momentum, weight_decay=config.weight_decay)
        x, y = torch.empty(batch, 3, 32, 32, device=META), torch.empty(batch, dtype=torch.long, device=META)

        def step() -> None:
            network.zero_grad()
            torch.autograd.backward([F.cross_entropy(network(x), y)])
            nn.utils.clip_grad_norm_(weights, config.clip)
            optimiser.step()

        return _second(mode, step)


def _second(mode: Counting, step: Callable[[], object]) -> Step:
    step()
    with mode.watched() as found:
        step()
    return found


def _batch(graph: Graph, batch: int) -> tuple[Tensor, Tensor]:
    shapes = [node.shape for node in graph if node.op.is_input]
    return torch.empty(batch, *shapes[0], device=META), torch.empty(batch, dtype=torch.long, device=META)


def row(space: str, form: str, batch: int, found: Step) -> dict[str, object]:
    """A row of the record."""
    counts: dict[str, object] = {phase: found.total(phase) for phase in PHASES}
    kinds = {f"{phase}: {kind}": n for phase in PHASES for kind, n in found.launches[phase].most_common()}
    return {"space": space, "form": form, "batch": batch, **counts, "memory, MiB": found.peak / 2**20, "kinds": kinds}


def rows(spaces: list[str], batch: int) -> Iterator[dict[str, object]]:
    """A row for each space and form."""
    for space in spaces:
        if space == "darts":
            yield row(space, "plain", batch, plain(batch))
        graph = graph_of(space)
        yield row(space, "as written (`--no-fuse`)", batch, compiled(graph, batch, fuse=False))
        yield row(space, "compiled for a GPU", batch, compiled(graph, batch))


def table(record: Record) -> str:
    lines = []
    for row in record.rows:
        counts = [f"{row[phase]:,}" for phase in PHASES]
        memory = f"{row['memory, MiB']:,.0f}"
        lines.append([row["space"], row["form"], *counts, f"{sum(row[phase] for phase in PHASES):,}", memory])
    found = [tables.table(["space", "form", *PHASES, "in all", "memory, MiB"], lines, words=2)]
    for row in record.where(space="darts", form="compiled for a GPU"):
        kinds = sorted(row["kinds"].items(), key=lambda pair: -pair[1])[:14]
        head = "The most frequent kinds of the last form of `darts`:"
        found.append(f"{head}\n\n" + tables.table(["kind", "launches"], [[kind, f"{n:,}"] for kind, n in kinds]))
    return "\n".join(found)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("spaces", nargs="*", default=list(SPACES))
    parser.add_argument("--batch", type=int, default=64)
    options = parser.parse_args()
    settings = {"batch": options.batch}
    record = Record.begin(options.name, command(), ["space", "form"], settings=settings)
    finish(record.with_rows(rows(options.spaces, options.batch)), table, options)


if __name__ == "__main__":
    main()
