"""Run folders that are not there, or vanish while they are used."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bayesnas_graph import api
from bayesnas_graph.api import networks
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.report import builder
from bayesnas_graph.runs import opening
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runs.manifest import read_manifest
from bayesnas_graph.runs.reading import run as reading
from bayesnas_graph.runs.sweep.folder import SweepFolder
from bayesnas_graph.runs.sweep.schedule import Sweep
from bayesnas_graph.search.events import SearchWatcher, StepRow
from bayesnas_graph.train.events import TrainWatcher
from tests.cli.conftest import Run, run
from tests.hostile.outputs import SHORT, folder, searched
from tests.runs.sweep.sweeps import asked

__all__ = ["folder", "run", "searched"]

TRAINED: dict[str, Any] = {"data": "shapes", "epochs": 2, "cutout": 0, "batch": 8}
GONE = "error[NAS602]: the run folder `run` is gone\n = help: it was moved or removed in the meantime"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("status", "runs/x"), "error[NAS602]: `runs/x` does not exist\n"),
        (("report", "runs/x"), "error[NAS602]: `runs/x` does not exist\n"),
        (("derive", "runs/x"), "error[NAS602]: `runs/x` does not exist\n"),
        (("search", "--resume", "runs/x"), "error[NAS602]: `runs/x` does not exist\n"),
        (("train", "--resume", "runs/x"), "error[NAS602]: `runs/x` does not exist\n"),
        (("eval", "runs/x"), "error[NAS011]: cannot read `runs/x`: file not found\n"),
        (("draw", "runs/x"), "error[NAS011]: cannot read `runs/x`: file not found\n"),
        (("export", "runs/x"), "error[NAS011]: cannot read `runs/x`: file not found\n"),
        (("status", "net.nas"), "error[NAS602]: `net.nas` is not a run folder\n"),
    ],
)
def test_a_folder_that_does_not_exist(run: Run, folder: Path, words: tuple[str, ...], problem: str) -> None:
    result = run(*words)
    assert (result.code, result.err.startswith(problem)) == (1, True), result.err
    assert not (folder / "runs").exists()


def vanishing(folder: Path, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function; when it has returned, the run folder is no longer there."""

    def then_gone(*arguments: Any, **named: Any) -> Any:
        result = function(*arguments, **named)
        shutil.rmtree(folder / "run", ignore_errors=True)
        return result

    return then_gone


@pytest.mark.parametrize(
    ("words", "place", "name"),
    [
        (("status", "run"), reading, "read_object"),
        (("report", "run"), builder, "render_page"),
        (("derive", "run"), networks, "open_run"),
        (("derive", "run", "--keep-per-edge", "1"), opening, "read_json"),
    ],
)
def test_between_reading_and_writing(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], place: Any, name: str
) -> None:
    monkeypatch.setattr(place, name, vanishing(folder, getattr(place, name)))
    result = run(*words)
    assert result.code == 1
    assert "run folder `run`" in result.err or "`run` does not exist" in result.err, result.err
    assert not (folder / "run").exists(), "it is not created again"


def test_derive_does_not_create_it_again(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "derive", vanishing(folder, api.derive))
    result = run("derive", "run")
    assert (result.code, result.err.startswith(GONE)) == (1, True), result.err
    assert not (folder / "run").exists()


def test_weights_that_are_gone_with_the_folder(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be wrong to say that the run has not finished."""
    shutil.rmtree(folder / "run")
    api.train("net.nas", output="run", **TRAINED)
    monkeypatch.setattr(opening, "read_manifest", vanishing(folder, read_manifest))
    result = run("eval", "run")
    assert (result.code, result.err.startswith(GONE)) == (1, True), result.err


class Removing(SearchWatcher, TrainWatcher):
    """Removes or moves the run folder after the first step or epoch."""

    def __init__(self, act: Callable[[], object]) -> None:
        self.act = act

    def logged(self, _row: StepRow) -> None:
        self.act()

    def epoch_ended(self, *_: Any) -> None:
        self.act()


@pytest.mark.parametrize("verb", ["search", "train"])
@pytest.mark.parametrize("moved", [False, True])
def test_while_it_runs(folder: Path, verb: str, moved: bool) -> None:
    def act() -> None:
        if moved and Path("out").exists():
            Path("out").rename("elsewhere")
        shutil.rmtree("out", ignore_errors=True)

    start: dict[str, Callable[[], object]] = {
        "search": lambda: api.search("space.nas", output="out", watch=(Removing(act),), log_steps=1, **SHORT),
        "train": lambda: api.train("net.nas", output="out", watch=(Removing(act),), **TRAINED),
    }
    with pytest.raises(NasError) as error:
        start[verb]()
    (diagnostic,) = error.value.diagnostics
    assert (diagnostic.code, diagnostic.message) == ("NAS602", "the run folder `out` is gone")
    assert not Path("out").exists(), "it is not created again"
    assert Path("elsewhere/run.json").exists() == moved
    if moved:
        resume = api.search if verb == "search" else api.train
        resume(resume="elsewhere")


def test_a_sweep(folder: Path) -> None:
    request, sweeps = asked("lambda=0.1,0.2"), SweepFolder(folder / "sweep")
    sweeps.path.mkdir()
    sweeps.request_file.write_text(request.model_dump_json())
    sweep = Sweep(sweeps, request, request.points())
    sweep.write_tables()
    shutil.rmtree(sweeps.path)
    with pytest.raises(NasError, match=r"the run folder `.*sweep` is gone"):
        sweep.write_tables()
    assert not sweeps.path.exists()


def test_a_file_that_cannot_be_written_is_not_a_folder_that_is_gone(folder: Path) -> None:
    run = RunFolder(folder / "run")
    (folder / "run" / "result.json").unlink()
    (folder / "run" / "result.json").mkdir()
    with pytest.raises(NasError, match=r"cannot write `.*result\.json`: it is a folder"):
        api.search(resume=run.path)
