"""Shipped spaces, from a search to exported source, on small data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.helpers import mostly_long

CASES = [
    ("nasbench101", "search", "bayes", ("width=4", "cells=1", "channels=1", "size=8")),
    ("nasnet", "search", "darts", ("width=4", "cells=3", "channels=1", "size=8")),
    ("mobilenet_v3", "search", "darts", ("multiplier=0.25", "stride=1", "channels=1", "size=8", "labels=10")),
    ("shufflenet_v2", "search", "darts", ("multiplier=0.1", "stride=1", "channels=1", "size=8", "labels=10")),
    ("unet", "classify", "bayes", ("width=4", "levels=2", "channels=1", "size=8")),
    ("auto_deeplab", "classify", "darts", ("width=2", "layers=2", "first=4", "channels=1", "size=8")),
    ("tabular", "search", "bayes", ("widths=[8, 16]", "depths=[1, 2]", "drops=[0, 0.25]")),
]


@pytest.mark.parametrize(("space", "network", "strategy", "parameters"), mostly_long(CASES, CASES[0], CASES[-1]))
def test_from_search_to_source(
    space: str,
    network: str,
    strategy: str,
    parameters: tuple[str, ...],
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    sizes = [word for value in parameters for word in ("-p", value)]
    few = ["--iterations", "2", "--steps", "2", "--warmup", "1", "-s", "finish=0", "-s", "threads=1", "-s", "rate=0.01"]
    words = [
        "--recipe",
        "none",
        "--network",
        network,
        "--data",
        "digits",
        "-o",
        "run",
        "--strategy",
        strategy,
        *sizes,
        *few,
    ]
    assert run("search", space, *words).code == 0
    derived = run("derive", "run", "-o", "derived")
    assert derived.code == 0, derived.err
    assert run("check", "derived/network.nas").code == 0
    assert run("export", "run", "-o", "net.py", "--weights", "net.safetensors").code == 0
    about = json.loads((tmp_path / "derived" / "derived.json").read_text())
    stats = json.loads(run("stats", "derived/network.nas", "--json").out)
    assert about["weights"] == stats["weights"]
    assert stats["architectures"] == "1"
    assert f"class {network.capitalize()}" in (tmp_path / "net.py").read_text()
