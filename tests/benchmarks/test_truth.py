"""Searches compared with the accuracies of NAS-Bench-201."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayesnas_graph import api
from bayesnas_graph.language.notations.nasbench201 import Cell, parse_cell
from benchmarks import nasbench201, truth
from benchmarks.record import Record
from benchmarks.truth import OPERATIONS, History, Truth, agreement, best_cell, correlation

BEST = "|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+|skip_connect~0|nor_conv_3x3~1|nor_conv_1x1~2|"
SMALL = {"width": 4, "cells": 1, "stride": 2, "channels": 1, "size": 8}


@pytest.fixture(scope="module")
def table() -> Truth:
    return Truth.load()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short search with the default strategy."""
    folder = tmp_path_factory.mktemp("truth") / "run"
    settings: dict[str, Any] = {
        "data": "digits",
        "batch": 16,
        "warmup": 1,
        "steps": 2,
        "iterations": 2,
        "finish": 0,
        "finalists": 2,
        "finalist_steps": 2,
        "threads": 1,
    }
    api.search("nasbench201", output=folder, parameters=SMALL, **settings)
    return folder


def scores_of(cell: str) -> truth.Scores:
    """Scores that prefer this cell."""
    scores = np.zeros((6, 5))
    for edge, name in enumerate(parse_cell(cell).operations):
        scores[edge, OPERATIONS.index(name)] = 1
    return scores


def test_the_table_is_that_of_the_benchmark(table: Truth) -> None:
    assert len(table.accuracies) == 15_625
    assert len({tuple(cell) for cell in table.cells.tolist()}) == 15_625
    best = parse_cell(BEST)
    assert (table.accuracy(best), table.rank(best)) == (91.607, 1)
    percentiles = np.percentile(table.accuracies, (50, 90, 99, 99.9))
    assert percentiles.tolist() == pytest.approx([87.31, 89.65, 90.97, 91.37], abs=0.01)


def test_the_best_candidates_make_a_cell() -> None:
    assert str(best_cell(scores_of(BEST))) == BEST
    closed = scores_of(BEST)
    closed[0, :-1] = -np.inf
    assert best_cell(closed).operations[0] == "none"


def test_a_sum_of_true_effects_correlates(table: Truth) -> None:
    """Of every operation on every edge, the mean accuracy of the cells that have it."""
    means = [[table.accuracies[table.cells[:, e] == o].mean() for o in range(5)] for e in range(6)]
    effects = np.array(means) - table.accuracies.mean()
    assert table.correlation(effects) > 0.6
    assert table.correlation(-effects) == pytest.approx(-table.correlation(effects))
    assert table.correlation(np.zeros((6, 5))) == 0


def test_ties_share_their_rank() -> None:
    assert correlation(np.array([1.0, 1.0, 2.0]), np.array([5.0, 5.0, 9.0])) == pytest.approx(1)
    assert correlation(np.array([1.0, 1.0, 2.0]), np.array([9.0, 9.0, 5.0])) == pytest.approx(-1)


def test_a_run_is_read(run: Path, table: Truth) -> None:
    history = History.read(run)
    assert len(history.updates) == 2
    assert set(history.updates[0]) == set(truth.RANKINGS)
    assert history.derived is not None
    assert str(history.derived) == api.derive(run).string
    assert len(history.finalists) == 2
    assert history.derived in [cell for cell, _ in history.finalists]
    assert truth.finalists_table(table, history).count("`|") == 2
    shown = truth.table(table, history)
    assert shown.count("\n") == 4
    assert "100%" in agreement([history, history])


def test_a_table_of_an_older_version_has_fewer_rankings(run: Path, tmp_path: Path) -> None:
    for name in ("outline.json", "decision.json"):
        (tmp_path / name).write_bytes((run / name).read_bytes())
    lines = (run / "switches.csv").read_text().splitlines()
    (tmp_path / "switches.csv").write_text("".join(f"{','.join(line.split(',')[:10])}\n" for line in lines))
    history = History.read(tmp_path)
    assert set(history.updates[0]) == {"gamma", "w^2 h"}


def test_the_course_of_searches_in_a_table() -> None:
    some = [
        {
            "strategy": name,
            "finalists": finalists,
            "seed": seed,
            "accuracy": 90.0 + seed,
            "rank": 1000 - seed,
            "cell": BEST,
            "after_updates": [80.0 + seed, 1, 1, 90.0 + seed],
            "compared": [{"accuracy": 89.0, "loss": 1.0}] if finalists else [],
            "minutes": 7.0,
        }
        for name, finalists in (("bayes", 6), ("darts", 0))
        for seed in (0, 1)
    ]
    record = Record.begin("nasbench201", "a command", nasbench201.KEY).with_rows(some)
    lines = nasbench201.table(record).splitlines()
    assert "| bayes | 6 | 2 | 90.50 | 90.00 | 91.00 | 89.00 | 1,000, 999 | 100% of edges | 7 |" in lines
    assert "| darts | 0 | 2 | 90.50 | 90.00 | 91.00 |  | 1,000, 999 | 100% of edges | 7 |" in lines
    assert {"| darts | 1 | 80.50 | 80.00 |", "| darts | 4 | 90.50 | 90.00 |"} < set(lines)
    shown = nasbench201.picture(record)
    assert ">darts<" in shown
    assert ">bayes, 6 finalists<" in shown


def test_a_row_of_the_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole search by the command line, made short."""
    short = {"data": "digits", "batch": 16, "warmup": 1, "steps": 2, "iterations": 2, "finish": 0, "crop": 0}
    small = {f"parameters.{name}": value for name, value in SMALL.items()}
    monkeypatch.setitem(nasbench201.SETTINGS, "darts", {**short, **small})
    found = nasbench201.row("darts", 2, 3, Path("data"))
    assert (found["strategy"], found["finalists"], found["seed"]) == ("darts", 2, 3)
    assert len(found["after_updates"]) == len(found["correlations"]) == len(found["compared"]) == 2
    assert found["accuracy"] in [finalist["accuracy"] for finalist in found["compared"]]


def test_the_command(run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["truth", str(run), str(run)])
    truth.main()
    printed = capsys.readouterr().out
    assert "mean of 2 derived cells" in printed
    assert Cell(("none",) * 6) != History.read(run).derived
