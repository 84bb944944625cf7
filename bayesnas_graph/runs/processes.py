"""One process, or several that train the same network on parts of every batch."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor, distributed

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runtime.precision import precise

T = TypeVar("T")


@dataclass(frozen=True)
class Processes:
    """The rank of this process, and their number. All take the same decisions; only the first writes and prints."""

    rank: int = 0
    world: int = 1

    @property
    def first(self) -> bool:
        """Whether this is the process that writes."""
        return self.rank == 0

    def mean(self, value: Tensor, weight: float = 1.0) -> Tensor:
        """Return the weighted mean over all processes."""
        if self.world == 1:
            return value
        both = torch.cat([precise(value.detach()).flatten() * weight, precise(value.new_full((1,), weight))])
        distributed.all_reduce(both)
        return (both[:-1] / both[-1]).view_as(value).to(value.dtype)

    def any(self, flag: bool) -> bool:
        """Return whether a flag is set in any process."""
        return any(self.gather(flag))

    def gather(self, value: T) -> list[T]:
        """Return the values of all processes."""
        if self.world == 1:
            return [value]
        values = [value] * self.world
        distributed.all_gather_object(values, value)
        return values

    def broadcast(self, value: T) -> T:
        """Return the value of the first process in all of them."""
        if self.world == 1:
            return value
        values: list[T] = [value]
        distributed.broadcast_object_list(values, src=0)
        return values[0]


def is_first() -> bool:
    """Return whether this is the only process, or the first one started by `torchrun`."""
    return int(os.environ.get("RANK", "0")) == 0


@contextmanager
def join_processes(device: torch.device) -> Iterator[Processes]:
    """Join the processes started by `torchrun`, if any."""
    if "RANK" not in os.environ or int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield Processes()
        return
    try:
        distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    except (RuntimeError, ValueError) as error:
        message = f"the processes of this run cannot find each other: {str(error).partition(chr(10))[0]}"
        help = "start all of them with one `torchrun`; without it, unset RANK and WORLD_SIZE"
        raise NasError([Diagnostic("NAS609", message, help=help)]) from None
    _keep(distributed.group.WORLD)
    try:
        yield Processes(distributed.get_rank(), distributed.get_world_size())
    finally:
        distributed.destroy_process_group()


@cache
def _keep(group: object) -> object:
    """Keep a process group until the interpreter exits.

    A network that an exception refers to holds the group too. If it held the last reference, the group would be
    destroyed with the interpreter locked, and would wait for its own threads, which wait for the interpreter.
    """
    return group


def shared_folder(processes: Processes, folder: RunFolder | None) -> RunFolder:
    """Return the folder created by the first process."""
    path = processes.broadcast(None if folder is None else str(folder.path))
    assert path is not None, "the first process has created it"
    return RunFolder(Path(path))
