"""Searches compared with random architectures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import against_random
from benchmarks.record import Record


def made_up(case: str, seed: int, accuracy: float, others: list[float]) -> dict[str, Any]:
    return {
        "case": case,
        "strategy": "bayes",
        "seed": seed,
        "accuracy": accuracy,
        "parameters": 1000,
        "random": others,
        "random_parameters": [900, 1200],
        "kept": ["a", "b"] if seed else ["a", "b", "c", "d"],
        "search_minutes": 1.2,
    }


def test_a_row_for_each_case() -> None:
    rows = [
        made_up("tree_cell", 0, 0.75, [0.5, 0.25]),
        made_up("quickstart", 1, 0.5, [0.75, 0.25]),
        made_up("quickstart", 0, 0.75, [0.5, 0.5]),
    ]
    record = Record.begin("against_random", "a command", against_random.KEY).with_rows(rows)
    _, _, *lines = against_random.table(record).splitlines()
    first, second = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    accuracies = ["62.5 (50.0-75.0)", "50.0 (50.0-50.0)", "62.5 (50.0-75.0)"]
    assert first == ["quickstart", "bayes", "2", *accuracies, "3 of 4", "1,000", "1,050", "0.50", "1"]
    assert second[:7] == ["tree_cell", "bayes", "1", "75.0", "37.5", "50.0", "2 of 2"]
    assert "<svg" in against_random.picture(record)


def test_a_search_and_its_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    """A real one, made short."""
    short = {"warmup": 1, "steps": 3, "iterations": 2, "finish": 0, "curvature_batches": 1}
    case = replace(against_random.CASES["quickstart"], settings=short)
    monkeypatch.setattr(against_random, "CASES", {"quickstart": case})
    monkeypatch.setattr(against_random, "STEPS", 2)
    monkeypatch.setattr(against_random, "RANDOM", 3)
    found = against_random.row("quickstart", "bayes", 0, Path("data"))
    assert (found["case"], found["strategy"], found["among"]) == ("quickstart", "bayes", "requirements")
    assert len(found["random"]) == len(found["random_parameters"]) == 3
    assert all(0 < parameters < 20_000 for parameters in (found["parameters"], *found["random_parameters"]))
    assert 0 <= found["accuracy"] <= 1
    assert found["kept"]
