"""The unparsed text gives the same graph, and unparsing that graph gives the same text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from bayesnas_graph.codegen.unparse import correspondence, unparse
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.json import fingerprint
from bayesnas_graph.passes import plain
from bayesnas_graph.passes.analysis import cost
from tests.codegen.unparse.graphs import derived, disordered, fixed, live, shipped, tangled
from tests.helpers import check, formatted

FIXED = [
    ("lenet300", "lenet300"),
    ("lenet5", "lenet5"),
    ("resnet18_cifar", "resnet18"),
    ("densenet", "densenet_bc_100_12"),
    ("darts_v2", "darts_v2"),
    ("nasbench201", "all_conv3x3"),
    ("nasbench201", "all_skip"),
]
SEARCHED: list[tuple[str, str, dict[str, int], float]] = [
    ("quickstart", "digits", {}, 0.5),
    ("darts", "search", {"cells": 5, "width": 4}, 0.6),
    ("darts_imagenet", "search", {"cells": 4, "width": 4}, 0.8),
    ("densenet", "search", {}, 0.4),
    ("nasbench201", "search", {"cells": 2}, 0.5),
    ("proxyless_mobile", "search", {}, 0.6),
    ("tree_cell", "search", {"blocks": 1}, 0.8),
    ("hierarchical", "search", {}, 0.85),
]


def assert_same(graph: Graph) -> Graph:
    """Check all properties and return the graph read back. The only warning allowed is an unused input."""
    text = unparse(graph)
    assert formatted(text) == text
    space, diagnostics = check(text)
    assert [diagnostic.code for diagnostic in diagnostics if diagnostic.code != "NAS306"] == []
    unread = {edge.source for edge in graph.edges}.union(graph.outputs).issuperset(_inputs(graph))
    assert not (unread and diagnostics)
    (network,) = space.networks
    again = network.graph()
    assert fingerprint(again) == fingerprint(graph)
    assert cost(again) == cost(graph)
    pairs = correspondence(graph, again)
    assert set(pairs) == {node.name for node in graph}
    assert set(pairs.values()) == {node.name for node in again}
    assert unparse(again) == text
    return again


def _inputs(graph: Graph) -> set[str]:
    return {node.name for node in graph if node.op.name == "input"}


@pytest.mark.parametrize(("name", "network"), FIXED)
def test_shipped_networks(name: str, network: str) -> None:
    assert_same(plain(shipped(name, network)))


@pytest.mark.parametrize(("name", "network", "overrides", "share"), SEARCHED)
def test_what_is_left_of_shipped_spaces(name: str, network: str, overrides: dict[str, int], share: float) -> None:
    assert_same(derived(shipped(name, network, **overrides), 1, share))


@settings(max_examples=30)
@given(graph=fixed())
def test_what_is_left_of_random_programs(graph: Graph) -> None:
    assert_same(graph)


@given(graph=tangled())
def test_random_graphs(graph: Graph) -> None:
    assert_same(live(graph))


@settings(max_examples=30)
@given(graph=tangled())
def test_what_reaches_no_output_is_left_out(graph: Graph) -> None:
    assert unparse(graph) == unparse(live(graph)) or len(_inputs(live(graph))) < len(_inputs(graph))


@settings(max_examples=60)
@given(graph=disordered())
def test_no_name_can_break_out(graph: Graph) -> None:
    assert_same(live(graph))
