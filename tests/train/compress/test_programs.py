"""Compression as a process: killed, interrupted, disk full, and distributed."""

from __future__ import annotations

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

from bayesnas_graph.diagnostics.reading import read_json
from tests.search.launcher import Launcher
from tests.search.runs import table

BEGIN = ("compress", "small.nas", "--config", "short.toml", "--allow-python")
STAGES = ("dense", "loop-01", "loop-02", "fine", "rival")


def is_row(line: str) -> bool:
    return line.startswith("epoch ") and "loss" in line


@pytest.fixture(scope="session")
def whole(programs: Launcher) -> Path:
    """An uninterrupted run."""
    code, printed = programs.run(*BEGIN, "-o", "whole")
    assert code == 0, printed
    return programs.folder / "whole"


def numbers(run: Path) -> dict[str, Any]:
    """The results without timings, and without the checksum, which depends on them."""
    found: dict[str, Any] = read_json(run / "result.json")
    for part in ("whole", "left", "rival"):
        del found[part]["latency"]
    return found


def assert_same_run(one: Path, other: Path) -> None:
    files = ["network.nas", "model.py", "weights.safetensors", "layers.json"]
    for name in (*files, *(f"stages/{stage}.safetensors" for stage in STAGES)):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name
    assert numbers(one) == numbers(other)
    for name in ("metrics", "loops", "rival"):
        assert table(one, f"{name}.csv")
        assert table(one, f"{name}.csv") == table(other, f"{name}.csv")
    assert not list(other.rglob("*.part"))


def test_something_goes_in_every_loop(whole: Path) -> None:
    """Otherwise the following tests would be empty."""
    first, second = (int(row["operations"]) for row in table(whole, "loops.csv"))
    assert numbers(whole)["whole"]["operations"] > first > second


# What is printed where a stage begins, for that of the second loop where the first one ends.
BEGINNINGS = (
    "train: the whole network",
    "prune: ",
    "loop 1 ",
    "train: the smaller network",
    "train: a network of the same size",
)


def test_killed_in_every_stage(programs: Launcher, whole: Path) -> None:
    """At any time after a row: before its checkpoint, while it is written, or in the following steps."""
    random, run = Random(0), programs.folder / "killed"
    program = programs.start(*BEGIN, "-o", "killed")
    for stage, beginning in zip(STAGES, BEGINNINGS, strict=True):
        assert program.until(lambda line, beginning=beginning: line.startswith(beginning))  # type: ignore[misc]
        assert program.until(is_row)
        time.sleep(random.uniform(0, 0.03))
        program.signal(signal.SIGKILL)
        code, printed = program.ended()
        assert code == -signal.SIGKILL, printed
        assert not (run / "stages" / f"{stage}.safetensors").exists()
        program = programs.start("compress", "--resume", "killed", "--allow-python")
    code, printed = program.ended()
    assert code == 0, printed
    assert_same_run(whole, run)


def test_killed_where_a_stage_ends(programs: Launcher, whole: Path) -> None:
    """Files are written one after another, and the program may die between any two."""
    run = shutil.copytree(whole, programs.folder / "cut_off")
    for stage in STAGES[1:]:
        (run / "stages" / f"{stage}.safetensors").unlink()
    for stage in ("loops-02", "fine", "rival"):
        shutil.rmtree(run / "checkpoints" / stage)
    for name in ("network.nas", "model.py", "weights.safetensors", "layers.json", "result.json"):
        (run / name).unlink()
    code, printed = programs.run("compress", "--resume", "cut_off", "--allow-python")
    assert code == 0, printed
    assert_same_run(whole, run)


def test_interrupted_and_resumed(programs: Launcher, whole: Path) -> None:
    program = programs.start(*BEGIN, "-o", "it's a run")
    for rows in (3, 4):  # in the first loop, and in what is left
        for _ in range(rows):
            assert program.until(is_row)
        program.signal(signal.SIGINT)
        code, printed = program.ended()
        assert code == 130, printed
        assert "stopped after step" in printed
        command = shlex.split(printed.splitlines()[-1])
        assert command == ["bayesnas-graph", "compress", "--resume", "it's a run", "--allow-python"]
        program = programs.start(*command[1:])
    code, printed = program.ended()
    assert code == 0, printed
    assert_same_run(whole, programs.folder / "it's a run")


