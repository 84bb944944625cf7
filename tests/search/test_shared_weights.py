"""Spaces with shared weights, from search to export."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from bayesnas_graph import api
from bayesnas_graph.passes import plain
from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.runs.loop import Interrupted
from bayesnas_graph.train.compress.groups import groups_of
from tests.cli.conftest import Run
from tests.cli.conftest import run as run
from tests.conftest import ROOT
from tests.helpers import network
from tests.search.runs import assert_same, checkpoints
from tests.search.spaces import asked_often, problem, search, searched

# Two views of an image, one of them at half the resolution, seen by the same tower.
SIAMESE = """
motif block(width) {
    in x
    x -> out : bn > relu > choose { conv(width), conv(width, 5), max_pool(3) }
    x -> out
}

network net : image(1, 8, 8) -> classes(10) {
    in x
    share tower = conv(6) > block(6) > bn > relu > block(6)
    node u = x : tower > global_avg_pool
    node v = x : avg_pool(2, 2) > tower > global_avg_pool
    concat(u, v) -> out : linear(10)
}
"""
# A stage at one of three resolutions.
RESOLUTION = """
network net : image(1, 8, 8) -> classes(10) {
    in x
    share stage = conv(4) > bn > relu > conv(4)
    node stem = x : conv(4)
    node y = stem : choose exactly 1 {
        full = stage,
        half = resize(4, 4) > stage > resize(8, 8),
        quarter = resize(2, 2) > stage > resize(8, 8),
    }
    y -> out : global_avg_pool > linear(10)
}
"""
QUICK = ("--data", "digits", "-s", "warmup=2", "-s", "iterations=2", "-s", "steps=3", "-s", "finish=1")
ALONE = """
import sys, torch
import model
network = model.{name}().eval()
from safetensors.torch import load_file
network.load_state_dict(load_file("model.safetensors"))
assert network(torch.zeros(2, 1, 8, 8)).shape == (2, 10)
assert not any(name.startswith("bayesnas_graph") for name in sys.modules)
print(sum(p.numel() for p in network.parameters()))
"""


@pytest.mark.parametrize(
    ("space", "settings", "called", "name"),
    [
        ("net.nas", (), "self.tower", "Net"),
        # With all candidates on, a state grows from step to step; a mixture of them does not.
        ("darts_rnn", ("-p", "nodes=2", "-p", "width=6", "--strategy", "darts"), "self.recurrent", "Search"),
    ],
)
def test_from_search_to_export(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    space: str,
    settings: tuple[str, ...],
    called: str,
    name: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.nas").write_text(SIAMESE)
    result = run("search", space, *QUICK, *settings, "-s", "threads=1", "-o", "run")
    assert result.code == 0, result.err
    result = run("derive", "run", "-o", "derived")
    assert result.code == 0, result.err
    (text,) = (tmp_path / "derived").glob("*.nas")
    assert "share " in text.read_text()
    result = run("export", "run", "-o", "plain.py")
    assert result.code == 0, result.err
    source = (tmp_path / "plain.py").read_text()
    assert source.count(f"{called} = ") == 1
    assert source.count(f"{called}(") >= 2
    result = run("export", "run", "-o", "model.py", "--weights", "model.safetensors")
    assert result.code == 0, result.err
    derived = api.load(text).graph()
    environment = {"PYTHONPATH": str(tmp_path), "PATH": ""}
    command = [sys.executable, "-c", ALONE.format(name=name)]
    alone = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=True)
    assert int(alone.stdout) == cost(derived).parameters


def test_a_resumed_search_is_the_same(tmp_path: Path) -> None:
    expected, stops = searched(tmp_path / "whole", SIAMESE), 0
    while True:
        try:
            outcome = search(problem(SIAMESE), tmp_path / "stopped", stop=asked_often(4)).run()
            break
        except Interrupted:
            stops += 1
    assert stops >= 4
    assert outcome.decision == expected.decision
    last = sorted(checkpoints(tmp_path / "whole"))[-1]
    saved = [checkpoints(tmp_path / name)[last] for name in ("whole", "stopped")]
    for one in saved:
        del one["progress"]["first_loss"]  # the mean over the steps until the first stop
    assert_same(*saved)


def test_the_result_computes_what_the_search_found(tmp_path: Path) -> None:
    outcome = searched(tmp_path / "run", SIAMESE)
    supernet = outcome.learner.supernet
    (tmp_path / "net.nas").write_text(SIAMESE)
    x = torch.rand(2, 1, 8, 8)
    with torch.no_grad(), supernet.measuring() as module:
        torch.testing.assert_close(supernet.reference().eval()(x)[0], module(x))


@pytest.mark.parametrize(("kept", "flops"), [("full", 64), ("half", 16), ("quarter", 4)])
def test_resolutions_have_the_same_parameters_and_their_own_cost(kept: str, flops: int, tmp_path: Path) -> None:
    (tmp_path / "net.nas").write_text(RESOLUTION)
    architecture = api.derive(tmp_path / "net.nas", keep=[f"y.{kept}"])
    graph = architecture.written.graph
    assert cost(graph).parameters == 36 + 2 * 144 + 8 + 50
    assert cost(graph).flops == 64 * 36 + flops * 2 * 144 + 40
    assert sum(p.numel() for p in architecture.model().build().parameters()) == cost(graph).parameters


def test_a_resolution_is_searched(tmp_path: Path) -> None:
    outcome = searched(tmp_path, RESOLUTION, strategy="darts")
    assert sum(edge.gate is not None and not edge.gate.is_zero for edge in outcome.graph.edges) == 1
    assert cost(plain(outcome.graph)).parameters == 382


def test_shared_layers_are_not_compressed() -> None:
    graph = plain(network(SIAMESE).graph())
    layers = {groups.layer for groups in groups_of(graph, {"conv": "filter", "linear": "column"})}
    assert layers == {"linear"}


def test_shipped_space_has_the_published_number_of_cells() -> None:
    """Each node reads one of the nodes before it, with one of four activations: 8! * 4^8 cells."""
    from bayesnas_graph.passes.analysis.networks import networks  # a slow import

    graph = api.load(ROOT / "spaces" / "darts_rnn.nas").graph()
    assert networks(graph).count == 2_642_411_520
