"""The command `train`: run folders, resuming, and errors."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path

import pytest

from bayesnas_graph.cli.display.train_view import TrainView, epoch_line
from bayesnas_graph.cli.main import main
from bayesnas_graph.diagnostics.wrapping import whole
from bayesnas_graph.train.events import EpochRow
from bayesnas_graph.train.learner import new_learner
from bayesnas_graph.train.progress import TrainProgress
from tests.cli.conftest import Run, settings
from tests.helpers import edit_json
from tests.search.spaces import TINY
from tests.train.networks import FIXED, config, device, problem

DATA = ("--data", "tests.search.spaces:tiny_data")
QUICK = ("--epochs", "1", "--batch", "50", "-s", "cutout=3", "-s", "threads=1")


def prepare(folder: Path) -> None:
    (folder / "fixed.nas").write_text(FIXED)
    (folder / "tiny.nas").write_text(TINY)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a network without choices and one with choices."""
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished training run."""
    where = tmp_path_factory.mktemp("done")
    prepare(where)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(where)
        patch.setattr(sys, "argv", ["bayesnas-graph", "train", "fixed.nas", *DATA, *QUICK, "-o", "run"])
        with pytest.raises(SystemExit) as exit:
            main()
    assert not exit.value.code
    return where / "run"


@pytest.fixture
def copied(done: Path, folder: Path) -> Path:
    """A copy of the run, to modify."""
    shutil.copytree(done, folder / "run")
    return folder / "run"


# ----------------------------------------------------------------------------------------- beginning


def test_what_is_printed(run: Run, folder: Path) -> None:
    result = run("train", "fixed.nas", *DATA, *QUICK, "--auxiliary", "0.4", "-p", "width=6")
    assert result.code == 0, result.err
    lines = result.out.splitlines()
    assert lines[:7] == [
        "run            runs/fixed-train-1",
        "train          network net of fixed.nas on tiny, cpu, seed 0",
        "epochs         1 of 4 steps, 4 in total",
        "parameters     4,252",
        "multiply-adds  98,040 per sample",
        "paths          6, dropped with probability up to 0.2",
        "auxiliary head on y.reduction.relu",
    ]
    assert lines[7].startswith("epoch 1/1  loss 2.")
    assert lines[-2:] == ["measure it with", "  bayesnas-graph eval runs/fixed-train-1 --allow-python"]
    assert run("train", "fixed.nas", *DATA, *QUICK).code == 0
    assert sorted(path.name for path in (folder / "runs").iterdir()) == ["fixed-train-1", "fixed-train-2"]
    result = run("train", "fixed.nas", *DATA, *QUICK, "-o", "runs/fixed-train-1")
    assert "error[NAS602]: `runs/fixed-train-1` already exists" in result.err


def test_what_cannot_be_trained(run: Run, folder: Path) -> None:
    result = run("train", "tiny.nas", *DATA)
    assert result.code == 1
    assert result.err == (
        "error[NAS610]: network `net` still has 4 choices\n"
        " = help: derive an architecture first: `bayesnas-graph search`, then `bayesnas-graph derive`\n\n"
    )
    assert not (folder / "runs").exists()
    assert run("train").code == 2
    assert "no data to train on" in run("train", "fixed.nas").err
    assert "no network `nte`" in run("train", "fixed.nas", *DATA, "--network", "nte").err


def test_settings(run: Run, folder: Path) -> None:
    (folder / "own.toml").write_text("epochs = 7\nrate = 0.5\n")
    result = run("train", "--settings", "--config", "own.toml", "-s", "ema=0.99", "--rate", "0.1")
    told = settings(result.out)
    assert (told["epochs"], told["rate"], told["ema"], told["batch"]) == ("7", "0.1", "0.99", "96")
    (folder / "wrong.toml").write_text("# mine\nepoch = 7\n")
    assert run("train", "fixed.nas", "--config", "wrong.toml").err == (
        "error[NAS601]: unknown setting `epoch`\n"
        " --> wrong.toml:2:1\n"
        "  |\n"
        "2 | epoch = 7\n"
        "  | ^^^^^^^^^ unknown\n"
        "  |\n"
        "  = help: did you mean `epochs`?\n\n"
    )


# ----------------------------------------------------------------------------------------- going on


def test_resuming_keeps_the_settings(run: Run, copied: Path) -> None:
    result = run("train", "--resume", "run", "--allow-python", "--epochs", "3")
    assert result.code == 1
    assert "`--resume` takes no settings, but got `--epochs 3`" in result.err
    assert run("train", "--resume", "run", "--allow-python", "-o", "other").code == 2
    assert run("train", "--resume", "run", "--allow-python", "--settings").code == 2
    before = (copied / "result.json").read_text()
    assert run("train", "--resume", "run", "--allow-python").code == 0
    assert (copied / "result.json").read_text() == before
    assert run("train", "fixed.nas", "--resume", "run", "--allow-python").code == 0
    (Path("fixed.nas")).write_text(FIXED.replace("max_pool", "avg_pool"))
    assert "error[NAS604]" in run("train", "fixed.nas", "--resume", "run", "--allow-python").err


def test_runs_of_another_kind(run: Run, copied: Path, folder: Path) -> None:
    result = run("search", "--resume", "run", "--allow-python")
    assert result.code == 1
    assert result.err == (
        "error[NAS602]: `run` was not written by `search`\n = help: `bayesnas-graph status run` shows what it is\n\n"
    )
    edit_json(copied / "run.json", lambda manifest: manifest.update(kind="search"))
    assert "error[NAS602]: `run` was not written by `train`" in run("train", "--resume", "run", "--allow-python").err
    assert "error[NAS602]: `nowhere` does not exist" in run("train", "--resume", "nowhere", "--allow-python").err
    (copied / "run.json").write_text("{")
    assert "error[NAS602]: cannot read `run/run.json`" in run("train", "--resume", "run", "--allow-python").err


def test_damaged_checkpoints(run: Run, copied: Path) -> None:
    for path in (copied / "checkpoints").iterdir():
        path.write_bytes(b"nothing")
    assert (
        "error[NAS603]: cannot read `run/checkpoints/step-000000004.pt`"
        in run("train", "--resume", "run", "--allow-python").err
    )


# ------------------------------------------------------------------------------------------- status


def test_status(run: Run, copied: Path) -> None:
    lines = run("status", "run").out.splitlines()
    assert lines[0] == "run            run"
    assert lines[1].startswith("train          network net of fixed.nas on tests.search.spaces:tiny_data")
    assert "state          finished: all epochs are done" in lines
    assert "epoch          1 of 1" in lines
    assert any(line.endswith("on the test set") for line in lines)
    found = json.loads(run("status", "run", "--json").out)
    assert (found["kind"], found["state"], found["epoch"], found["epochs"]) == ("train", "finished", 1, 1)
    assert found["accuracy"]["test"] == pytest.approx(json.loads((copied / "result.json").read_text())["accuracy"])
    assert found["resume"] is None


def test_status_of_one_that_was_stopped(run: Run, copied: Path) -> None:
    (copied / "result.json").unlink()
    (copied / "metrics.csv").unlink()
    result = run("status", "run")
    assert result.code == 0
    assert "state          stopped, with a checkpoint at step 4" in result.out
    assert "epoch          0 of 1" in result.out
    assert result.out.endswith("resume with\n  bayesnas-graph train --resume run --allow-python\n")
    (copied / "metrics.csv").write_text("step,loss,accuracy,seconds\n4,1,0.5,2\n")
    assert run("status", "run").code == 0
    assert json.loads(run("status", "run", "--json").out)["accuracy"] == {"train": 0.5, "test": None}


# ------------------------------------------------------------------------------------------ display


def row(epoch: int) -> EpochRow:
    return EpochRow(epoch, 10 * epoch, 1.5376, 0.5078, 1.2, 0.61, 0.0125, 90.0)


def test_a_line() -> None:
    assert epoch_line(row(7), 600) == (
        f"epoch   7/600  loss 1.538    accuracy 0.5078  test 0.6100  rate 0.0125    90.0 s  {whole('left 14:49:30')}"
    )


def test_a_bar() -> None:
    """Lines stand above it, and it is gone in the end."""
    stream, learner = io.StringIO(), new_learner(problem(), device(config()))
    view = TrainView(live=True, stream=stream)
    view.started(problem(), learner, TrainProgress())
    view.stepped(6, 1.25)
    view.epoch_ended(row(1))
    view.noted("something [unusual]")
    view.started(problem(), learner, TrainProgress(step=4))
    view.closed()
    text = stream.getvalue()
    assert "epoch 1/3  loss 1.538" in text
    assert "note   something [unusual]" in text
    assert "4/30" in text
