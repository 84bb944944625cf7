"""docs/data.md: its example of the user's own data works, and its tables are complete."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

from bayesnas_graph.data import DATASETS, Augmentation, augment, check_fit, load
from bayesnas_graph.data.catalogue import ORIGINS
from bayesnas_graph.data.custom_augment import CustomAugmentation
from tests.conftest import ROOT
from tests.helpers import network
from tests.test_docs import blocks

PAGE = ROOT / "docs" / "data.md"


def test_own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (text,) = (block.text for block in blocks(PAGE) if block.text.startswith("# stripes.py"))
    (tmp_path / "stripes.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    data = load("stripes:load", tmp_path)
    del sys.modules["stripes"]
    assert (data.shape, data.classes, len(data.train), len(data.test)) == ((1, 16, 16), 2, 1000, 200)
    (space,) = (block.text for block in blocks(PAGE) if block.kind == "nas")
    changed = space.replace("channels = 3, size = 32, labels = 10", "channels = 1, size = 16, labels = 2")
    found = network(changed)
    inputs, outputs = (tuple(kind.shape for kind in kinds) for kinds in (found.inputs, found.outputs))
    check_fit(data, found.name, inputs, outputs, dict(found.arguments))


def test_own_augmentation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (text,) = (block.text for block in blocks(PAGE) if block.text.startswith("# noise.py"))
    (tmp_path / "noise.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    how = Augmentation(custom=CustomAugmentation.of("noise:add"))
    del sys.modules["noise"]
    images = torch.full((4, 3, 8, 8), 128, dtype=torch.uint8)
    found = augment(images, how, torch.Generator().manual_seed(0))
    assert 0 < (found - 128 / 255).abs().mean() < 0.1
    assert torch.equal(found, augment(images, how, torch.Generator().manual_seed(0)))


def test_every_set_is_in_the_tables() -> None:
    page = PAGE.read_text()
    for name, one in DATASETS.items():
        (row,) = (
            line for line in page.splitlines() if line.startswith(f"| `{name}` | {'x'.join(map(str, one.shape))}")
        )
        assert f"| {one.classes}" in row
    for origin in ORIGINS.values():
        row = [line for line in page.splitlines() if line.startswith(f"| `{origin.name}` | ")][-1]
        assert f"`{origin.folder}`" in row
