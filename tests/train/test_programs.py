"""Training as a process: killed, interrupted, disk full, and distributed."""

from __future__ import annotations

import json
import shlex
import shutil
import signal
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from tests.search.launcher import Launcher
from tests.search.runs import assert_same, checkpoints, table

BEGIN = ("train", "fixed.nas", "--config", "short.toml", "--allow-python")
KILLS = 4


def is_row(line: str) -> bool:
    return line.startswith("epoch ") and "loss" in line


@pytest.fixture(scope="session")
def whole(programs: Launcher) -> Path:
    """An uninterrupted run."""
    code, printed = programs.run(*BEGIN, "-o", "whole")
    assert code == 0, printed
    return programs.folder / "whole"


def assert_same_run(one: Path, other: Path) -> None:
    for name in ("result.json", "model.py", "weights.safetensors"):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name
    assert table(one, "metrics.csv") == table(other, "metrics.csv")
    saved = [checkpoints(run / "checkpoints") for run in (one, other)]
    for run in saved:
        for content in run.values():
            del content["progress"]["first_loss"]  # the mean over the steps until the first stop
    last = max(saved[0])
    assert_same(saved[0][last], saved[1][last])
    assert not list(other.rglob("*.part"))


def test_what_is_left(whole: Path) -> None:
    files = sorted(str(path.relative_to(whole)) for path in whole.rglob("*") if path.is_file())
    assert [name for name in files if not name.startswith("checkpoints")] == [
        *("checksums.json", "lock", "metrics.csv", "model.py", "result.json", "run.json", "space/fixed.nas"),
        "weights.safetensors",
    ]
    result = json.loads((whole / "result.json").read_text())
    assert result["epochs"] == 3
    assert result["parameters"] == 1958
    weights = load_file(whole / "weights.safetensors")
    scope: dict[str, Any] = {"__name__": "model"}
    text = (whole / "model.py").read_text()
    exec(compile(text, "model.py", "exec"), scope)
    scope["Net"]().load_state_dict(weights)
    assert "bayesnas_graph" not in text
    fingerprint = json.loads((whole / "run.json").read_text())["fingerprint"]
    about = f"Network `net(width = 4)`, without choices.\n\nFingerprint of the space: {fingerprint[:16]}.\n"
    assert text.startswith(f'"""{about}"""')


def test_killed_again_and_again(programs: Launcher, whole: Path) -> None:
    """At any time after a row: before its checkpoint, while it is written, or in the following steps."""
    random, kills = Random(0), 0
    program = programs.start(*BEGIN, "-o", "killed")
    while kills < KILLS and program.until(is_row):
        time.sleep(random.uniform(0, 0.05))  # about as long as some steps take, with all that is written after them
        program.signal(signal.SIGKILL)
        code, printed = program.ended()
        assert code in (0, -signal.SIGKILL), printed
        kills += code != 0
        program = programs.start("train", "--resume", "killed", "--allow-python")
    assert program.ended()[0] == 0
    assert kills
    assert_same_run(whole, programs.folder / "killed")


def test_interrupted_and_resumed(programs: Launcher, whole: Path) -> None:
    program = programs.start(*BEGIN, "-o", "it's a run")
    assert program.until(is_row)
    program.signal(signal.SIGINT)
    code, printed = program.ended()
    assert code == 130
    assert "stopped after step" in printed
    command = shlex.split(printed.splitlines()[-1])
    assert command == ["bayesnas-graph", "train", "--resume", "it's a run", "--allow-python"]
    code, printed = programs.run(*command[1:])
    assert code == 0
    assert "resumes        after step" in printed
    assert_same_run(whole, programs.folder / "it's a run")


def test_full_disk(programs: Launcher, whole: Path) -> None:
    size = max(path.stat().st_size for path in (whole / "checkpoints").iterdir())
    code, printed = programs.run(*BEGIN, "-o", "full", largest_file=size // 2)
    assert code == 1
    assert "error[NAS012]: cannot write `full/checkpoints/step-000000000.pt`: file too large\n" in printed
    assert programs.run("train", "--resume", "full", "--allow-python")[0] == 0
    assert_same_run(whole, programs.folder / "full")


def test_no_room_for_the_results(programs: Launcher, whole: Path) -> None:
    """The result is written last: without it, a training run is unfinished and can be resumed."""
    run = shutil.copytree(whole, programs.folder / "results")
    for name in ("model.py", "weights.safetensors", "result.json"):
        (run / name).unlink()
    size = (whole / "weights.safetensors").stat().st_size
    code, printed = programs.run("train", "--resume", "results", "--allow-python", largest_file=size // 2)
    assert code == 1
    assert "error[NAS012]: cannot write `results/weights.safetensors`: file too large\n" in printed
    assert not (run / "result.json").exists()
    assert programs.run("train", "--resume", "results", "--allow-python")[0] == 0
    assert_same_run(whole, run)


def test_one_process_at_a_time(programs: Launcher) -> None:
    first = programs.start(*BEGIN, "-o", "busy", "--epochs", 100_000)
    assert first.until(is_row)
    code, printed = programs.run("train", "--resume", "busy", "--allow-python")
    assert code == 1
    assert "error[NAS602]: another process is using `busy`" in printed
    code, printed = programs.run("status", "busy")
    assert code == 0
    assert "state          running" in printed
    assert " of 100000, " in printed
    first.signal(signal.SIGTERM)
    assert first.ended()[0] == 130


def test_two_are_as_one(programs: Launcher) -> None:
    """Drop-path is off, because each process would drop different paths."""
    begin = (*BEGIN, "--drop-path", 0, "--epochs", 2, "-s", "accumulate=2")
    assert programs.run(*begin, "-o", "alone")[0] == 0
    runs = programs.start_together(*begin, "-o", "together")
    (first, printed), (second, silent) = (run.ended() for run in runs)
    assert (first, second) == (0, 0), printed + silent
    assert "2 processes" in printed
    assert silent == "", "one of them speaks"
    one, other = (programs.folder / name for name in ("alone", "together"))
    for mine, theirs in zip(table(one, "metrics.csv"), table(other, "metrics.csv"), strict=True):
        for name in ("loss", "test_loss"):
            assert float(mine[name]) == pytest.approx(float(theirs[name]), rel=1e-4)
        for name in ("epoch", "step", "rate", "accuracy", "test_accuracy"):
            assert mine[name] == theirs[name]
    weights, others = (load_file(run / "weights.safetensors") for run in (one, other))
    assert weights.keys() == others.keys()
    for name, value in weights.items():
        torch.testing.assert_close(value, others[name], rtol=1e-3, atol=1e-4)


def test_two_processes_are_interrupted_and_one_resumes(programs: Launcher) -> None:
    runs = programs.start_together(*BEGIN, "-o", "handed_on", "--epochs", "50")
    assert runs[0].until(is_row)
    for run in runs:  # as a terminal does
        run.signal(signal.SIGINT)
    (first, printed), (second, silent) = (run.ended() for run in runs)
    assert (first, second) == (130, 130), printed + silent
    assert printed.count("stopped after step") == 1
    assert silent == ""
    alone = programs.start("train", "--resume", "handed_on", "--allow-python")
    assert alone.until(is_row), "a state does not tell how many processes it comes from"
    alone.signal(signal.SIGINT)
    assert alone.ended()[0] == 130
