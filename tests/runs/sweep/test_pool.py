"""Where sweeps run: local processes, a fake Ray cluster, and Ray itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.runs.sweep import cluster
from bayesnas_graph.runs.sweep.cluster import RayPool
from bayesnas_graph.runs.sweep.folder import first_error
from bayesnas_graph.runs.sweep.pool import Job, LocalPool, devices, slots


def test_as_many_as_there_is_room_for() -> None:
    assert len(slots(None, 0, (), cores=6).environments) == 6
    assert slots(None, 4, (), cores=6) == slots(1, 4, (), cores=2)
    assert slots(None, 9, (), cores=6).threads == 9
    two = ({"CUDA_VISIBLE_DEVICES": "0"}, {"CUDA_VISIBLE_DEVICES": "1"})
    assert slots(None, 0, two, cores=8).environments == two
    assert slots(3, 0, two, cores=8).environments == (*two, two[0])
    assert (slots(None, 0, two, cores=8).threads, slots(None, 2, two, cores=8).threads) == (4, 2)


def test_each_run_sees_one_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert [one["CUDA_VISIBLE_DEVICES"] for one in devices(["auto"])] == ["0", "1"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,GPU-5")
    assert [one["CUDA_VISIBLE_DEVICES"] for one in devices(["cpu", "cuda"])] == ["3", "GPU-5"]
    assert devices(["cpu"]) == ()


def pool_of(script: str, *slots: dict[str, str]) -> LocalPool:
    return LocalPool(slots or ({},), (sys.executable, "-c", script))


def wait(pool: LocalPool) -> dict[str, int]:
    codes: dict[str, int] = {}
    while pool.running:
        codes |= pool.ended(60)
    return codes


def test_a_run_is_a_process_with_a_log(tmp_path: Path) -> None:
    script = "import os, sys; print(os.environ['SLOT'], os.environ['OMP_NUM_THREADS'], sys.argv[1]); sys.exit(3)"
    pool = pool_of(script, {"SLOT": "a"}, {"SLOT": "b"})
    for name in ("one", "two"):
        pool.start(Job(name, (f"{name} of two",), 5, tmp_path / name))
    assert not pool.room
    assert wait(pool) == {"one": 3, "two": 3}
    assert (tmp_path / "one").read_text() == "$ bayesnas-graph 'one of two'\na 5 one of two\n"
    assert (tmp_path / "two").read_text().endswith("\nb 5 two of two\n")


READY = """
import os, signal, sys
def told(number, frame):
    {0}
signal.signal(signal.SIGTERM, told)
open(sys.argv[1], "w").close()  # which waits for a reader
while True:
    signal.pause()
