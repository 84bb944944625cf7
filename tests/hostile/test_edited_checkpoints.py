"""Checkpoints that were edited: other types, shapes and numbers never end in a traceback, nor in a run without end."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from copy import deepcopy
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.cli.conftest import Run, run
from tests.hostile.small_runs import KINDS, compared, resumed
from tests.hostile.test_fields import OTHERS, Place, replaced, without
from tests.search.runs import table

__all__ = ["run"]

EXAMPLES = 6  # of the many changes, in the fast test
NUMBERS: tuple[Any, ...] = (nan, inf, -inf, -1, 2**63, 10**30, 2.5)
TENSORS = (torch.zeros(3), torch.zeros(0), torch.tensor(1.5), torch.zeros(2, 3, dtype=torch.int8), torch.tensor(nan))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def places(content: Any, at: Place = ()) -> Iterator[tuple[Place, Any]]:
    """All fields of a checkpoint; of long lists and of many tensors, the first ones."""
    inside = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for number, (key, value) in enumerate(inside):
        if number < 2 or not isinstance(value, Tensor | dict | list) or len(at) == 0:
            yield (*at, key), value
            yield from places(value, (*at, key))


def changes(content: Any) -> Iterator[tuple[str, Any]]:
    for place, value in places(content):
        others: list[Any] = [*OTHERS, *NUMBERS, *TENSORS]
        if isinstance(value, Tensor):
            others += [value.to(torch.float16), value.to(torch.complex64), value[None], value.flatten()[:1]]
        name = ".".join(map(str, place))
        yield f"without {name}", without(content, place)
        for other in others:
            yield f"{name} = {str(other)[:30]!r}", replaced(content, place, deepcopy(other))


def check_resume(run: Run, runs: Path, kind: str, examples: int | None) -> None:
    here = Path.cwd()
    shutil.copytree(runs / f"{kind}-cut", here / "original")
    last = sorted((here / "original" / "checkpoints").rglob("*.pt" if kind != "compress" else "fine/*.pt"))[-1]
    content = torch.load(last, weights_only=True)
    some = list(changes(content))
    if examples is not None:
        some = random.Random(kind).sample(some, examples)
    for what, changed in some:
        shutil.copytree(here / "original", here / "run")
        torch.save(changed, here / "run" / last.relative_to(here / "original"))
        result = run(kind, "--resume", "run")
        about = f"{what}\n{result.err}{result.out[-1000:]}"
        assert result.code in (0, 1), about
        assert result.code == 0 or "error[NAS60" in result.err, about
        if result.code == 0 and "the run continues from step" in result.out:
            assert compared(resumed(here / "run")) == compared(resumed(runs / kind)), about
        if result.code == 0:
            rows = [row.get("epoch", row["step"]) for row in table(here / "run", "metrics.csv")]
            assert len(rows) == len(set(rows)), about
        shutil.rmtree(here / "run")


@pytest.mark.parametrize("kind", KINDS)
def test_edited_checkpoints(run: Run, here: Path, small_runs: Path, kind: str) -> None:
    check_resume(run, small_runs, kind, EXAMPLES)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_all_edited_checkpoints(run: Run, here: Path, small_runs: Path, kind: str) -> None:
    check_resume(run, small_runs, kind, None)


def test_weights_of_an_edited_checkpoint(run: Run, here: Path, small_runs: Path) -> None:
    """Weights are taken only from a checkpoint that fits."""
    shutil.copytree(small_runs / "search", here / "run")
    last = sorted((here / "run" / "checkpoints").glob("*.pt"))[-1]
    content = torch.load(last, weights_only=True)
    for name, value in list(content["weights"].items())[:3]:
        for other in (torch.zeros(2, 1, 7), value.to(torch.float16), 17, None):
            torch.save(content | {"weights": content["weights"] | {name: other}}, last)
            result = run("export", "run", "-o", "m.py", "--weights", "w.safetensors")
            assert result.code == 1
            assert "error[NAS603]: cannot read `run/checkpoints/step-000000020.pt`: it does not belong" in result.err
