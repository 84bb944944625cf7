"""Runs in separate processes, on the cores and devices of this machine."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

Environment = Mapping[str, str]
PROGRAM = (sys.executable, "-m", "bayesnas_graph")


@dataclass(frozen=True)
class Job:
    """A run to start."""

    name: str
    arguments: tuple[str, ...]  # of the program
    threads: int
    log: Path


class RunPool(Protocol):
    """Starts runs and waits for them."""

    @property
    def running(self) -> tuple[str, ...]:
        """The names of the runs in progress."""

    @property
    def room(self) -> bool:
        """Whether another run can be started."""

    def start(self, job: Job) -> None:
        """Start a run."""

    def ended(self, seconds: float) -> Sequence[tuple[str, int | None]]:
        """Wait at most this long; return the runs that have ended with their exit codes, None if their node died."""

    def stop(self) -> None:
        """Ask all runs to save their state and end."""

    def kill(self) -> None:
        """Kill all runs."""


@dataclass(frozen=True)
class Slots:
    """The environments of parallel runs, and the threads of each."""

    environments: tuple[Environment, ...]
    threads: int  # of a run whose settings do not say


def slots(jobs: int | None, threads: int, devices: Sequence[Environment], cores: int) -> Slots:
    """Return one slot per device, or as many as the cores allow, unless a number of jobs is given.

    >>> len(slots(None, 2, (), cores=8).environments), slots(3, 0, (), cores=8).threads
    (4, 1)
    """
    if devices:
        number = jobs or len(devices)
        return Slots(tuple(devices[i % len(devices)] for i in range(number)), threads or max(1, cores // number))
    threads = threads or 1  # parallel runs use cores better than threads do
    return Slots(({},) * (jobs or max(1, cores // threads)), threads)


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def devices(wanted: Iterable[str]) -> tuple[Environment, ...]:
    """Return the devices that runs with these settings would use, each as an environment that selects it."""
    import torch

    kinds = set(wanted)
    count = torch.cuda.device_count() if kinds & {"auto", "cuda"} else 0
    if count:
        visible = [name for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name]
        return tuple({"CUDA_VISIBLE_DEVICES": name} for name in (visible or list(map(str, range(count))))[:count])
    return ({},) if kinds & {"auto", "mps"} and torch.backends.mps.is_available() else ()


def started(
    arguments: Sequence[str],
    environment: Environment,
    log: Path,
    program: Sequence[str] = PROGRAM,
    before: Callable[[], None] | None = None,
) -> subprocess.Popen[bytes]:
    """Start the program in another session, so that Ctrl-C does not reach it; append its output to a log.

    `before` is called in the new process before the program starts.
    """
    with log.open("ab") as file:
        file.write(f"$ bayesnas-graph {shlex.join(arguments)}\n".encode())
        file.flush()
        return subprocess.Popen(
            [*program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            env={**os.environ, "NO_COLOR": "1", "COLUMNS": "", "PYTHONUNBUFFERED": "1", **environment},
            start_new_session=True,
            preexec_fn=before,
        )


@dataclass
class LocalPool:
    """The cores and devices of this machine."""

    slots: Sequence[Environment]
    program: Sequence[str] = PROGRAM
    _running: dict[int, tuple[str, subprocess.Popen[bytes]]] = field(default_factory=dict)  # by slot

    @property
    def running(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self._running.values())

    @property
    def room(self) -> bool:
        return len(self._running) < len(self.slots)

    def start(self, job: Job) -> None:
        slot = next(i for i in range(len(self.slots)) if i not in self._running)
        environment = {**self.slots[slot], "OMP_NUM_THREADS": str(job.threads)}
        self._running[slot] = job.name, started(job.arguments, environment, job.log, self.program)

    def ended(self, seconds: float) -> list[tuple[str, int]]:
        until = time.monotonic() + seconds
        while True:
            codes = {slot: process.poll() for slot, (_, process) in self._running.items()}
            over = [(slot, code) for slot, code in codes.items() if code is not None]
            if over or time.monotonic() >= until:
                return [(self._running.pop(slot)[0], code) for slot, code in over]
            time.sleep(0.02)

    def stop(self) -> None:
        # SIGTERM and Ctrl-C mean the same to a search, but shells let background jobs ignore the latter.
        for _, process in self._running.values():
            process.terminate()

    def kill(self) -> None:
        for _, process in self._running.values():
            with suppress(ProcessLookupError):  # it has already ended
                os.killpg(process.pid, signal.SIGKILL)  # including its data loading processes
            process.wait()
        self._running.clear()
