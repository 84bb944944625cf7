"""Runs on a Ray cluster, whose machines must share the sweep folder under the same path."""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.packages import check_packages
from bayesnas_graph.runs.sweep.pool import Job, started

FAILED, CANCELLED = 1, 130  # exit codes for runs that have none
OBJECT_STORE = 80 * 2**20  # bytes of a cluster on this machine, close to the least: runs exchange only exit codes
DIED = ("WorkerCrashedError", "NodeDiedError", "LocalRayletDiedError", "ObjectLostError")  # if a node or worker dies
_SIGNAL_AT_DEATH = 1  # PR_SET_PDEATHSIG of Linux
FOREVER = 10.0**9  # seconds: waiting without a limit would block interrupts


def installed() -> Any:
    """Import Ray. Raises NasError if it is not installed."""
    check_packages("ray", "a sweep on a cluster needs")
    return import_module("ray")


def connect(ray: Any) -> None:
    """Connect to the cluster at RAY_ADDRESS, or start one on this machine. Raises NasError."""
    address = os.environ.get("RAY_ADDRESS") or "local"
    options = {"include_dashboard": False, "object_store_memory": OBJECT_STORE} if address == "local" else {}
    try:
        ray.init(address=address, log_to_driver=False, logging_level="error", **options)
    except (OSError, RuntimeError, ValueError) as error:
        message = f"cannot connect to a Ray cluster at `{address}`: {str(error).partition(chr(10))[0]}"
        help = "set RAY_ADDRESS; without it, a cluster is started on this machine"
        raise NasError([Diagnostic("NAS609", message, help=help)]) from None
    _silence()


def _silence() -> None:
    """Keep what Ray reports about dead workers from the output; `log_to_driver` does not cover it."""
    printer = sys.modules.get("ray._private.worker")
    if hasattr(printer, "print_to_stdstream"):
        vars(printer)["print_to_stdstream"] = lambda *_, **__: None


def _end_with_parent() -> Callable[[], None] | None:
    """What makes a process end when the thread that starts it ends, however that happens; None if there is no way.

    A search that outlived its worker would hold the lock of its folder.
    """
    if sys.platform != "linux":
        return None
    system, parent = ctypes.CDLL(None), os.getpid()

    def end_with_parent() -> None:
        system.prctl(_SIGNAL_AT_DEATH, signal.SIGKILL)
        if os.getppid() != parent:  # it is already gone
            os._exit(1)

    return end_with_parent


def call(arguments: Sequence[str], environment: Mapping[str, str], log: str) -> int:
    """Run the program on a machine of the cluster. If the task is cancelled, stop the program and wait for it."""
    if not Path(log).parent.is_dir():
        raise FileNotFoundError(f"{platform.node()} cannot access `{Path(log).parent}`, which all machines must share")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells disable it for background jobs
    process = started(arguments, environment, Path(log), before=_end_with_parent())
    try:
        return process.wait(timeout=FOREVER)
    except BaseException:  # Ray cancels a task by KeyboardInterrupt
        process.terminate()
        return process.wait()


@dataclass
class RayPool:
    """A connected Ray cluster."""

    ray: Any
    jobs: int | None = None  # maximum at a time; None for as many as the cluster can run
    gpus: bool = True  # whether a run uses a GPU, if there are any
    _running: dict[Any, Job] = field(default_factory=dict)  # by Ray's handle

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

    def ended(self, seconds: float) -> list[tuple[str, int | None]]:
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

    @property
    def _died(self) -> tuple[type[Exception], ...]:
        """The errors of tasks whose node or worker died."""
        return tuple(getattr(self.ray.exceptions, name) for name in DIED if hasattr(self.ray.exceptions, name))

    def _code(self, task: Any, job: Job) -> int | None:
        """Return the exit code of a run, None if its node died. If Ray could not start it, its log gets the reason."""
        try:
            return int(self.ray.get(task))
        except self.ray.exceptions.TaskCancelledError:
            return CANCELLED
        except self._died:
            return None
        except Exception as error:  # Ray wraps any error in its own
            cause = getattr(error, "cause", None) or error
            reason = str(cause).strip().partition("\n")[0] or type(cause).__name__
            with suppress(OSError), job.log.open("a", encoding="utf-8") as file:
                file.write(f"error: {reason}\n")
            return FAILED
