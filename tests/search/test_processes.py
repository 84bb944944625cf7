"""Several processes, and accumulated batches, give the same result as one process."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.runs.processes import Processes, join_processes
from bayesnas_graph.runs.searched import read_decision
from bayesnas_graph.runs.subject import Subject
from bayesnas_graph.search.run import build_problem
from tests.conftest import ROOT
from tests.helpers import network
from tests.search.launcher import Launcher, Run
from tests.search.runs import assert_same_run, checkpoints, is_row, table
from tests.search.spaces import PLAIN, TINY, Notes, config, searched

# No random labels: each process would draw others.
BEGIN = ("search", "tiny.nas", "--config", "short.toml", "--allow-python", "--curvature", "ggn", "-s", "accumulate=2")


def ended(runs: list[Run]) -> tuple[str, str]:
    """The output of the first process, and of all others."""
    codes, (printed, *others) = zip(*(run.ended() for run in runs), strict=True)
    assert codes == (0,) * len(runs), printed + "".join(others)
    return printed, "".join(others)


@pytest.fixture(scope="session")
def alone(programs: Launcher) -> Path:
    assert programs.run(*BEGIN, "-o", "alone")[0] == 0
    return programs.folder / "alone"


@pytest.fixture(scope="session")
def together(programs: Launcher) -> Path:
    printed, silent = ended(programs.start_together(*BEGIN, "-o", "together"))
    assert "2 processes" in printed
    assert silent == "", "one of them speaks"
    return programs.folder / "together"


def assert_close_run(one: Path, other: Path) -> None:
    """The same decisions, and numbers that differ by rounding."""
    decisions = [read_decision(RunPaths(run)) for run in (one, other)]
    for mine, theirs in zip(*(decision.verdicts for decision in decisions), strict=True):
        assert (mine.name, mine.keep, mine.why) == (theirs.name, theirs.keep, theirs.why)
        assert mine.w == pytest.approx(theirs.w, rel=1e-4, abs=1e-6)
        assert mine.gamma == pytest.approx(theirs.gamma, rel=1e-4, abs=1e-6)
        assert mine.worth == pytest.approx(theirs.worth, rel=1e-3, abs=1e-4)
        assert mine.error == pytest.approx(theirs.error, rel=1e-3, abs=1e-4)
    assert_close(*(checkpoints(run / "checkpoints") for run in (one, other)))
    for first, second in zip(*(table(run, "metrics.csv") for run in (one, other)), strict=True):
        assert float(first["loss"]) == pytest.approx(float(second["loss"]), rel=1e-4)
        assert first["alive"] == second["alive"]


def assert_close(one: Any, other: Any) -> None:
    if isinstance(one, Tensor):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-5)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        for key in one.keys() - {"progress", "samples"}:
            assert_close(one[key], other[key])


def test_two_are_as_one(alone: Path, together: Path) -> None:
    assert_close_run(alone, together)
    closed = [row for row in table(together, "switches.csv") if row["keep"] == "0"]
    assert closed, "there is something to agree on"
    assert all(float(row["error"]) > 0 for row in table(together, "switches.csv"))


@pytest.mark.long
def test_four_are_as_one(programs: Launcher) -> None:
    begin = (*BEGIN, "--batch", 16)
    assert programs.run(*begin, "-o", "one_of_four")[0] == 0
    printed, silent = ended(programs.start_together(*begin, "-o", "four", processes=4))
    assert "4 processes" in printed
    assert silent == "", "one of them speaks"
    assert_close_run(programs.folder / "one_of_four", programs.folder / "four")


@pytest.mark.parametrize("strategy", ["bayes", "bayesnas"])
def test_gates_on_samples_of_their_own(strategy: str, programs: Launcher) -> None:
    begin = (*BEGIN, "-s", "gates_on=held_out", "-s", "ranking=removal", "--iterations", 1, "--target-params", 300)
    names = [f"held_out_{way}_{strategy}" for way in ("alone", "together")]
    assert programs.run(*begin, "--strategy", strategy, "-o", names[0])[0] == 0
    ended(programs.start_together(*begin, "--strategy", strategy, "-o", names[1]))
    assert_close_run(*(programs.folder / name for name in names))


@pytest.mark.long
def test_augmentation_of_two_processes(programs: Launcher) -> None:
    """Both see their rows of the batches that one process sees, also where rows are mixed with those of the other."""
    settings = ("mixup=0.4", "cutmix=1", "rand_augment=2", "resized_crop=0.5", "jitter=0.2")
    begin = (*BEGIN, "--iterations", 1, *(word for setting in settings for word in ("-s", setting)))
    assert programs.run(*begin, "-o", "augmented_alone")[0] == 0
    ended(programs.start_together(*begin, "-o", "augmented_together"))
    assert_close_run(*(programs.folder / f"augmented_{way}" for way in ("alone", "together")))


def test_finalists_of_two_processes(programs: Launcher) -> None:
    """Both propose the same finalists and select the same one, also if one process takes over in the middle."""
    begin = (*BEGIN, "--iterations", 1, "--finalists", 3, "-s", "finalist_steps=6")
    assert programs.run(*begin, "-o", "finalists_alone")[0] == 0
    ended(programs.start_together(*begin, "-o", "finalists_together"))
    runs = programs.start_together(*begin, "-o", "finalists_handed_on")
    assert runs[0].until(lambda line: line.startswith("finalist 1/3"))
    for run in runs:
        run.signal(signal.SIGINT)
        run.ended()
    assert programs.run("search", "--resume", "finalists_handed_on", "--allow-python")[0] == 0
    one, *others = (programs.folder / f"finalists_{name}" for name in ("alone", "together", "handed_on"))
    for other in others:
        assert_close_run(one, other)
        for mine, theirs in zip(*(table(run, "finalists.csv") for run in (one, other)), strict=True):
            assert mine["off"] == theirs["off"]
            assert float(mine["loss"]) == pytest.approx(float(theirs["loss"]), rel=1e-3)


def test_interrupted_and_resumed_by_two_processes(programs: Launcher, together: Path) -> None:
    runs = programs.start_together(*BEGIN, "-o", "stopped")
    for _ in range(4):
        assert runs[0].until(is_row)
    for run in runs:  # as a terminal does
        run.signal(signal.SIGINT)
    (first, printed), (second, silent) = (run.ended() for run in runs)
    assert (first, second) == (130, 130)
    assert printed.count("stopped after step") == 1
    assert silent == ""
    ended(programs.start_together("search", "--resume", "stopped", "--allow-python"))
    assert_same_run(together, programs.folder / "stopped")


def test_started_by_two_and_resumed_by_one_process(programs: Launcher, alone: Path) -> None:
    runs = programs.start_together(*BEGIN, "-o", "handed_on")
    for _ in range(4):
        assert runs[0].until(is_row)
    for run in runs:
        run.signal(signal.SIGKILL)
    for run in runs:
        run.ended()
    assert programs.run("search", "--resume", "handed_on", "--allow-python")[0] == 0
    assert_close_run(alone, programs.folder / "handed_on")


def test_torchrun(programs: Launcher, together: Path) -> None:
    """Ctrl-C reaches all processes of a terminal, and `torchrun` also forwards it to its processes."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    printed = []
    with subprocess.Popen(
        [*command, "-m", "bayesnas_graph", *BEGIN, "-o", "torchrun", "--steps", "1000"],
        cwd=programs.folder,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as program:
        assert program.stdout is not None
        for line in program.stdout:
            printed.append(line)
            if is_row(line) and sum(map(is_row, printed)) == 3:
                os.killpg(program.pid, signal.SIGINT)
    assert "".join(printed).count("stopped after step") == 1
    steps = [int(row["step"]) for row in table(programs.folder / "torchrun", "metrics.csv")]
    last = max(checkpoints(programs.folder / "torchrun" / "checkpoints"))
    assert last == f"step-{steps[-1]:09}.pt"
    whole = table(together, "metrics.csv")
    for mine, theirs in zip(table(programs.folder / "torchrun", "metrics.csv")[:2], whole, strict=False):
        assert float(mine["loss"]) == pytest.approx(float(theirs["loss"]), rel=1e-4)


def test_a_batch_that_cannot_be_shared_out() -> None:
    given = Subject("tiny", "tiny", network(TINY), ())
    for settings, world, said in (
        ({"batch": 9}, 2, "a batch of 9 cannot be divided among 2 processes"),
        ({"batch": 10, "accumulate": 5}, 4, "a batch of 10 cannot be divided among 4 processes in 5 parts each"),
        ({"held_out": 0.01, "batch": 3}, 3, "only 2 of 200 samples are held out"),
        ({"held_out": 0.001}, 1, "only 0 of 200 samples are held out"),
    ):
        with pytest.raises(NasError) as error:
            build_problem(given, config(**settings), Path(), Processes(0, world))
        assert [(d.code, d.message) for d in error.value.diagnostics] == [("NAS601", said)]


def test_norms_need_company() -> None:
    body = "in x x -> out : flatten > linear(6) > bn > choose { relu, tanh } > linear(10)"
    given = Subject("norms", "norms", network(f"network net : image(1, 8, 8) -> classes(10) {{ {body} }}"), ())
    for settings in ({"batch": 1}, {"batch": 4, "accumulate": 4}):
        with pytest.raises(NasError, match="normalises over samples, but each part of a batch has only one"):
            build_problem(given, config(**settings), Path(), Processes())
    build_problem(given, config(batch=4, accumulate=2), Path(), Processes())
    build_problem(Subject("tiny", "tiny", network(TINY), ()), config(batch=1), Path(), Processes())


def test_processes_that_do_not_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.delenv("MASTER_ADDR", raising=False)
    with pytest.raises(NasError) as error, join_processes(torch.device("cpu")):
        pass
    assert error.value.diagnostics[0].code == "NAS609"
    monkeypatch.setenv("WORLD_SIZE", "1")
    with join_processes(torch.device("cpu")) as found:
        assert found == Processes()


def test_a_batch_in_parts(tmp_path: Path) -> None:
    notes = [Notes(), Notes()]
    outcomes = [
        searched(tmp_path / str(parts), PLAIN, watcher, curvature="ggn", accumulate=parts)
        for parts, watcher in zip((1, 4), notes, strict=True)
    ]
    assert outcomes[0].decision.off == outcomes[1].decision.off
    for one, other in zip(notes[0].rows, notes[1].rows, strict=True):
        assert one.loss == pytest.approx(other.loss, rel=1e-4)
        assert one.accuracy == pytest.approx(other.accuracy)


@pytest.mark.long
def test_the_script_for_slurm(programs: Launcher, tmp_path: Path) -> None:
    """One node with two processes; `srun` and `scontrol` are imitated."""
    scripts = {
        "srun": 'exec "$@"',
        "scontrol": "echo localhost",
        "torchrun": f'exec {shlex.quote(sys.executable)} -m torch.distributed.run "$@"',
    }
    for name, line in scripts.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / name).chmod(0o755)
    job = {"SLURM_JOB_ID": "12345", "SLURM_JOB_NODELIST": "node", "SLURM_NNODES": "1", "SLURM_GPUS_ON_NODE": "2"}
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    begin = ["bash", str(ROOT / "docs" / "slurm.sbatch"), *BEGIN, "--iterations", "1", "-o", "slurm"]
    environment = os.environ | job | {"PATH": path, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(begin, cwd=programs.folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "2 processes" in done.stdout
    assert read_decision(RunPaths(programs.folder / "slurm")).verdicts
