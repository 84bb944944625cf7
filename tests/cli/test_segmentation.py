"""A network with a class for every pixel, from the search to a trained network."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch.utils.data import TensorDataset

from tests.cli.conftest import Run

SPACE = """
network spots(width = 4) : image(1, 6, 6) -> map(2, 6, 6) {
    in x
    node h = x : choose { conv(width, 3) > bn > relu, conv(width, 1) > bn > relu }
    h -> out : conv(2, 1, bias = true)
}
"""
DATA = ("--data", "tests.cli.test_segmentation:load", "--batch", "32", "-s", "threads=1")


def part(count: int, seed: int) -> TensorDataset:
    """Bright squares of two pixels on dark noise, and where they are."""
    generator = torch.Generator().manual_seed(seed)
    images, maps = torch.rand(count, 1, 6, 6, generator=generator) * 0.4, torch.zeros(count, 6, 6, dtype=torch.long)
    places = torch.randint(5, (count, 2), generator=generator).tolist()
    for i, (row, column) in enumerate(places):
        images[i, 0, row : row + 2, column : column + 2] += 0.6
        maps[i, row : row + 2, column : column + 2] = 1
    return TensorDataset(images, maps)


def load() -> tuple[TensorDataset, TensorDataset]:
    return part(192, 0), part(64, 1)


def test_from_a_search_to_a_trained_network(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spots.nas").write_text(SPACE)
    found = run("search", "spots.nas", *DATA, "--iterations", "1", "--steps", "6", "-o", "searched")
    assert found.code == 0, found.err
    assert 0 <= json.loads(Path("searched/result.json").read_text())["iou"] <= 1
    assert run("derive", "searched", "-o", "derived").code == 0
    assert "-> map(2, 6, 6)" in Path("derived/network.nas").read_text()
    train = ("train", "derived/network.nas", *DATA, "--epochs", "8", "-s", "rate=0.2", "-s", "cutout=0")
    refused = run(*train, "-s", "crop=1")
    assert "cannot be augmented with `crop`: its examples are images with a class for every" in refused.err
    assert "auxiliary head gives a vector" in run(*train, "--auxiliary", "0.4").err
    trained = run(*train, "-o", "trained")
    assert trained.code == 0, trained.err
    assert "`crop` is off: examples of" in trained.err + trained.out
    result = json.loads(Path("trained/result.json").read_text())
    assert result["iou"] > 0.5, "0.44 is for no spots at all"
    assert f"mean IoU       {result['iou']:.4f} on the test set" in trained.out
