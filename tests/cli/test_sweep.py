"""The command `search --sweep`: a grid of searches, each in its own process."""

from __future__ import annotations

import csv
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from bayesnas_graph import api
from bayesnas_graph.cli.display.sweep_view import SweepScreen
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runs.signals import stopping
from bayesnas_graph.runs.sweep.folder import SweepFolder
from bayesnas_graph.runs.sweep.folder import SweepRun as SweepRun
from tests.cli.conftest import Run
from tests.runs.sweep.sweeps import finish, grid

SPACE = """import "std.nas"

network tiny(width = 2) : image(1, 8, 8) -> classes(2) {
    in x
    node h = x : conv(width) > bn
    node k = h : choose { conv(width, 3), max_pool(3), skip }
    k -> out : choose { conv(width, 1), skip } > global_avg_pool > linear(2)
}
"""

# Few samples, quickly made. In the middle of training, the first process to come so far asks the one that started it to
# stop, as Ctrl-C would, and goes on when it is told to stop itself.
DATA = """
import os, signal, socket
from pathlib import Path
from typing import Any
import torch

class Images:
    def __init__(self, length, asking=False):
        self.length, self.asking, self.seen = length, asking, 0

    def __len__(self):
        return self.length

    def __getitem__(self, i):
        self.seen += 1
        if self.asking and self.seen == 300 and not Path("asked").exists():
            Path("asked").touch()
            heard, told = socket.socketpair()
            told.setblocking(False)
            signal.set_wakeup_fd(told.fileno())
            os.kill(os.getppid(), signal.SIGINT)
            heard.recv(1)
        return torch.full((1, 8, 8), i % 2 + i / 1000), i % 2

def plain():
    return Images(100), Images(20)

def asking():
    return Images(100, asking=True), Images(20)
"""

ASKED = {
    "space": "tiny.nas",
    "file": "tiny.nas",
    "python_ops": True,
    "data_dir": "data",
    "settings": {"data": "images:plain"},
    "sweep": [],
    "seeds": 1,
    "begun": "",
    "versions": {},
}

