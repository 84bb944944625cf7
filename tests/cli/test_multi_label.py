"""A network for samples with several labels, from the search to a trained network."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch.utils.data import TensorDataset

from tests.cli.conftest import Run

SPACE = """
network corners(width = 4) : image(1, 4, 4) -> labels(3) {
    in x
    node h = x : choose { conv(width, 3) > bn > relu, conv(width, 1) > bn > relu }
    h -> out : flatten > linear(3)
}
"""
DATA = ("--data", "tests.cli.test_multi_label:load", "--batch", "32", "-s", "threads=1")


def part(count: int, seed: int) -> TensorDataset:
    """Images with or without light in three of their corners."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.rand(count, 3, generator=generator) < 0.4
    images = torch.rand(count, 1, 4, 4, generator=generator) / 2
    for i, (row, column) in enumerate(((0, 0), (0, 3), (3, 0))):
        images[:, 0, row, column] += labels[:, i] / 2
    return TensorDataset(images, labels.long())


def load() -> tuple[TensorDataset, TensorDataset]:
    return part(192, 0), part(64, 1)


def test_from_a_search_to_a_trained_network(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("corners.nas").write_text(SPACE)
    found = run("search", "corners.nas", *DATA, "--iterations", "1", "--steps", "6", "-o", "searched")
    assert found.code == 0, found.err
    assert 0 <= json.loads(Path("searched/result.json").read_text())["f1"] <= 1
    assert run("derive", "searched", "-o", "derived").code == 0
    plain = ("-s", "crop=0", "-s", "flip=false", "-s", "cutout=0")
    trained = run("train", "derived/network.nas", *DATA, "--epochs", "6", *plain, "-o", "trained")
    assert trained.code == 0, trained.err
    result = json.loads(Path("trained/result.json").read_text())
    assert result["f1"] > 0.7, "0.57 is for saying that every sample has every label"
    assert f"F1             {result['f1']:.4f} on the test set" in trained.out
    Path("corners.nas").write_text(SPACE.replace("labels(3)", "classes(3)"))
    found = run("search", "corners.nas", *DATA)
    assert "has several labels for each image, but the network `corners` predicts classes" in found.err
    assert "declare the output as `labels(3)`" in found.err
