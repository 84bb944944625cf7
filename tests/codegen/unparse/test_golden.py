"""Shipped networks and pruned shipped spaces must unparse to the files in tests/codegen/unparse/golden.

`pytest --update-golden` rewrites them; read the diff before committing: the files should be pleasant to read.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bayesnas_graph.codegen.unparse import unparse
from bayesnas_graph.passes import plain
from tests.codegen.unparse.graphs import derived, shipped

GOLDEN = Path(__file__).parent / "golden"

CASES: dict[str, tuple[str, str, dict[str, int], float]] = {
    "resnet18_cifar": ("resnet18_cifar", "resnet18", {}, 0),
    "darts_v2": ("darts_v2", "darts_v2", {}, 0),
    "densenet": ("densenet", "densenet_bc_100_12", {}, 0),
    "lenet5": ("lenet5", "lenet5", {}, 0),
    "darts": ("darts", "search", {"cells": 8}, 0.85),
    "nasbench201": ("nasbench201", "search", {}, 0.7),
    "quickstart": ("quickstart", "digits", {}, 0.7),
    "proxyless_mobile": ("proxyless_mobile", "search", {}, 0.8),
    "tree_cell": ("tree_cell", "search", {"blocks": 1}, 0.9),
    "hierarchical": ("hierarchical", "search", {}, 0.85),
}


@pytest.mark.parametrize("case", CASES)
def test_golden(case: str, update_golden: bool) -> None:
    name, network, overrides, share = CASES[case]
    graph = shipped(name, network, **overrides)
    actual = unparse(derived(graph, 3, share) if graph.gates else plain(graph))
    path = GOLDEN / f"{case}.nas"
    if update_golden:
        path.write_text(actual, encoding="utf-8")
    assert actual == path.read_text(encoding="utf-8")
