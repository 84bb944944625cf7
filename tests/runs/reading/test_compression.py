"""Reading compression runs, also with damaged files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bayesnas_graph.runs.layers import Share
from bayesnas_graph.runs.reading.compression import read_compression
from bayesnas_graph.runs.reading.run import read_run_record
from tests.runs.reading.compressions import RESULT, compression, layer, network, write_compression


def test_everything(tmp_path: Path) -> None:
    found = compression(tmp_path)
    assert found.whole is not None
    assert found.left is not None
    assert found.rival is not None
    assert (found.whole.operations, found.left.operations, found.rival.operations) == (8000, 2000, 1900)
    assert found.left.error == pytest.approx(4.0)
    assert found.left.latency == {1: 0.002}
    assert found.cut == 50.0
    assert [row["epoch"] for row in found.rival_rows] == [1, 2]
    kept, gone = found.layers
    assert kept.groups == {"filter": Share(3, 8), "channel": Share(3, 4)}
    assert (kept.is_gone, gone.is_gone) == (False, True)
    assert str(gone.operations) == "0/8,000"


def test_the_error_of_a_loop_is_that_of_the_next_training(tmp_path: Path) -> None:
    # One dense epoch, then two for each loop. The third loop ends with epoch 7, and trains what the second has left.
    errors = [loop.error for loop in compression(tmp_path, epochs=1, loops=3).loops]
    assert errors[:2] == pytest.approx([5.0, 7.0])
    assert errors[2] is None  # the next epochs are those of the fine tuning


def test_loops_have_sizes(tmp_path: Path) -> None:
    first, second = compression(tmp_path).loops
    assert (first.number, first.operations, first.groups, first.intensity) == (1, 7000, 99, 0.1)
    assert second.operations == 6000


def test_a_compression_that_has_just_started(tmp_path: Path) -> None:
    paths = write_compression(tmp_path)
    for name in ("result.json", "layers.json", "loops.csv", "rival.csv", "metrics.csv"):
        (tmp_path / name).unlink()
    found = read_compression(read_run_record(paths))
    assert (found.loops, found.layers, found.rival_rows) == ((), (), ())
    assert (found.whole, found.left, found.rival, found.cut) == (None, None, None, None)


@pytest.mark.parametrize(
    "whole",
    [None, [], "text", {}, {**network(1, 1), "operations": "many"}, {**network(1, 1), "latency": [3]}],
    ids=["none", "list", "text", "empty", "words", "latency"],
)
def test_damaged_networks_are_none(tmp_path: Path, whole: Any) -> None:
    found = compression(tmp_path, result={**RESULT, "whole": whole})
    assert found.whole is None
    assert found.left is not None


@pytest.mark.parametrize("cut", [None, [], "text", {}, {"accuracy": "good"}])
def test_a_damaged_score_is_none(tmp_path: Path, cut: Any) -> None:
    assert compression(tmp_path, result={**RESULT, "cut": cut}).cut is None


def test_infinite_values_are_missing(tmp_path: Path) -> None:
    paths = write_compression(tmp_path)
    text = json.dumps({**RESULT, "left": {**network(1, 1), "accuracy": 17}}).replace("17", "1e999")
    paths.result.write_text(text)
    (tmp_path / "layers.json").write_text(json.dumps([layer("a"), layer("b", 5)]).replace("72", "1e999", 1))
    found = read_compression(read_run_record(paths))
    assert found.left is None
    assert [one.name for one in found.layers] == ["b"]


@pytest.mark.parametrize("damage", [{"name": "x"}, None, 3, {**layer("x"), "groups": 3}, {**layer("x"), "outputs": []}])
def test_damaged_layers_are_skipped(tmp_path: Path, damage: object) -> None:
    assert [one.name for one in compression(tmp_path, layers=[damage, layer("a")]).layers] == ["a"]


@pytest.mark.parametrize("text", ["", "{", "3", "[NaN]", '{"a": 1}'])
def test_damaged_files(tmp_path: Path, text: str) -> None:
    paths = write_compression(tmp_path)
    for name in ("result.json", "layers.json", "loops.csv", "rival.csv"):
        (tmp_path / name).write_text(text)
    found = read_compression(read_run_record(paths))
    assert (found.whole, found.layers, found.loops, found.rival_rows) == (None, (), (), ())