"""


def ready(pool: LocalPool, folder: Path) -> None:
    """Start a run, and wait until it is ready."""
    os.mkfifo(folder / "pipe")
    pool.start(Job("run", (str(folder / "pipe"),), 1, folder / "log"))
    (folder / "pipe").open().close()


def test_runs_are_told_to_stop(tmp_path: Path) -> None:
    pool = pool_of(READY.format("sys.exit(130)"))
    ready(pool, tmp_path)
    assert pool.ended(0) == []
    pool.stop()
    assert wait(pool) == {"run": 130}


def test_runs_that_do_not_listen_are_killed(tmp_path: Path) -> None:
    pool = pool_of(READY.format("pass"))
    ready(pool, tmp_path)
    pool.stop()
    ((_, process),) = pool._running.values()
    pool.kill()
    assert process.returncode == -signal.SIGKILL
    assert pool.running == ()


class Cancelled(Exception):
    pass


class Task:
    """A task of the fake Ray."""

    def __init__(self, options: dict[str, Any], arguments: tuple[Any, ...]) -> None:
        self.options, self.arguments, self.cancelled = options, arguments, ""


@dataclass
class Ray:
    """The calls of Ray that a pool makes. Tasks end in the order they were started."""

    outcome: Callable[[Task], int]
    gpus: float = 0
    tasks: list[Task] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    exceptions: Any = field(default_factory=lambda: SimpleNamespace(TaskCancelledError=Cancelled))

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 8.0, "GPU": self.gpus}

    def remote(self, function: object) -> Any:
        assert function is cluster.call

        def options(**options: Any) -> Any:
            def remote(*arguments: Any) -> Task:
                self.tasks.append(Task(options, arguments))
                return self.tasks[-1]

            return SimpleNamespace(remote=remote)

        return SimpleNamespace(options=options)

    def wait(self, tasks: list[Task], num_returns: int, timeout: float) -> tuple[list[Task], list[Task]]:
        assert tasks
        return tasks[:num_returns], tasks[num_returns:]

    def get(self, task: Task) -> int:
        if task.cancelled:
            raise Cancelled
        return self.outcome(task)

    def cancel(self, task: Task, force: bool = False) -> None:
        task.cancelled = "force" if force else "kindly"

    def shutdown(self) -> None:
        self.calls.append("shutdown")


def test_runs_on_a_cluster(tmp_path: Path) -> None:
    def outcome(task: Task) -> int:
        if task.arguments[0] == ("bad",):
            error = RuntimeError("a traceback\nof many lines")
            error.cause = FileNotFoundError("no folder here\nat all")  # type: ignore[attr-defined]
            raise error
        return 7

    ray = Ray(outcome, gpus=2)
    pool = RayPool(ray, jobs=2)
    for name in ("good", "bad"):
        assert pool.room
        pool.start(Job(name, (name,), 3, tmp_path / name))
    assert not pool.room
    assert ray.tasks[0].options == {"num_cpus": 3, "num_gpus": 1, "max_retries": 0}
    assert ray.tasks[0].arguments == (("good",), {"OMP_NUM_THREADS": "3"}, str(tmp_path / "good"))
    assert [pool.ended(1), pool.ended(1), pool.ended(1)] == [[("good", 7)], [("bad", 1)], []]
    assert first_error(tmp_path / "bad") == "error: no folder here"


def test_a_cluster_is_told_to_stop(tmp_path: Path) -> None:
    ray = Ray(lambda _: 0)
    pool = RayPool(ray, gpus=False)
    for name in ("a", "b"):
        pool.start(Job(name, (), 1, tmp_path / name))
    assert ray.tasks[0].options["num_gpus"] == 0
    pool.stop()
    assert pool.ended(1) == [("a", 130)]
    assert [task.cancelled for task in ray.tasks] == ["kindly", "kindly"]
    pool.kill()
    assert (ray.tasks[1].cancelled, ray.calls, pool.running) == ("force", ["shutdown"], ())


def test_without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(NasError, match="NAS609: a sweep on a cluster needs the package `ray`") as error:
        cluster.installed()
    assert error.value.diagnostics[0].help == "install it with `pip install ray`"


def test_without_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    def init(address: str, **_: object) -> None:
        raise ConnectionError(f"nobody at {address}\nreally")

    monkeypatch.setenv("RAY_ADDRESS", "far:6379")
    with pytest.raises(NasError, match=r"NAS609: cannot connect to a Ray cluster at `far:6379`: nobody at far:6379$"):
        cluster.connect(SimpleNamespace(init=init))


def test_a_machine_that_does_not_see_the_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="cannot access"):
        cluster.call((), {}, str(tmp_path / "elsewhere" / "log"))


@pytest.fixture
def ray_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A folder for the files of Ray. Its path is short, because the paths of sockets are limited."""
    with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as folder:
        monkeypatch.setenv("RAY_TMPDIR", folder)
        yield folder


@pytest.mark.filterwarnings("default")
def test_ray_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ray_folder: str) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    ray = cluster.installed()
    cluster.connect(ray)
    assert ray.cluster_resources()["object_store_memory"] <= cluster.OBJECT_STORE
    pool = RayPool(ray)
    try:
        pool.start(Job("good", ("--version",), 1, tmp_path / "good"))
        pool.start(Job("bad", ("explain", "NAS999"), 1, tmp_path / "bad"))
        pool.start(Job("lost", (), 1, tmp_path / "elsewhere" / "log"))
        codes: dict[str, int | None] = {}
        while pool.running:
            codes |= pool.ended(60)
    finally:
        pool.kill()
    assert codes["good"] == 0
    assert codes["bad"] != 0
    assert codes["lost"] == 1
    assert "bayesnas-graph 0" in (tmp_path / "good").read_text()
    programs = subprocess.run(["ps", "-eo", "args"], check=True, capture_output=True, text=True).stdout
    assert ray_folder not in programs, "all processes of the cluster have ended"
