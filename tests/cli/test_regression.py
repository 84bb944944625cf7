"""A network that predicts values, from the search to an exported module."""

from __future__ import annotations

import csv
import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.utils.data import TensorDataset

from tests.cli.conftest import Run

SPACE = """
network slopes(width = 4) : image(1, 4, 4) -> values(2) {
    in x
    node h = x : choose { conv(width, 3) > bn > relu, conv(width, 1) > bn > relu }
    h -> out : flatten > linear(2)
}
"""
HERE = "tests.cli.test_regression"
QUICK = ("--batch", "32", "-s", "threads=1", "-s", "log_steps=4")
PLAIN = ("-s", "crop=0", "-s", "flip=false", "-s", "cutout=0")


def part(count: int, seed: int) -> tuple[Tensor, Tensor]:
    """Images, and how much brighter they are on the left and at the top."""
    images = torch.rand(count, 1, 4, 4, generator=torch.Generator().manual_seed(seed))
    slopes = [images[..., :2] - images[..., 2:], images[..., :2, :] - images[..., 2:, :]]
    return images, torch.stack([slope.mean((1, 2, 3)) for slope in slopes], 1) * 6


def load() -> tuple[TensorDataset, TensorDataset]:
    return TensorDataset(*part(192, 0)), TensorDataset(*part(64, 1))


def labelled() -> tuple[TensorDataset, TensorDataset]:
    images, _ = part(64, 0)
    same = TensorDataset(images, torch.arange(64) % 2)
    return same, same


def r2(outputs: Tensor, targets: Tensor) -> float:
    unexplained = (targets - outputs).square().sum(0) / (targets - targets.mean(0)).square().sum(0)
    return float((1 - unexplained).mean())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slopes.nas").write_text(SPACE)
    return tmp_path


def test_from_a_search_to_an_exported_module(run: Run, folder: Path) -> None:
    data = ("--data", f"{HERE}:load")
    search = ("--iterations", "1", "--steps", "6", "-s", "finalists=2", "-s", "finalist_steps=6")
    found = run("search", "slopes.nas", *data, *search, *QUICK, "-o", "searched")
    assert found.code == 0, found.err
    assert "R2  " in found.out
    assert "accuracy" not in found.out
    result = json.loads((folder / "searched" / "result.json").read_text())
    assert -1 < result["r2"] <= 1
    for table in ("metrics.csv", "updates.csv", "finalists.csv"):
        rows = list(csv.DictReader((folder / "searched" / table).read_text().splitlines()))
        assert rows
        assert all("r2" in row and "accuracy" not in row for row in rows)
    assert "R2" in run("status", "searched").out

    assert run("derive", "searched", "-o", "derived").code == 0
    assert "-> values(2)" in (folder / "derived" / "network.nas").read_text()

    trained = run("train", "derived/network.nas", *data, "--epochs", "6", *QUICK, *PLAIN, "-o", "trained")
    assert trained.code == 0, trained.err
    result = json.loads((folder / "trained" / "result.json").read_text())
    assert result["r2"] > 0.3, "better than the mean"
    assert result["rmse"] == pytest.approx(result["loss"] ** 0.5)
    assert f"R2             {result['r2']:.4f} on the test set" in trained.out
    assert f"RMSE           {result['rmse']:.4f}" in trained.out
    measured = json.loads(run("eval", "trained", "--allow-python", "--json", "--runs", "1").out)
    assert measured["r2"] == pytest.approx(result["r2"])

    assert run("report", "searched", "trained", "-o", "page.html").code == 0
    assert "R2 0." in (folder / "page.html").read_text()
    assert run("report", "searched", "-o", "search.html").code == 0

    assert run("export", "trained", "-o", "slopes.py", "--weights", "slopes.safetensors").code == 0
    spec = spec_from_file_location("slopes", folder / "slopes.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    network = module.Slopes().eval()
    network.load_state_dict(load_file(folder / "slopes.safetensors"))
    train, test = load()
    images = train.tensors[0]
    with torch.no_grad():
        outputs = network((test.tensors[0] - images.mean()) / images.std(correction=0))
    assert r2(outputs, test.tensors[1]) == pytest.approx(result["r2"], abs=1e-4)


def test_compression(run: Run, folder: Path) -> None:
    (folder / "slopes.nas").write_text(SPACE.replace("choose { ", "").replace(", conv(width, 1) > bn > relu }", ""))
    short = ("-s", "epochs=2", "-s", "loops=1", "-s", "loop_epochs=1", "-s", "fine_epochs=1", *PLAIN)
    found = run("compress", "slopes.nas", "--data", f"{HERE}:load", *short, *QUICK, "-o", "compressed")
    assert found.code == 0, found.err
    result = json.loads((folder / "compressed" / "result.json").read_text())
    assert result["r2"] == result["left"]["r2"]
    assert f"{result['whole']['r2']:.4f}" in next(line for line in found.out.splitlines() if line.startswith("R2 "))
    assert run("report", "compressed", "-o", "page.html").code == 0


def test_what_does_not_fit(run: Run, folder: Path) -> None:
    found = run("search", "slopes.nas", "--data", f"{HERE}:labelled", *QUICK)
    assert "error[NAS504]: `tests.cli.test_regression:labelled` has whole numbers as targets" in found.err
    for setting in ("label_smoothing", "mixup", "cutmix"):
        found = run("search", "slopes.nas", "--data", f"{HERE}:load", *QUICK, "-s", f"{setting}=0.1")
        assert f"error[NAS601]: `{setting}` is for classes, but the network `slopes` predicts values" in found.err
    (folder / "slopes.nas").write_text(SPACE.replace("values(2)", "classes(2)"))
    found = run("search", "slopes.nas", "--data", f"{HERE}:load", *QUICK)
    assert "has floating-point targets, but the network `slopes` predicts classes" in found.err
