"""Networks with a vector input: every command that reads data flattens the images."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from torch import Tensor

from bayesnas_graph.runs.subject import Subject
from bayesnas_graph.search.samples import samples_of
from bayesnas_graph.train.run import TrainRun
from tests.cli.conftest import Run
from tests.data.files import write_mnist
from tests.helpers import network
from tests.train.networks import config, device

FIXED = """
network net(size = 8) : vector(size * size) -> classes(10) {
    in x
    x -> out : linear(32) > bn > relu > linear(10)
}
"""
SPACE = FIXED.replace("relu", "choose { relu, tanh }")
SEARCH = ("-s", "warmup=2", "-s", "iterations=1", "-s", "steps=3", "-s", "finish=1", "-s", "threads=1")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a network that takes vectors, and a space of such networks."""
    (tmp_path / "fixed.nas").write_text(FIXED)
    (tmp_path / "space.nas").write_text(SPACE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_training_and_measuring(run: Run, folder: Path) -> None:
    """With crops and cutout, which need images and not vectors."""
    quick = ("--epochs", "6", "-s", "crop=1", "-s", "flip=false", "-s", "cutout=2", "-s", "rate=0.1", "-s", "threads=1")
    result = run("train", "fixed.nas", "--data", "digits", *quick, "-o", "run")
    assert result.code == 0, result.err
    found = json.loads((folder / "run" / "result.json").read_text())
    assert found["accuracy"] > 0.6
    measured = json.loads(run("eval", "run", "--allow-python", "--json", "--runs", "1").out)
    assert measured["accuracy"] == found["accuracy"]


def test_the_shipped_network_learns_from_mnist(run: Run, folder: Path) -> None:
    """With the default settings, including a cutout of 16 pixels."""
    write_mnist(folder / "data" / "mnist")
    result = run(
        "train", "lenet300", "--data", "mnist", "--batch", "10", "--epochs", "1", "-s", "threads=1", "-o", "run"
    )
    assert result.code == 0, result.err
    assert "of lenet300 on mnist" in result.out


def test_searching_and_exporting(run: Run, folder: Path) -> None:
    result = run("search", "space.nas", "--data", "digits", *SEARCH, "-o", "run")
    assert result.code == 0, result.err
    samples: Iterator[Tensor] = samples_of(Path("run"), 2, None)
    assert [tuple(x.shape) for x in samples] == [(64, 64)] * 2
    result = run(
        "export", "run", "-o", "model.py", "--weights", "model.safetensors", "--recalibrate", "2", "--allow-python"
    )
    assert result.code == 0, result.err
    assert run("eval", "run", "--allow-python", "--runs", "1").code == 0


def test_a_border_counts() -> None:
    subject = Subject("net", "net", network(FIXED.replace("size = 8", "size = 12")), ())
    chosen = config(data="digits", pad=2, auxiliary=0.0)
    problem = TrainRun().build_problem(subject, chosen, Path(), device(chosen))
    (vectors, _), *_ = problem.test_batches(device(chosen))
    assert problem.data.shape == (1, 12, 12)
    assert vectors.shape[1:] == (144,)
    assert (vectors[:, :24] == vectors.min()).all(), "the first two rows are black"


def test_images_that_do_not_fit(run: Run, folder: Path) -> None:
    result = run("train", "lenet300", "--data", "digits")
    assert result.code == 1
    assert result.err == (
        "error[NAS504]: images of `digits` are 1x8x8, 64 values, but the network `lenet300` takes a vector of 784\n"
        " = help: declare the input as `vector(64)` to flatten the images, or as `image(1, 8, 8)`; "
        "unchanged, it fits `mnist`, `fashion-mnist`\n\n"
    )
    assert not (folder / "runs").exists()
    given = ("train", "fixed.nas", "--data", "digits", "-s", "cutout=16")
    assert "`cutout` blanks squares of 16 pixels" in run(*given).err
