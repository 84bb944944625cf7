"""What several processes exchange, as NCCL requires it: the same calls in the same order, of tensors that it knows.

The process group is a fake, which exchanges nothing: a process receives what it sends. It shows what is called, not
that the numbers are right; `test_processes.py` does that, with gloo.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch
from torch import Tensor, distributed
from torch.nn.parallel import DistributedDataParallel
from torch.testing._internal.distributed.fake_pg import FakeStore
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from bayesnas_graph.runs import device as device_module
from bayesnas_graph.runs.processes import Processes
from bayesnas_graph.runs.strategies import STRATEGIES
from bayesnas_graph.search import loop
from bayesnas_graph.search.loop import Search
from bayesnas_graph.search.step import train_step
from tests.search.spaces import Notes, device, problem
from tests.search.test_stand_in_device import _Nowhere

WORLD = 4
FEW: dict[str, Any] = {"iterations": 2, "steps": 3, "warmup": 2, "finish": 1, "samples": 2, "batch": 16}
OF_NCCL = {torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int32, torch.int64, torch.uint8}
DRAWING = [name for name, info in STRATEGIES.items() if info.draws]


Call = tuple[str, tuple[tuple[int, ...], ...]]  # its name, and the shapes of its tensors


@dataclass
class Exchanged(TorchDispatchMode):
    """Records the calls of a process group, and what a step reads back."""

    calls: list[Call] = field(default_factory=list)
    reads: int = 0
    in_step: bool = False
    starts: list[int] = field(default_factory=list)  # of steps, in the list of calls
    built: list[int] = field(default_factory=list)  # networks, in the list of calls

    def __post_init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.namespace == "c10d":
            tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
            assert tensors
            assert all(tensor.is_contiguous() and tensor.dtype in OF_NCCL for tensor in tensors)
            self.calls.append((func.name(), tuple(tuple(tensor.shape) for tensor in tensors)))
        if self.in_step and func is torch.ops.aten._local_scalar_dense.default:
            self.reads += 1
        return func(*args, **(kwargs or {}))

    def step(self, *arguments: Any) -> Any:
        """A training step."""
        self.in_step = True
        self.starts.append(len(self.calls))
        try:
            return train_step(*arguments)
        finally:
            self.in_step = False

    def network(self, *arguments: Any, **settings: Any) -> Averaged:
        """A network whose gradients are averaged."""
        self.built.append(len(self.calls))
        return Averaged(*arguments, **settings)


class Averaged(DistributedDataParallel):
    """Averages gradients by a call from Python: the call from C++ needs a result, and the fake has none."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.register_comm_hook(None, lambda _, bucket: _average(bucket))


def _average(bucket: Any) -> torch.futures.Future[Tensor]:
    distributed.all_reduce(bucket.buffer())
    done: torch.futures.Future[Tensor] = torch.futures.Future()
    done.set_result(bucket.buffer() / WORLD)
    return done


@contextmanager
def fake_group(rank: int) -> Iterator[Processes]:
    distributed.init_process_group("fake", rank=rank, world_size=WORLD, store=FakeStore())
    try:
        yield Processes(rank, WORLD)
    finally:
        distributed.destroy_process_group()


def exchanged(rank: int, **settings: Any) -> Exchanged:
    """Search as one of several processes. What is exchanged as Python objects is not tensors: it is left out."""
    given = problem(**FEW | settings)
    found = Exchanged()

    def alike(processes: Processes, value: object) -> list[object]:
        assert not found.in_step, "objects are read back"
        return [value] * processes.world

    with (
        fake_group(rank) as processes,
        patch.object(loop, "train_step", found.step),
        patch.object(device_module, "DistributedDataParallel", found.network),
        patch.object(Processes, "gather", alike),
        patch.object(Processes, "broadcast", lambda _, value: value),
        found,
    ):
        outcome = Search(given, device(given.config, processes), _Nowhere(Path()), Notes()).run()
        assert isinstance(outcome.learner.network, Averaged)
    return found


@pytest.mark.parametrize("name", STRATEGIES)
def test_all_processes_call_the_same(name: str) -> None:
    """Until they decide something: here each process decides by its own samples."""
    first, last = (exchanged(rank, strategy=name) for rank in (0, WORLD - 1))
    mine, others = (called(found, name) for found in (first, last))
    assert mine == others
    names = {call for call, _ in mine}
    assert "c10d::allreduce_" in names  # of gradients
    assert "c10d::allgather_" in names  # of the statistics of batch norms
    assert len(mine) > 20
    if name not in DRAWING:
        assert first.reads == 0, "a step waits for nothing"


def called(found: Exchanged, name: str) -> list[Call]:
    """The calls before a process acts on its own samples: by a draw, or by the first update."""
    if name in DRAWING:
        return found.calls[: found.starts[FEW["warmup"]]]
    return found.calls[: min([found.starts[FEW["warmup"] + FEW["steps"]], *found.built[1:]])]
