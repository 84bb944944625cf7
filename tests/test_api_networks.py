"""Networks that are already loaded, wherever the API takes a file; and results with their tables."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from bayesnas_graph import api
from bayesnas_graph.diagnostics import NasError
from tests.search.spaces import SHORT, TINY
from tests.test_api import COMPRESS
from tests.train.compress.small import LENET

SETTINGS: dict[str, Any] = {**SHORT, "threads": 1}
TRAIN: dict[str, Any] = {"data": SETTINGS["data"], "epochs": 1, "batch": 20, "cutout": 2, "threads": 1}
SECOND = LENET.replace("network lenet", "network second(width = 3)").replace("conv(8,", "conv(width,")
TWO = f"{LENET}\n{SECOND}"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.nas").write_text(TINY)
    return tmp_path


def recorded(path: Path) -> tuple[str, dict[str, Any]]:
    """The network of a run and its parameters."""
    run = json.loads((path / "run.json").read_bytes())
    return run["network"], run["config"]["parameters"]


def test_searching_a_network_is_searching_its_file(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = api.load("tiny.nas", width=6)
    found = api.search(network, output="loaded", **SETTINGS)
    again = api.search("tiny.nas", output="file", parameters={"width": 6}, **SETTINGS)
    assert found.outcome.decision == again.outcome.decision
    assert recorded(found.path) == recorded(again.path) == ("net", {"width": 6})
    assert api.search(resume=found.path, allow_python=True).outcome.decision == found.outcome.decision
    (here / "tiny.toml").write_text("[parameters]\nwidth = 8\n")
    assert recorded(api.search(network, **SETTINGS).path) == ("net", {"width": 6})
    assert recorded(api.search(api.load("tiny.nas"), **SETTINGS).path) == ("net", {})
    monkeypatch.setattr("bayesnas_graph.runs.sweep.task.run_to_end", lambda *_, **__: None)
    swept = api.sweep(api.load("tiny.nas"), axes={"lambda": [0.5, 0.6]}, allow_python=True, **SETTINGS)
    assert swept.request.settings["parameters"] == {}
    assert swept.request.settings["network"] == "net"


def test_texts_and_other_values_of_parameters() -> None:
    text = TINY.replace("(width = 4)", "(width = 4, part = 0.5, sizes = [1, 2])")
    network = api.load(text=text, name="mine.nas", part=1 / 4, sizes=[3])
    found = api.search(network, **SETTINGS)
    assert recorded(found.path) == ("net", {"part": "1/4", "sizes": [3]})
    assert found.path == Path("runs/mine-1")
    assert found.network.arguments == network.arguments
    sample = api.sample(network).drawn[0]
    assert api.derive(network, keep=sample.switches).cost.parameters == sample.parameters
    with pytest.raises(NasError, match="is a network, not a run folder"):
        api.derive(network)


def test_networks_are_trained_compressed_and_measured() -> None:
    Path("two.nas").write_text(TWO)
    network = api.load("two.nas", "second", width=4)
    trained = api.train(network, output="trained", **TRAIN)
    assert recorded(trained.path) == ("second", {"width": 4})
    smaller = api.compress(network, output="smaller", **{**COMPRESS, "loops": 1})
    assert recorded(smaller.path) == ("second", {"width": 4})
    assert api.evaluate(network, runs=1).network == "second"
    assert api.export(network).graph.name == "second"

    assert [row["epoch"] for row in trained.metrics] == [1]
    assert trained.metrics[0]["test_accuracy"] == pytest.approx(trained.outcome.score.accuracy, abs=1e-5)
    assert [row["loop"] for row in smaller.loops] == [1]
    assert smaller.loops[-1]["parameters"] == smaller.outcome.left.size.parameters
    assert len(smaller.metrics) == 3


def test_the_tables_of_a_search() -> None:
    found = api.search("tiny.nas", **SETTINGS)
    with (found.path / "metrics.csv").open() as file:
        assert [int(row["step"]) for row in csv.DictReader(file)] == [row["step"] for row in found.metrics]
    assert [row["iteration"] for row in found.updates] == [1, 2, 3]
    assert found.updates[-1]["lambda"] == 0.5
    kept = {verdict.name for verdict in found.outcome.decision.verdicts if verdict.keep}
    assert {row["switch"] for row in found.switches if row["iteration"] == 3 and row["keep"]} == kept
    assert found.finalists == []


def test_what_is_loaded_is_what_runs(here: Path) -> None:
    (here / "part.nas").write_text("motif part { in x  x -> out : conv() }\n")
    (here / "whole.nas").write_text('import "part.nas"\n' + TINY.replace("identity", "part"))
    network = api.load("whole.nas")
    (here / "part.nas").write_text("motif part { in x  x -> out : conv() > relu }\n")
    with pytest.raises(NasError, match=r"part.nas` has changed since `net` was loaded"):
        api.search(network, **SETTINGS)
    api.search(api.load("whole.nas"), **SETTINGS)
    (here / "tiny.nas").write_text(TINY)
    with pytest.raises(TypeError, match="has its own `parameters`"):
        api.search(api.load("tiny.nas"), parameters={"width": 3}, **SETTINGS)
    with pytest.raises(TypeError, match="has its own `network`"):
        api.evaluate(api.load("lenet5"), network="lenet5")
    assert not [*Path("runs").glob("tiny*")]


def test_results_are_trained_and_exported() -> None:
    found = api.search("tiny.nas", **SETTINGS)
    trained = api.train(found, output="trained", **TRAIN)
    assert not json.loads(Path("trained/run.json").read_bytes())["python_ops"]
    assert trained.network.arguments == api.derive(found).written.network.arguments
    by_result, by_folder = api.export(trained), api.export(trained.path, allow_python=True)
    assert by_result.program.text == by_folder.program.text
    api.export(found, weights="found.safetensors")
    assert Path("found.safetensors").is_file()
