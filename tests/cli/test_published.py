"""The published networks are compiled and exported from the command line, and their source runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from tests.cli.conftest import Run

SMALL = {
    "resnet50": ("Resnet50", "width=4", "depths=[1, 2, 1, 1]", "size=32", "labels=10"),
    "mobilenet_v2": ("MobilenetV2", "multiplier=0.25", "stride=1", "size=32", "labels=10"),
    "efficientnet_b0": ("Efficientnet", "multiplier=0.25", "depth=0.5", "stride=1", "size=32", "labels=10"),
    "vgg11_bn": ("Vgg11Bn", "width=8", "hidden=32", "size=32", "labels=10"),
}
COUNTS = {"resnet50": 25_557_032, "mobilenet_v2": 3_504_872, "efficientnet_b0": 5_288_548, "vgg11_bn": 132_868_840}


def network(file: Path, name: str) -> nn.Module:
    scope: dict[str, Any] = {"__name__": file.stem}
    exec(file.read_text(), scope)
    built: nn.Module = scope[name]()
    return built


@pytest.mark.parametrize("space", SMALL)
def test_a_small_version_runs(run: Run, tmp_path: Path, space: str) -> None:
    name, *values = SMALL[space]
    given = [word for value in values for word in ("-p", value)]
    exported, compiled = tmp_path / "exported.py", tmp_path / "compiled"
    assert run("export", space, *given, "-o", exported).code == 0
    assert run("compile", space, *given, "-o", compiled).code == 0
    (source,) = compiled.glob("*.py")
    for file in (exported, source):
        built = network(file, name)
        output = built(torch.randn(2, 3, 32, 32))
        output.sum().backward()
        assert output.shape == (2, 10)
        assert all(parameter.grad is not None for parameter in built.parameters())
    assert max(map(len, exported.read_text().splitlines())) <= 110


@pytest.mark.parametrize("space", SMALL)
def test_the_exported_source_has_the_published_size(run: Run, tmp_path: Path, space: str) -> None:
    """Built without memory for its weights: those of VGG would take half a gigabyte."""
    file = tmp_path / "model.py"
    assert f"{COUNTS[space]:,} parameters" in run("export", space, "-o", file).out
    with torch.device("meta"):
        built = network(file, SMALL[space][0])
    assert sum(parameter.numel() for parameter in built.parameters()) == COUNTS[space]
