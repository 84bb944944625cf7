"""Switches closed by lambda in the large spaces."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import closing
from benchmarks.record import Record

ROWS = [
    {"space": space, "lambda": value, "closed": closed, "switches": 24, "weights": 1000 - closed, "lost_outputs": 0}
    for space, closings in {"darts": (3, 5, 9), "densenet": (1, 2)}.items()
    for value, closed in zip(closing.LAMBDAS, closings, strict=False)
]


def test_a_row_for_each_space() -> None:
    record = Record.begin("closing", "a command", ("space", "lambda")).with_rows(reversed(ROWS))
    lines = closing.table(record).splitlines()
    assert "| `darts` | 24 | 3 | 5 | 9 | 997 | 995 | 991 |" in lines
    assert "| `densenet` | 24 | 1 | 2 |  | 999 | 998 |  |" in lines


def test_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """A real one, made short, on random shapes."""
    shorter = {"data": "shapes", "batch": 8, "warmup": 0, "steps": 1, "iterations": 1, "curvature_batches": 1}
    small = {"parameters": {"depth": 16, "growth": 4, "stride": 2}}
    monkeypatch.setattr(closing, "SHORT", {**closing.SHORT, **shorter, **small})
    found = closing.row("densenet", 0.05, Path("data"))
    assert (found["space"], found["lambda"], found["lost_outputs"]) == ("densenet", 0.05, 0)
    assert 0 <= found["closed"] < found["switches"]
