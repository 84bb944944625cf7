"""Weights with NaN or infinities: a warning for people, and JSON that every program can read."""

from __future__ import annotations

import json
import shutil
from math import inf, nan
from pathlib import Path
from typing import NoReturn

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.cli.conftest import Run, run

__all__ = ["run"]


@pytest.fixture(params=[nan, inf, -inf], ids=str)
def broken(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_runs: Path) -> Path:
    """A training run with some weights that are not finite, as if another program had written them."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(small_runs / "train", tmp_path / "run")
    path = tmp_path / "run" / "weights.safetensors"
    tensors = load_file(path)
    name = next(name for name in tensors if name.endswith("weight"))
    tensors[name] = torch.full_like(tensors[name], request.param)
    save_file(tensors, path)
    return tmp_path


def no_constant(constant: str) -> NoReturn:
    pytest.fail(f"{constant} is not JSON")


def test_eval(run: Run, broken: Path) -> None:
    result = run("eval", "run", "--json", "--runs", "1")
    assert result.code == 0, result.err
    found = json.loads(result.out, parse_constant=no_constant)
    assert found["loss"] is None
    assert "warning[NAS622]: the weights hold NaN or infinite values, in `" in result.err
    result = run("eval", "run", "--runs", "1")
    assert result.code == 0
    assert "loss           nan\n" in result.out
    assert "warning[NAS622]" in result.err


@pytest.mark.parametrize(
    "words",
    [
        ("export", "run", "-o", "m.py", "--weights", "w.safetensors"),
        ("status", "run", "--json"),
        ("report", "run", "-o", "page.html"),
        ("compress", "run", "-o", "small", "--epochs", "0", "-s", "loop_epochs=1", "-s", "fine_epochs=1"),
        ("compress", "run", "-o", "small", "--epochs", "1", "-s", "loop_epochs=1", "-s", "fine_epochs=1"),
    ],
    ids=lambda words: words[0],
)
def test_no_verb_fails(run: Run, broken: Path, words: tuple[str, ...]) -> None:
    result = run(*words)
    assert result.code in (0, 1), result.err
    assert result.code == 0 or "error[NAS" in result.err
    for path in broken.rglob("*.json"):
        json.loads(path.read_text(), parse_constant=no_constant)
