"""Runs on the machines of a Ray cluster, which all see the folder of the sweep under the same path."""

from __future__ import annotations

import os
import platform
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.runs.sweep.pool import Job, started

FAILED, CANCELLED = 1, 130  # exit codes of runs that have none of their own
FOREVER = 10.0**9  # seconds: waiting without a limit would not let an interrupt through


def installed() -> Any:
    """Ray itself. Raises NasError if it is not there."""
    try:
        return import_module("ray")
    except ImportError:
        help = "`pip install 'bayesnas-graph[ray]'`"
        raise NasError([Diagnostic("NAS609", "the package `ray` is not installed", help=help)]) from None


def connect(ray: Any) -> None:
    """Get in touch with the cluster that RAY_ADDRESS names, or start one of this machine alone. Raises NasError."""
    address = os.environ.get("RAY_ADDRESS") or "local"
    try:
        ray.init(address=address, log_to_driver=False, logging_level="error")
    except (OSError, RuntimeError, ValueError) as error:
        message = f"there is no Ray cluster at `{address}`: {str(error).partition(chr(10))[0]}"
        help = "RAY_ADDRESS names one; without it, one of this machine alone is started"
        raise NasError([Diagnostic("NAS609", message, help=help)]) from None


def call(arguments: Sequence[str], environment: Mapping[str, str], log: str) -> int:
    """A run, wherever Ray wants it. It is told when the task is cancelled, and then waited for all the same."""
    if not Path(log).parent.is_dir():
        raise FileNotFoundError(f"{platform.node()} does not see `{Path(log).parent}`, which all machines must share")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells turn it off for what runs in the background
    process = started(arguments, environment, Path(log))
    try:
        return process.wait(timeout=FOREVER)
    except BaseException:  # Ray cancels a task by KeyboardInterrupt
        process.terminate()
        return process.wait()


@dataclass
class RayPool:
    """A cluster. Ray itself is given, connected."""

    ray: Any
    jobs: int | None = None  # at a time; as many as the cluster has room for if None
    gpus: bool = True  # whether a run takes one, where there are any
    _running: dict[Any, Job] = field(default_factory=dict)  # by what Ray knows it by

    @property
    def running(self) -> tuple[str, ...]:
        return tuple(job.name for job in self._running.values())

    @property
    def room(self) -> bool:
        return self.jobs is None or len(self._running) < self.jobs

    def start(self, job: Job) -> None:
        gpus = int(self.gpus and self.ray.cluster_resources().get("GPU", 0) >= 1)
        task = self.ray.remote(call).options(num_cpus=job.threads, num_gpus=gpus, max_retries=0)
        environment = {"OMP_NUM_THREADS": str(job.threads)}
        self._running[task.remote(job.arguments, environment, str(job.log.absolute()))] = job

    def ended(self, seconds: float) -> list[tuple[str, int]]:
        if not self._running:
            return []
        over, _ = self.ray.wait(list(self._running), num_returns=1, timeout=seconds)
        return [(job.name, self._code(task, job)) for task in over for job in [self._running.pop(task)]]

    def stop(self) -> None:
        for task in self._running:
            self.ray.cancel(task)

    def kill(self) -> None:
        for task in self._running:
            self.ray.cancel(task, force=True)
        self._running.clear()
        self.ray.shutdown()

    def _code(self, task: Any, job: Job) -> int:
        """How a run ended. Where Ray could not even start it, its log tells."""
        try:
            return int(self.ray.get(task))
        except self.ray.exceptions.TaskCancelledError:
            return CANCELLED
        except Exception as error:  # Ray hands on whatever went wrong, as an error of its own
            cause = getattr(error, "cause", None) or error
            reason = str(cause).strip().partition("\n")[0] or type(cause).__name__
            with suppress(OSError), job.log.open("a", encoding="utf-8") as file:
                file.write(f"error: {reason}\n")
            return FAILED
