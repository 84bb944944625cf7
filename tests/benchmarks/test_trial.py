"""The comparison of strategies, on a small scale."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from bayesnas_graph.runs.strategies import STRATEGIES
from benchmarks import ablations, rivals, trial, tuning
from benchmarks.record import Record, Row, load
from benchmarks.runs import Run, make
from benchmarks.trial import Trial, parabola

CELLS = (
    "|none~0|+|nor_conv_3x3~0|none~1|+|none~0|none~1|avg_pool_3x3~2|",
    "|none~0|+|none~0|none~1|+|none~0|none~1|none~2|",
)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(trial.DATA, "digits", {"channels": 1, "size": 8, "crop": 1, "flip": False})
    for key, value in {"warmup": 2, "iterations": 1, "steps": 2, "samples": 2}.items():
        monkeypatch.setitem(trial.SEARCH, key, value)
    monkeypatch.setitem(trial.TRAIN, "steps", 2)


@pytest.mark.usefixtures("small")
def test_cells_are_compared_at_one_size(tmp_path: Path) -> None:
    threads = torch.get_num_threads()
    try:
        (row,) = Trial("digits", 0, {"strategy": "random"}).row(tmp_path)
        two = Trial("digits", 0).row(tmp_path, ("relevance", "magnitude"))
    finally:
        torch.set_num_threads(threads)
    for found in (row, *two):
        assert abs(found["weights"] - trial.WEIGHTS) < 0.08 * trial.WEIGHTS
        assert found["cell"].count("~") == 6
        assert 0 <= found["accuracy"] <= 1


def test_weights_are_a_parabola_of_the_width() -> None:
    assert parabola((4, 8, 12), [3 * w * w + 5 * w + 7 for w in (4, 8, 12)], 31) == pytest.approx(
        3 * 31**2 + 5 * 31 + 7
    )


class Told(Run):
    """A run that ends immediately."""

    def rows(self, data_dir: Path) -> list[Row]:
        return [{**key, "accuracy": 0.5, "cell": str(data_dir)} for key in self.keys]


def test_runs_are_made_once_and_stored_individually(tmp_path: Path) -> None:
    record = Record.begin("some", "a command", ("name", "seed"))
    runs = [Told(Trial("digits", seed), ({"name": "a", "seed": seed}, {"name": "b", "seed": seed})) for seed in (0, 1)]
    make(record, runs[:1], Path("first"), 1, tmp_path)
    make(record, runs, Path("second"), 2, tmp_path)
    found = load("some", tmp_path)
    assert [row["cell"] for row in found.where(seed=0)] == ["first", "first"]
    assert [row["cell"] for row in found.where(seed=1)] == ["second", "second"]


def test_the_best_value_is_taken() -> None:
    accuracies = {name: dict(zip(values, (0.5, 0.7, 0.6), strict=True)) for name, (_, values) in tuning.TRIED.items()}
    some = [
        {"strategy": name, "value": value, "accuracy": found}
        for name, of_values in accuracies.items()
        for value, found in of_values.items()
    ]
    record = tuning.begin().with_rows(some)
    taken = tuning.tuned(record)
    assert taken["darts"] == {"strategy": "darts", "logit_rate": 0.02}
    assert taken["bayesnas"] == {"strategy": "bayesnas", "lambda": 0.05}
    assert "| dso | lambda | 0.01: 50.00 | 0.03: 70.00 | 0.1: 60.00 | 0.03 |" in tuning.table(record)


def test_every_strategy_is_compared() -> None:
    assert set(tuning.FIXED) == set(tuning.TRIED) == set(STRATEGIES)
    made = [run.keys[0] for run in rivals.runs([0, 1], [1, 2], ["mnist"])]
    assert [key["seed"] for key in made if key["strategy"] == "drawn"] == [1, 2]
    for name in STRATEGIES:
        assert [key["seed"] for key in made if key["strategy"] == name] == [0, 1]


def rows(**key: str) -> list[dict[str, Any]]:
    numbers = {"weights": 12_000, "multiply_adds": 10**6, "at_width_8": 9000, "search_seconds": 50.0}
    return [
        {**key, "seed": seed, "accuracy": 0.5 + 0.1 * seed, "cell": cell, "closed": 3, "bridges": 1, **numbers}
        for seed, cell in enumerate(CELLS)
    ]


def test_strategies_in_a_table() -> None:
    some = [row for name in ("bayesnas", "drawn") for row in rows(data="mnist", strategy=name)]
    record = Record.begin("rivals", "a command", ("data", "strategy", "seed")).with_rows(some)
    _, _, first, second = rivals.table(record).splitlines()
    assert first == "| bayesnas | 55.00 (50.00-60.00) | 12,000 | 1.00 M | 67% of edges | 50 |"
    assert second.startswith("| drawn |")
    assert ">bayesnas<" in rivals.picture(record)


def test_ablations_in_a_table() -> None:
    some = [row for name in ("as it is", "gauge: none", "ranking: gamma") for row in rows(variant=name)]
    record = Record.begin("ablations", "a command", ("variant", "seed")).with_rows(some)
    lines = ablations.table(record).splitlines()[2:]
    assert [line.split(" | ")[0] for line in lines] == ["| as it is", "| gauge: none", "| ranking: gamma"]
    assert "| 55.00 (50.00-60.00) | 3.0 of 30 | 1.0 | 9,000 | 67% of edges | 50 |" in lines[0]
    assert ">gauge: none<" in ablations.picture(record)