QUICK = ("-s", "steps=20", "-s", "warmup=2", "-s", "iterations=1", "--batch", "16", "-s", "gate_rate=0.5")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a space and data."""
    (tmp_path / "tiny.nas").write_text(SPACE)
    (tmp_path / "images.py").write_text(DATA)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("RANK", raising=False)
    return tmp_path


def table(folder: Path) -> list[dict[str, str]]:
    with (folder / "table.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def verdicts(folder: Path) -> list[tuple[str, bool, list[float]]]:
    decision = json.loads((folder / "decision.json").read_text())
    return [(verdict["name"], verdict["keep"], verdict["w"]) for verdict in decision["verdicts"]]


def test_a_sweep_from_beginning_to_end(run: Run, place: Path) -> None:
    """A two-by-two grid in which half of the runs fail: interrupted in the first run, resumed, and read back."""
    folder, first = Path("runs/tiny-sweep-1"), Path("runs/tiny-sweep-1/batch=16,seed=0")
    on = f"  bayesnas-graph search --resume {folder}"
    sweep = ("--sweep", "batch=16,1000", "--seeds", "2", "--jobs", "1")
    stopped = run("search", "tiny.nas", "--data", "images:asking", *QUICK, *sweep)
    assert stopped.code == 130, stopped.err
    assert stopped.out.splitlines()[-2:] == ["stopped; resume with", f"{on} --jobs 1 --allow-python"]
    assert [row["state"] for row in table(folder)] == ["stopped", "waiting", "waiting", "waiting"]
    assert len(list((first / "checkpoints").iterdir())) == 2  # one from the beginning, and one from the end
    asked = json.loads((folder / "sweep.json").read_text())
    assert (asked["sweep"], asked["seeds"], asked["settings"]["steps"]) == (["batch=16,1000"], 2, 20)

    (place / "tiny.nas").write_text("this is not what was asked for")
    finished = run("search", "--resume", folder, "--allow-python")
    assert finished.code == 1, finished.err
    rows = table(folder)
    assert [(row["batch"], row["seed"], row["state"]) for row in rows] == [
        ("16", "0", "done"),
        ("16", "1", "done"),
        ("1000", "0", "failed"),
        ("1000", "1", "failed"),
    ]
    assert rows[2]["error"].startswith("error[NAS601]: a batch of 1000 is larger than")
    assert "| 16 | 2 of 2 |" in (folder / "table.md").read_text()
    lines = finished.out.splitlines()
    assert lines[0] == f"sweep {folder}: 4 of 4 runs to do"
    weights, accuracy = int(rows[1]["parameters"]), float(rows[1]["accuracy"])
    assert f" of 4 done: batch=16 seed=1: {weights:,} parameters, accuracy {accuracy:.4f}\n" in finished.out
    assert f" of 4 done: batch=1000 seed=1: failed: {rows[3]['error']}\n" in finished.out
    assert lines[-2:] == ["2 of 4 failed; retry them with", f"{on} --allow-python"]
    assert f"search --resume {place / first}" in (folder / "batch=16,seed=0.log").read_text()

    (place / "tiny.nas").write_text(SPACE)
    alone = run("search", "tiny.nas", "--data", "images:plain", *QUICK, "--seed", "1", "-s", "threads=1", "-o", "alone")
    assert alone.code == 0, alone.err
    assert verdicts(Path("alone")) == verdicts(folder / "batch=16,seed=1")


def test_what_is_done_is_left_alone(run: Run, place: Path) -> None:
    (place / "sweep.json").write_text(json.dumps(ASKED | {"sweep": ["lambda=1,2"], "python_ops": False}))
    sweep = SweepFolder(place)
    for point in sweep.request().points():
        finish(sweep, point)
    result = run("search", "--resume", ".", "--allow-python")
    assert result.code == 0, result.err
    assert result.out.splitlines()[:3] == [
        "sweep .: 0 of 2 runs to do",
        "",
        "lambda  done    parameters  multiply-adds  accuracy  kept    overlap  distinct",
    ]
    assert not list(place.glob("*.log"))


def test_wrong_values_are_pointed_at_before_anything_starts(run: Run, place: Path) -> None:
    result = run("search", "tiny.nas", "--data", "images:plain", "--sweep", "batch=16,many", "--sweep", "lamda=1")
    assert result.code == 1
    assert "1 | batch=16,many\n  |          ^^^^ should be" in result.err
    assert "1 | lamda=1\n  | ^^^^^ unknown" in result.err
    assert "did you mean `lambda`?" in result.err
    assert not (place / "runs").exists()


def test_wrong_spaces_and_parameters_are_found_before_anything_starts(run: Run, place: Path) -> None:
    result = run("search", "tiny.nas", "--data", "images:plain", "--sweep", "parameters.width=2,3", "-p", "widht=2")
    assert (result.code, "no parameter `widht`" in result.err) == (1, True)
    result = run("search", "tiny.nas", "--data", "images:plain", "--sweep", "network=tiny,huge")
    assert (result.code, "NAS107" in result.err) == (1, True)
    assert not (place / "runs").exists()


def test_no_data(run: Run) -> None:
    result = run("search", "tiny.nas", "--seeds", "2")
    assert (result.code, "NAS601]: no data to search on" in result.err) == (1, True)


def test_a_folder_is_never_overwritten(run: Run, place: Path) -> None:
    (place / "there").mkdir()
    (place / "there" / "thesis.tex").write_text("")
    result = run("search", "tiny.nas", "--data", "images:plain", "--seeds", "2", "-o", "there")
    assert (result.code, "NAS602]: `there` already exists" in result.err) == (1, True)
    assert [path.name for path in (place / "there").iterdir()] == ["thesis.tex"]


def test_options_that_do_not_go_together(run: Run, place: Path) -> None:
    (place / "sweep.json").write_text("{}")
    for arguments, said in (
        (("tiny.nas", "--jobs", "2"), "use it with `--sweep`"),
        (("--resume", ".", "--sweep", "lambda=1"), "keeps its grid"),
        (("--resume", ".", "--seeds", "2"), "keeps its grid"),
        (("tiny.nas", "--seeds", "0"), "--seeds"),
    ):
        result = run("search", *arguments)
        assert (result.code, said in result.err) == (2, True), result.err


def test_without_ray(run: Run, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "ray", None)
    result = run("search", "tiny.nas", "--data", "images:plain", "--seeds", "2", "--ray")
    assert (result.code, "NAS609" in result.err) == (1, True)
    assert not (place / "runs").exists()


def test_not_under_torchrun(run: Run, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    result = run("search", "tiny.nas", "--data", "images:plain", "--seeds", "2")
    assert (result.code, "cannot be started by `torchrun`" in result.err) == (1, True)
    assert not (place / "runs").exists()


def test_a_sweep_rejects_new_settings_on_resume(run: Run, place: Path) -> None:
    (place / "sweep.json").write_text(json.dumps(ASKED))
    for arguments, said in (
        (("tiny.nas", "--lambda", "2"), "NAS601]: `--resume` takes no space and no settings, but got `tiny.nas`"),
        ((), "NAS105"),
    ):
        result = run("search", "--resume", ".", *arguments)
        assert (result.code, said in result.err) == (1, True), result.err
    with RunFolder(place).locked():
        result = run("search", "--resume", ".", "--allow-python")
    assert (result.code, "NAS602]: another process is using" in result.err) == (1, True)
    (place / "sweep.json").write_text("{")
    result = run("search", "--resume", ".", "--allow-python")
    assert (result.code, "NAS602]: cannot read" in result.err) == (1, True)


def test_a_screen_shows_what_is_running(place: Path) -> None:
    folder, points = SweepFolder(place), grid("lambda=1,20", seeds=8)
    folder.log(points[0]).write_text("$ bayesnas-graph search\nstep 1\n\n")
    folder.log(points[8]).write_text("$ bayesnas-graph search\n")
    shown: list[str] = []
    screen = SweepScreen(print, folder, lambda text: shown.append(text.plain))
    screen.turn([SweepRun(points[0], "running"), SweepRun(points[1]), SweepRun(points[8], "running")])
    screen.turn([SweepRun(point, "running") for point in points])
    assert shown[0].split("\n") == ["lambda=1 seed=0   step 1", "lambda=20 seed=0  ", "1 waiting"]
    assert shown[1].split("\n")[-2:] == ["lambda=20 seed=3  ", "and 4 more"]


def test_closing_the_terminal_stops_a_sweep() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        with stopping() as stop:
            assert not stop()
            os.kill(os.getpid(), signal.SIGHUP)
            assert stop()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        with stopping() as stop:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not stop()
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.long
def test_the_api_sweeps_in_the_same_way(run: Run, place: Path) -> None:
    """The API leaves the folder that the command leaves, and resumes what failed."""
    quick: dict[str, Any] = {"steps": 20, "warmup": 2, "iterations": 1, "batch": 16, "gate_rate": 0.5}
    swept = api.sweep("tiny.nas", axes={"batch": [16, 1000]}, jobs=1, output="ours", data="images:plain", **quick)
    assert [made.state for made in swept.runs] == ["done", "failed"]
    assert len(swept.left) == 1
    command = run("search", "tiny.nas", "--data", "images:plain", *QUICK, "--sweep", "batch=16,1000", "-o", "theirs")
    assert command.code == 1
    folders = [{str(path.relative_to(top)) for path in top.rglob("*")} for top in (Path("ours"), Path("theirs"))]
    assert folders[0] == folders[1]
    again = api.sweep(resume="ours", jobs=1, allow_python=True)
    assert [made.state for made in again.runs] == ["done", "failed"]
    with pytest.raises(TypeError):
        api.sweep("tiny.nas", resume="ours")
