"""Spaces with chosen numbers: every strategy chooses one option of each, and the result is a narrow network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from bayesnas_graph import api
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes import plain
from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.runs.strategies import STRATEGIES
from tests.conftest import ROOT
from tests.search.spaces import SHORT, problem, search, searched

NUMBERS = """
motif block(w, k = choose { 1, 3 }) {
    in x
    x -> out : conv(w, k) > bn > relu
}

network net : image(1, 8, 8) -> classes(10) {
    in x
    let w = choose { 2, 4, 6 }
    let d = choose { 0, 1, 2 }
    node stem = x : block(w) > avg_pool(2, 2)
    node y = stem : block(w) * d
    node z = y : block(2 * w, 3)
    concat(y, z) -> out : optional bn > global_avg_pool > linear(10)
}
"""
FEW: dict[str, Any] = {"iterations": 2, "steps": 4, "warmup": 2, "finish": 2, "gate_rate": 0.1}


def options(graph: Graph, number: str) -> list[str]:
    """The options of a number that are left."""
    return sorted({gate.label for gate in graph.gates if gate.number == number and not gate.home})


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_chooses_one(strategy: str, tmp_path: Path) -> None:
    outcome = searched(tmp_path, NUMBERS, strategy=strategy, **FEW)
    (width,), (depth,) = options(outcome.graph, "w"), options(outcome.graph, "d")
    assert not any(node.op.is_mask for node in outcome.graph)
    widths = [node.shape[0] for node in outcome.graph if node.op.name == "conv"]
    assert widths == [int(width)] * (1 + int(depth)) + [2 * int(width)]


@pytest.mark.parametrize("mode", ["proxy", "proxyless"])
def test_a_number_stays_one_number(mode: str, tmp_path: Path) -> None:
    outcome = searched(tmp_path, NUMBERS, mode=mode, **FEW)
    assert len(options(outcome.graph, "w")) == 1
    kernels = {gate.group for gate in outcome.graph.gates if gate.number == "k"}
    assert len(kernels) <= (1 if mode == "proxy" else 3)


@pytest.mark.parametrize("strategy", ["bayes", "darts"])
def test_a_target_is_met_by_narrower_networks(strategy: str, tmp_path: Path) -> None:
    given = problem(NUMBERS, strategy=strategy, target_params=200, **FEW)
    outcome = search(given, tmp_path).run()
    assert cost(plain(outcome.graph)).parameters <= 200


SMALL: dict[str, dict[str, int | str]] = {
    "nats_size": {"channels": 1, "size": 8},
    "nasbench_macro": {"width": 2, "last": 8, "channels": 1, "size": 8},
    "once_for_all": {"multiplier": "0.1", "stride": 1, "channels": 1, "size": 8, "labels": 10},
    "autoformer": {"width": 6, "head": 4, "fewest": 1, "patch": 2, "channels": 1, "size": 8, "labels": 10},
    "convnext": {"width": 2, "patch": 1, "channels": 1, "size": 8, "labels": 10},
}


@pytest.mark.parametrize("space", SMALL)
def test_shipped_spaces_from_search_to_export(space: str, tmp_path: Path) -> None:
    settings = SHORT | FEW | {"batch": 8, "iterations": 1, "strategy": "darts", "parameters": SMALL[space]}
    settings["intensity"] = settings.pop("lambda")
    found = api.search(ROOT / "spaces" / f"{space}.nas", output=tmp_path / "run", allow_python=True, **settings)
    architecture = api.derive(found, allow_python=True)
    assert not any(node.op.is_mask or node.op.is_choice for node in architecture.written.graph)
    x = torch.rand(2, 1, 8, 8)
    with torch.no_grad(), found.outcome.learner.supernet.measuring() as network:
        torch.testing.assert_close(architecture.model(weights=True).build().eval()(x), network(x))
