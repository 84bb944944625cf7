"""The soak test notices every difference, and kills everything it should."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
import torch

from benchmarks import soak


def run_in(folder: Path, *, loss: str = "1.5", seconds: str = "2.0", latency: float = 1.0, weight: float = 0.5) -> Path:
    (folder / "checkpoints").mkdir(parents=True)
    (folder / "metrics.csv").write_text(f"step,loss,seconds\n1,{loss},{seconds}\n")
    (folder / "result.json").write_text(json.dumps({"left": {"accuracy": 0.9, "latency": latency}}))
    (folder / "run.json").write_text(f'{{"begun": {time.time_ns()}}}')
    torch.save({"weights": {"w": torch.tensor([weight])}}, folder / "checkpoints" / "step-1.pt")
    return folder


def test_timings_may_differ(tmp_path: Path) -> None:
    one = run_in(tmp_path / "one")
    assert soak.differences(one, run_in(tmp_path / "other", seconds="3.0", latency=2.0)) == []


def test_anything_else_may_not(tmp_path: Path) -> None:
    one = run_in(tmp_path / "one")
    other = run_in(tmp_path / "other", loss="1.6", weight=0.5 + 1e-7)
    (other / "left.part").write_text("")
    assert soak.differences(one, other) == ["checkpoints/step-1.pt", "left.part", "metrics.csv"]


PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"], start_new_session=True)
print(child.pid, flush=True)
child.wait()
"""


@pytest.mark.parametrize("seed", range(6))
def test_all_processes_end(seed: int) -> None:
    """Whichever way is drawn."""
    process = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE)
    assert process.stdout is not None
    child = int(process.stdout.readline())
    assert soak.family(process.pid) == [process.pid, child]
    soak.strike(process, Random(seed))
    process.stdout.close()
    assert not soak.running(child)
    assert process.returncode is not None
