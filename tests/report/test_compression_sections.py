"""Compression runs on a page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bayesnas_graph.report.compression_sections import MAX_LAYER_RUNS, MAX_LAYERS, compression_sections
from bayesnas_graph.report.section import Section
from bayesnas_graph.runs.reading.compression import CompressionRecord
from tests.runs.reading.compressions import compression, layer


@pytest.fixture
def found(tmp_path: Path) -> CompressionRecord:
    return compression(tmp_path)


def by_key(*args: object, **runs: CompressionRecord) -> dict[str, Section]:
    return {section.key: section for section in compression_sections(runs)}


def test_one(found: CompressionRecord) -> None:
    parts = by_key(a=found)
    assert list(parts) == ["compression", "layers", "epochs"]
    keys = [[chart.key for chart in part.charts] for part in parts.values()]
    assert keys == [
        ["compression-error"],
        ["layers-groups", "layers-layer-weights", "layers-layer-operations"],
        ["epochs-loss", "epochs-accuracy"],
    ]


def test_networks_in_columns(found: CompressionRecord) -> None:
    body = by_key(a=found)["compression"].body
    row = "<td>{}</td>" + '<td class="number">{}</td>' * 3
    assert row.format("error", "3.00 %", "4.00 %", "10.00 %") in body
    assert row.format("error before the final training", "", "50.00 %", "") in body
    assert row.format("operations", "8,000", "2,000", "1,900") in body
    assert row.format("1 image", "2.0 ms", "2.0 ms", "2.0 ms") in body


def test_layers_in_rows(found: CompressionRecord) -> None:
    body = by_key(a=found)["layers"].body
    assert "filter 3/8, channel 3/4" in body
    assert "<td>gone</td>" in body
    assert "<details>" not in body


def test_many_layers_are_folded(tmp_path: Path) -> None:
    many = compression(tmp_path, layers=[layer(f"l{n}") for n in range(MAX_LAYERS + 1)])
    assert "<summary>All layers</summary>" in by_key(a=many)["layers"].body


def test_the_rival_is_trained_beside_it(found: CompressionRecord) -> None:
    loss = by_key(a=found)["epochs"].charts[0]
    assert {value["run"] for value in loss.spec["data"]["values"]} == {"a", "a, by magnitude"}
    loss = by_key(a=found, b=found)["epochs"].charts[0]
    assert {value["run"] for value in loss.spec["data"]["values"]} == {"a", "b"}


def test_several(tmp_path: Path) -> None:
    runs = {f"run-{n}": compression(tmp_path / str(n), seed=n) for n in range(2)}
    parts = by_key(**runs)
    assert parts["compression"].body.count("<td>run-1</td>") == 3
    assert "Layers of run-1" in parts["layers"].body
    lines = parts["compression"].charts[0].spec["layer"][0]["data"]["values"]
    assert len(lines) == 2  # seeds alone differ, so they are one point of each line


def test_other_settings_are_other_points(tmp_path: Path) -> None:
    runs = {f"run-{n}": compression(tmp_path / str(n), epochs=n) for n in range(2)}
    lines = by_key(**runs)["compression"].charts[0].spec["layer"][0]["data"]["values"]
    assert len(lines) == 4


def test_the_layers_of_many_runs_are_not_shown(found: CompressionRecord) -> None:
    part = by_key(**{f"r{n}": found for n in range(MAX_LAYER_RUNS + 1)})["layers"]
    assert part.charts == ()
    assert f"up to {MAX_LAYER_RUNS} runs" in part.body


def test_unfinished(found: CompressionRecord) -> None:
    begun = replace(found, left=None, rival=None, whole=None, cut=None, layers=())
    parts = by_key(a=begun)
    assert list(parts) == ["compression", "epochs"]
    assert "The run is not finished: 2 loops are done." in parts["compression"].body
    assert "1 of 2 compression runs are finished." in by_key(a=begun, b=found)["compression"].body
