"""Compare the files of two runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bayesnas_graph.runs.tables import read_table


def is_row(line: str) -> bool:
    """Whether an output line reports completed steps."""
    return re.match(r"step +\d", line) is not None


def results(run: Path) -> dict[str, str]:
    """The final files of a search."""
    return {name: (run / name).read_text() for name in ("decision.json", "architecture.json", "result.json")}


def table(run: Path, name: str) -> list[dict[str, str]]:
    """A table of a run without timings."""
    return [{key: cell for key, cell in row.items() if key != "seconds"} for row in read_table(run / name)]


def checkpoints(folder: Path) -> dict[str, dict[str, Any]]:
    """The checkpoints of a folder, by name."""
    return {path.name: torch.load(path, weights_only=True) for path in sorted(folder.glob("step-*.pt"))}


def assert_same(one: Any, other: Any) -> None:
    """Assert bitwise equality."""
    assert type(one) is type(other)
    if isinstance(one, Tensor):
        assert one.dtype == other.dtype
        assert torch.equal(one, other)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        for key in one:
            assert_same(one[key], other[key])
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for first, second in zip(one, other, strict=True):
            assert_same(first, second)
    else:
        assert one == other


def assert_same_run(one: Path, other: Path, tables: tuple[str, ...] = ("metrics", "updates", "switches")) -> None:
    """Assert that two runs have the same result and the same history."""
    assert results(one) == results(other)
    for name in tables:
        assert table(one, f"{name}.csv")
        assert table(one, f"{name}.csv") == table(other, f"{name}.csv")
    assert_same(checkpoints(one / "checkpoints"), checkpoints(other / "checkpoints"))
    assert not list(other.rglob("*.part"))
