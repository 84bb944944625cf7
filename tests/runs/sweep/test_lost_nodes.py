"""Searches whose worker or node dies on a Ray cluster."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bayesnas_graph.cli.display.sweep_view import SweepLines
from bayesnas_graph.runs.sweep.cluster import RayPool
from bayesnas_graph.runs.sweep.folder import SweepFolder
from bayesnas_graph.runs.sweep.pool import Job
from bayesnas_graph.runs.sweep.schedule import Sweep
from tests.conftest import ROOT
from tests.runs.sweep.sweeps import asked, finish

SPACE = """import "std.nas"

network tiny(width = 2) : image(1, 8, 8) -> classes(2) {
    in x
    node h = x : conv(width) > bn
    node k = h : choose { conv(width, 3), max_pool(3), skip }
    k -> out : choose { conv(width, 1), skip } > global_avg_pool > linear(2)
}
"""

# The first search that has come so far kills the process that started it, once, and waits for its own end.
DATA = """
import os, signal
from pathlib import Path
import torch

class Images:
    def __init__(self, length, deadly=False):
        self.length, self.deadly, self.seen = length, deadly, 0

    def __len__(self):
        return self.length

    def __getitem__(self, i):
        self.seen += 1
        if self.deadly and self.seen == 400 and not Path(__file__).with_name("killed").exists():
            Path(__file__).with_name("killed").touch()
            os.kill(os.getppid(), signal.SIGKILL)
            while True:
                signal.pause()
        return torch.full((1, 8, 8), i % 2 + i / 1000), i % 2

def plain():
    return Images(100), Images(20)

def deadly():
    return Images(100, deadly=True), Images(20)
"""

QUICK = [
    "-s",
    "steps=40",
    "-s",
    "warmup=4",
    "-s",
    "iterations=2",
    "-s",
    "batch=16",
    "-s",
    "gate_rate=0.5",
    "-s",
    "checkpoint_steps=5",
]


@dataclass
class Mortal:
    """A pool in which the nodes of runs die some times before the runs end, one turn after their start."""

    folder: SweepFolder
    deaths: dict[str, int]
    jobs: list[Job] = field(default_factory=list)
    running: tuple[str, ...] = ()
    is_new: bool = False

    @property
    def room(self) -> bool:
        return not self.running

    def start(self, job: Job) -> None:
        self.jobs.append(job)
        self.running, self.is_new = (job.name,), True

    def ended(self, seconds: float) -> Sequence[tuple[str, int | None]]:
        if self.is_new:
            self.is_new = False
            return []
        (name,), self.running = self.running, ()
        run = self.folder.run(next(point for point in asked(seeds=2).points() if point.name == name))
        if self.deaths.get(name, 0):
            self.deaths[name] -= 1
            run.path.mkdir(exist_ok=True)
            run.write_json(run.manifest_file, {})
            return [(name, None)]
        finish(self.folder, next(point for point in asked(seeds=2).points() if point.name == name))
        return [(name, 0)]

    def stop(self) -> None:
        pass

    def kill(self) -> None:
        pass


def swept(
    path: Path, deaths: dict[str, int], *, stopped: bool = False
) -> tuple[list[str], Mortal, list[dict[str, str]]]:
    folder, what = SweepFolder(path), asked(seeds=2)
    folder.request_file.write_text(what.model_dump_json())
    pool, said = Mortal(folder, deaths), list[str]()
    Sweep(folder, what, what.points()).run(pool, 1, lambda: stopped and bool(pool.jobs), SweepLines(said.append))
    with folder.table.open(newline="") as file:
        return said, pool, list(csv.DictReader(file))


def test_a_run_goes_on_elsewhere(tmp_path: Path) -> None:
    said, pool, rows = swept(tmp_path, {"seed=0": 2})
    assert said[:2] == [f"seed=0: resubmitted after its node died ({i} of 3)" for i in (1, 2)]
    assert [line.partition(": ")[0] for line in said[2:]] == ["1 of 2 done", "2 of 2 done"]
    assert [job.name for job in pool.jobs] == ["seed=0", "seed=0", "seed=0", "seed=1"]
    assert ["--resume" in job.arguments for job in pool.jobs] == [False, True, True, False]
    assert [(row["state"], row["resubmitted"]) for row in rows] == [("done", "2"), ("done", "0")]


def test_not_without_end(tmp_path: Path) -> None:
    said, pool, rows = swept(tmp_path, {"seed=0": 100})
    assert said[3] == "1 of 2 done: seed=0: failed: its node died, after 3 others"
    assert len(pool.jobs) == 5
    assert [(row["state"], row["resubmitted"]) for row in rows] == [("failed", "3"), ("done", "0")]


def test_not_once_the_sweep_is_stopped(tmp_path: Path) -> None:
    said, pool, rows = swept(tmp_path, {"seed=0": 1}, stopped=True)
    assert [row["state"] for row in rows] == ["stopped", "waiting"]
    assert len(pool.jobs) == 1
    assert not any("resubmitted" in line for line in said)


class Died(Exception):
    pass


def test_only_a_death_has_no_exit_code(tmp_path: Path) -> None:
    errors = {"dead": Died(), "bad": RuntimeError("its own fault")}

    def get(name: str) -> int:
        raise errors[name]

    exceptions = SimpleNamespace(TaskCancelledError=KeyError, NodeDiedError=Died)
    pool = RayPool(SimpleNamespace(exceptions=exceptions, get=get))
    assert pool._code("dead", Job("dead", (), 1, tmp_path / "dead")) is None
    assert pool._code("bad", Job("bad", (), 1, tmp_path / "bad")) == 1


def searched(folder: Path, data: str, *options: str) -> tuple[list[str], list[Any]]:
    """Sweep over one seed in a folder; return what was printed and what was decided."""
    with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as short:
        environment = {k: v for k, v in os.environ.items() if k not in ("RAY_ADDRESS", "RANK")}
        environment |= {"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]), "RAY_TMPDIR": short}
        command = [sys.executable, "-m", "bayesnas_graph", "search", "tiny.nas", "--data", data, "--seeds", "1", *QUICK]
        result = subprocess.run(
            [*command, "--allow-python", "-o", data.replace(":", "-"), *options],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    assert result.returncode == 0, result.stdout
    run = folder / data.replace(":", "-") / "seed=0"
    decision = json.loads((run / "decision.json").read_text())
    return result.stdout.splitlines(), [(one["name"], one["keep"], one["w"]) for one in decision["verdicts"]]


@pytest.mark.long
@pytest.mark.filterwarnings("default")
def test_a_killed_worker_changes_nothing(tmp_path: Path) -> None:
    """The search goes on from its checkpoint, decides the same, and Ray prints nothing about it."""
    pytest.importorskip("ray")
    (tmp_path / "tiny.nas").write_text(SPACE)
    (tmp_path / "images.py").write_text(DATA)
    said, decided = searched(tmp_path, "images:deadly", "--ray")
    assert (tmp_path / "killed").exists()
    assert said[:2] == [
        "sweep images-deadly: 1 of 1 runs to do",
        "seed=0: resubmitted after its node died (1 of 3)",
    ]
    assert said[2].startswith("1 of 1 done: seed=0: ")
    assert said[3] == "", "and then the table"
    assert not any("ray" in line for line in said)
    log = (tmp_path / "images-deadly" / "seed=0.log").read_text()
    assert log.count("$ bayesnas-graph search") == 2
    assert "$ bayesnas-graph search --resume" in log
    assert decided == searched(tmp_path, "images:plain")[1]
