"""One process, or several that train the same network on parts of every batch."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor, distributed

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.runs.folder import RunFolder

T = TypeVar("T")

# A network that an error still refers to holds its group, too. If it were the last, the group would end while the
# interpreter is locked, and wait for threads of its own that wait for the interpreter.
_groups: list[object] = []


@dataclass(frozen=True)
class Processes:
    """Which of how many processes this is. All take the same decisions; the first of them writes and speaks."""

    rank: int = 0
    world: int = 1

    @property
    def first(self) -> bool:
        """Whether this is the one that writes."""
        return self.rank == 0

    def mean(self, value: Tensor, weight: float = 1.0) -> Tensor:
        """The mean over all processes, each of which has a weight."""
        if self.world == 1:
            return value
        both = torch.cat([value.detach().double().flatten() * weight, value.new_full((1,), weight).double()])
        distributed.all_reduce(both)
        return (both[:-1] / both[-1]).view_as(value).to(value.dtype)

    def any(self, flag: bool) -> bool:
        """Whether it holds in one of them."""
        if self.world == 1:
            return flag
        flags: list[bool] = [False] * self.world
        distributed.all_gather_object(flags, flag)
        return any(flags)

    def tell(self, value: T) -> T:
        """What the first process has, in all of them."""
        if self.world == 1:
            return value
        held: list[T] = [value]
        distributed.broadcast_object_list(held, src=0)
        return held[0]


@contextmanager
def joined(device: torch.device) -> Iterator[Processes]:
    """The processes that `torchrun` has started, if it has."""
    if "RANK" not in os.environ or int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield Processes()
        return
    try:
        distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    except (RuntimeError, ValueError) as error:
        message = f"the processes of this search cannot find each other: {str(error).partition(chr(10))[0]}"
        help = "start all of them with one `torchrun`; where there is none, unset RANK and WORLD_SIZE"
        raise NasError([Diagnostic("NAS609", message, help=help)]) from None
    _groups.append(distributed.group.WORLD)
    try:
        yield Processes(distributed.get_rank(), distributed.get_world_size())
    finally:
        distributed.destroy_process_group()


def told_to_all(processes: Processes, folder: RunFolder | None) -> RunFolder:
    """The folder that the first process has made."""
    path = processes.tell(None if folder is None else str(folder.path))
    assert path is not None, "the first process has one"
    return RunFolder(Path(path))
