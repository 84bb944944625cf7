"""Ablations of the strategy `bayes`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bayesnas_graph import bayes
from bayesnas_graph.search.strategies import bayes as strategy
from benchmarks import worth_ablations
from benchmarks.record import Record
from benchmarks.truth import History

SMALL = {"width": 4, "cells": 1, "stride": 2, "channels": 1, "size": 8}
SHORT: dict[str, Any] = {
    "data": "digits",
    "batch": 16,
    "warmup": 1,
    "steps": 2,
    "iterations": 2,
    "finish": 0,
    "crop": 0,
    "flip": False,
    "threads": 1,
    "parameters": SMALL,
}


@pytest.mark.parametrize(
    "name", [worth_ablations.WHOLE, "one in four closed at a time", "candidates like zero switches"]
)
def test_a_search(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real one, made short. What a variant changes is as before afterwards."""
    before = (strategy.SHARE, bayes.in_units)
    monkeypatch.setattr(worth_ablations, "SHORTER", SHORT)
    found = worth_ablations.row(name, 1, Path("data"))
    assert (found["variant"], found["seed"], len(found["after_updates"])) == (name, 1, 2)
    assert 1 <= found["rank"] <= 15_625
    assert (strategy.SHARE, bayes.in_units) == before


def test_variants_change_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing more at a time has closed more by the second update."""
    monkeypatch.setattr(worth_ablations, "SHORTER", {**SHORT, "steps": 4})
    read, closed = History.read, []

    def count(run: Path) -> History:
        history = read(run)
        closed.append(int((history.updates[-1]["worth"][:, :-1] == -float("inf")).sum()))
        return history

    monkeypatch.setattr(History, "read", count)
    for name in (worth_ablations.WHOLE, "one in four closed at a time"):
        worth_ablations.row(name, 1, Path("data"))
    assert closed[0] < closed[1]


def test_a_row_for_each_variant() -> None:
    rows = [
        {
            "variant": name,
            "seed": seed,
            "accuracy": 90.0 + seed,
            "rank": 9 - seed,
            "cell": "|none~0|",
            "after_updates": [90],
        }
        for name in ("only the last look counts", worth_ablations.WHOLE)
        for seed in (0, 1)
    ]
    record = Record.begin("worth_ablations", "a command", ("variant", "seed")).with_rows(rows)
    lines = worth_ablations.table(record).splitlines()
    assert lines[2] == "| as it is | 2 | 90.50 | 90.00 | 9, 8 | 90.00 | 100% of edges |"
    assert lines[3].startswith("| only the last look counts")
