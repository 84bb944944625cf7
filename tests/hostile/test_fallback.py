"""A run whose newest files are damaged goes back to the last good ones, says so, and comes to the same result."""

from __future__ import annotations

import random
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from bayesnas_graph.runs.processes import Processes
from bayesnas_graph.search.checkpoint import SearchCheckpoints
from tests.cli.conftest import Run, run
from tests.hostile.small_runs import KINDS, compared, resumed
from tests.hostile.test_integrity import flipped
from tests.search.launcher import Launcher
from tests.search.runs import assert_same_run
from tests.search.spaces import device, problem, searched

__all__ = ["run"]

T = TypeVar("T")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def damage(path: Path, seed: int = 0) -> None:
    path.write_bytes(flipped(path.read_bytes(), random.Random(seed))[0])


def newest(folder: Path) -> list[Path]:
    """The checkpoints of the stage that a run is in, the newest first."""
    inside = folder / "checkpoints"
    return sorted((inside / "fine" if (inside / "fine").is_dir() else inside).glob("*.pt"), reverse=True)


@pytest.mark.parametrize("finished", [False, True])
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_the_last_good_checkpoint(
    run: Run, here: Path, small_runs: Path, kind: str, count: int, finished: bool
) -> None:
    folder = here / "run"
    shutil.copytree(small_runs / (kind if finished else f"{kind}-cut"), folder)
    (folder / "stages" / "fine.safetensors").unlink(missing_ok=True)
    if not finished and count == 2:
        shutil.copy(newest(small_runs / kind)[0], newest(folder)[0].parent)
    found = newest(folder)
    for path in found[:count]:
        damage(path)
    bad, good = [path.relative_to(here) for path in found[:count]], found[count]
    result = run(kind, "--resume", "run")
    assert result.code == 0, result.err
    notes = [line for line in result.out.splitlines() if line.startswith("note ")]
    assert notes == [
        f"note   cannot read `{path}`: it has changed since it was written; it is now `{path.name}.damaged`, "
        f"and the run continues from step {int(good.stem[5:])}"
        for path in bad
    ]
    assert compared(resumed(folder)) == compared(resumed(small_runs / kind))
    assert run("status", "run").err == ""


def test_no_good_checkpoint(run: Run, here: Path, small_runs: Path) -> None:
    shutil.copytree(small_runs / "train-cut", here / "run")
    for path in newest(here / "run"):
        damage(path)
    before = sorted(here.rglob("*"))
    result = run("train", "--resume", "run")
    assert (result.code, result.err) == (
        1,
        "error[NAS603]: cannot read `run/checkpoints/step-000000076.pt`: it has changed since it was written\n"
        " = help: no checkpoint is left to resume from: restore one, or start another run\n\n",
    )
    assert sorted(here.rglob("*")) == before


@pytest.mark.parametrize("stage", ["dense", "loop-01", "loop-02", "fine"])
@pytest.mark.parametrize("checkpoints_too", [False, True])
def test_the_file_of_a_stage(run: Run, here: Path, small_runs: Path, stage: str, checkpoints_too: bool) -> None:
    shutil.copytree(small_runs / "compress", here / "run")
    damage(here / "run" / "stages" / f"{stage}.safetensors", seed=5)
    if checkpoints_too:
        damage(sorted((here / "run" / "checkpoints" / stage.replace("loop-", "loops-")).iterdir())[-1])
    result = run("compress", "--resume", "run")
    assert result.code == 0, result.err
    assert f"note   cannot use `run/stages/{stage}.safetensors`: it has changed since it was written; " in result.out
    assert compared(resumed(here / "run")) == compared(resumed(small_runs / "compress"))


def test_weights_are_never_those_of_an_older_checkpoint(run: Run, here: Path, small_runs: Path) -> None:
    shutil.copytree(small_runs / "search", here / "run")
    words = "export", "run", "-o", "m.py", "--weights", "w.safetensors"
    last = newest(here / "run")[0]
    damage(last)
    refused = run(*words)
    assert refused.code == 1
    assert "error[NAS603]: cannot read `run/checkpoints/step-000000020.pt`: it has changed since" in refused.err
    assert "help: write it again with `bayesnas-graph search --resume run`" in refused.err
    last.unlink()
    refused = run(*words)
    assert refused.code == 1
    assert "error[NAS603]: the last checkpoint in `run/checkpoints` is missing" in refused.err
    assert run("search", "--resume", "run").code == 0
    assert run(*words).code == 0


# -------------------------------------------------------------------------------- several processes


def test_two_processes(tmp_path: Path, forking_process: subprocess.Popen[str], small_runs: Path) -> None:
    programs = Launcher(forking_process, tmp_path)
    shutil.copy(small_runs / "space.nas", tmp_path)
    settings = ("--data", "shapes", "--batch", "100", "--steps", "6", "--iterations", "1", "-s", "warmup=2")
    together = programs.start_together("search", "space.nas", "-o", "whole", *settings, "-s", "checkpoint_steps=2")
    assert [one.ended()[0] for one in together] == [0, 0]
    shutil.copytree(tmp_path / "whole", tmp_path / "damaged")
    last, before = newest(tmp_path / "damaged")[:2]
    damage(last)
    ended = [one.ended() for one in programs.start_together("search", "--resume", "damaged")]
    assert [code for code, _ in ended] == [0, 0], ended
    assert f"the run continues from step {int(before.stem[5:])}" in ended[0][1]
    assert_same_run(tmp_path / "whole", tmp_path / "damaged")


@dataclass(frozen=True)
class OneOfTwo(Processes):
    """A process whose partner cannot read the first checkpoint that is tried."""

    tried: tuple[list[Any], ...] = ([],)

    def gather(self, value: T) -> list[T]:
        self.tried[0].append(value)
        return [value, "not a directory" if len(self.tried[0]) == 1 else value]  # type: ignore[list-item]


def test_all_go_back_if_one_cannot_read_it(tmp_path: Path) -> None:
    searched(tmp_path)
    told: list[str] = []
    given = problem()
    one = replace(device(given.config), processes=OneOfTwo())
    _, progress = SearchCheckpoints(tmp_path).last(given, one, tell=told.append) or pytest.fail("there is one")
    assert progress.step == 32
    assert told == [
        f"cannot read `{tmp_path}/step-000000036.pt`: not a directory; it is now `step-000000036.pt.damaged`, "
        "and the run continues from step 32"
    ]