def test_full_disk(programs: Launcher, whole: Path) -> None:
    size = (whole / "stages" / "dense.safetensors").stat().st_size
    code, printed = programs.run(*BEGIN, "-o", "full", largest_file=size // 2)
    assert code == 1
    assert "error[NAS012]: cannot write `full/checkpoints/dense/step-000000000.pt`: file too large\n" in printed
    assert programs.run("compress", "--resume", "full", "--allow-python")[0] == 0
    assert_same_run(whole, programs.folder / "full")


def test_no_room_for_the_results(programs: Launcher, whole: Path) -> None:
    run = shutil.copytree(whole, programs.folder / "results")
    for name in ("weights.safetensors", "layers.json", "result.json"):
        (run / name).unlink()
    size = (whole / "weights.safetensors").stat().st_size
    code, printed = programs.run("compress", "--resume", "results", "--allow-python", largest_file=size - 1)
    assert code == 1
    assert "error[NAS012]: cannot write `results/weights.safetensors`: file too large\n" in printed
    assert not (run / "result.json").exists()
    assert programs.run("compress", "--resume", "results", "--allow-python")[0] == 0
    assert_same_run(whole, run)


def test_one_process_at_a_time(programs: Launcher) -> None:
    first = programs.start(*BEGIN, "-o", "busy", "--epochs", 100_000)
    assert first.until(is_row)
    code, printed = programs.run("compress", "--resume", "busy", "--allow-python")
    assert code == 1
    assert "error[NAS602]: another process is using `busy`" in printed
    code, printed = programs.run("status", "busy")
    assert code == 0
    assert "state          running" in printed
    first.signal(signal.SIGTERM)
    assert first.ended()[0] == 130


def test_two_are_as_one(programs: Launcher, whole: Path) -> None:
    """They agree up to rounding, and remove the same groups."""
    runs = programs.start_together(*BEGIN, "-o", "together")
    (first, printed), (second, silent) = (run.ended() for run in runs)
    assert (first, second) == (0, 0), printed + silent
    assert silent == "", "one of them speaks"
    assert "Traceback" not in printed
    one, other = numbers(whole), numbers(programs.folder / "together")
    assert one["loops"] == other["loops"]
    for mine, theirs in zip(table(whole, "loops.csv"), table(programs.folder / "together", "loops.csv"), strict=True):
        assert float(mine["loss"]) == pytest.approx(float(theirs["loss"]), rel=0.02)
        assert int(mine["operations"]) == pytest.approx(int(theirs["operations"]), rel=0.1)
    first_row, second_row = (table(run, "metrics.csv")[0] for run in (whole, programs.folder / "together"))
    assert float(first_row["loss"]) == pytest.approx(float(second_row["loss"]), rel=1e-4)
    weights, others = (load_file(run / "stages" / "dense.safetensors") for run in (whole, programs.folder / "together"))
    for name, value in weights.items():
        torch.testing.assert_close(value, others[name], rtol=1e-2, atol=1e-3)


def test_two_processes_are_interrupted_and_one_resumes(programs: Launcher) -> None:
    runs = programs.start_together(*BEGIN, "-o", "handed_on", "-s", "loop_epochs=50")
    for _ in range(3):
        assert runs[0].until(is_row)
    for run in runs:  # as a terminal does
        run.signal(signal.SIGINT)
    (first, printed), (second, silent) = (run.ended() for run in runs)
    assert (first, second) == (130, 130), printed + silent
    assert printed.count("stopped after step") == 1
    assert silent == ""
    alone = programs.start("compress", "--resume", "handed_on", "--allow-python")
    assert alone.until(is_row), "a state does not tell how many processes it comes from"
    alone.signal(signal.SIGINT)
    assert alone.ended()[0] == 130


def test_too_few_samples_for_two(programs: Launcher) -> None:
    """Each process needs a held-out sample to measure on."""
    runs = programs.start_together(*BEGIN, "-o", "few", "-s", "held_out=0.005")
    (first, printed), (second, silent) = (run.ended() for run in runs)
    assert (first, second) == (1, 1), printed + silent
    assert "error[NAS601]: only 1 of 200 samples are held out" in printed + silent
    assert "Traceback" not in printed + silent
