"""The command `eval`: on a training run and on a weights file."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from tests.cli.conftest import Run
from tests.cli.test_train import DATA, done, prepare

__all__ = ["done"]  # a training that has ended

FAST = ("--runs", "2")


@pytest.fixture
def folder(done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a finished training run and its `.nas` file."""
    prepare(tmp_path)
    shutil.copytree(done, tmp_path / "run")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_training(run: Run, folder: Path) -> None:
    result = run("eval", "run", "--allow-python", *FAST)
    assert result.code == 0, result.err
    found = json.loads((folder / "run" / "result.json").read_text())
    lines = result.out.splitlines()
    assert lines[:5] == [
        "network        net of fixed.nas",
        f"accuracy       {found['accuracy']:.4f} on the 40 test images of tests.search.spaces:tiny_data",
        f"loss           {found['loss']:.4f}",
        f"parameters     1,958 ({found['bytes']:,} bytes)",
        "multiply-adds  44,368 per sample",
    ]
    assert [line.rpartition(" for ")[2] for line in lines[5:]] == ["1 image, cpu", "64 images, cpu"]


def test_as_json(run: Run, folder: Path) -> None:
    found = json.loads(run("eval", "run", "--allow-python", "--json", *FAST).out)
    told = json.loads((folder / "run" / "result.json").read_text())
    same = ("accuracy", "loss", "parameters", "flops", "bytes")
    assert {key: found[key] for key in same} == {key: pytest.approx(told[key]) for key in same}
    assert [one["batch"] for one in found["latency"]] == [1, 64]
    assert all(0 < one["low"] <= one["median"] <= one["high"] for one in found["latency"])


def test_a_file_with_weights(run: Run, folder: Path) -> None:
    weights = ("--weights", "run/weights.safetensors")
    of_run, of_file = (
        json.loads(run("eval", *target, "--json", *FAST).out)
        for target in (["run", "--allow-python"], ["fixed.nas", *weights, *DATA])
    )
    assert of_file["accuracy"] == of_run["accuracy"]
    assert of_file["loss"] == pytest.approx(of_run["loss"])
    without = json.loads(run("eval", "fixed.nas", *weights, "--json", *FAST).out)
    assert (without["accuracy"], without["loss"], without["data"]) == (None, None, None)
    assert without["bytes"] == of_run["bytes"]


def test_size_and_time_need_no_weights(run: Run, folder: Path) -> None:
    result = run("eval", "fixed.nas", "-p", "width=6", *FAST)
    assert result.code == 0
    assert "parameters     4,252" in result.out
    assert "accuracy" not in result.out
    assert run("eval", "fixed.nas", *DATA).code == 2, "an accuracy does"


def test_weights_that_do_not_fit(run: Run, folder: Path) -> None:
    weights = ("--weights", "run/weights.safetensors")
    result = run("eval", "fixed.nas", "-p", "width=6", *weights, *FAST)
    assert result.code == 1
    assert result.err.startswith(
        "error[NAS611]: the weights in `run/weights.safetensors` do not fit network `net`: "
        "32 have a different shape (`linear.weight: 10x8 for 10x12`, "
    )
    held = load_file("run/weights.safetensors")
    del held["linear.bias"]
    save_file(held | {"more": held["linear.weight"].clone()}, "other.safetensors")
    result = run("eval", "fixed.nas", "--weights", "other.safetensors", *FAST)
    assert "1 are missing (`linear.bias`); 1 are not in the network (`more`)" in result.err
    assert "error[NAS011]" in run("eval", "fixed.nas", "--weights", "nothing").err
    assert "error[NAS611]" in run("eval", "fixed.nas", "--weights", "fixed.nas").err


def test_what_cannot_be_measured(run: Run, folder: Path) -> None:
    assert "error[NAS610]" in run("eval", "tiny.nas").err
    assert "error[NAS504]" in run("eval", "run", "--allow-python", "--data", "digits", "--pad", "1", *FAST).err
    assert run("eval", "run", "--allow-python", "--weights", "run/weights.safetensors").code == 2
    assert "`device` should be" in run("eval", "run", "--allow-python", "--device", "tpu").err
    (folder / "run" / "weights.safetensors").unlink()
    result = run("eval", "run", "--allow-python")
    assert result.code == 1
    assert result.err.startswith("error[NAS602]: `run` has no weights: it has not finished\n")


def test_the_run_has_its_own_copy(run: Run, folder: Path) -> None:
    Path("fixed.nas").write_text("nothing")
    assert run("eval", "run", "--allow-python", *FAST).code == 0
    copy = folder / "run" / "space" / "fixed.nas"
    copy.write_text(copy.read_text().replace("max_pool", "avg_pool"))
    assert "it has changed since the run started" in run("eval", "run", "--allow-python", *FAST).err
