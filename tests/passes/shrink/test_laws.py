"""Properties of shrinking, on random graphs and shipped spaces with random zeros."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesnas_graph.derive.text import written
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes import plain
from bayesnas_graph.passes.analysis import cost
from tests.codegen.export.networks import EVERYTHING, nasbench201, small_resnet
from tests.codegen.unparse.graphs import derived, fixed, live, shipped, tangled
from tests.helpers import check, formatted, graph
from tests.passes.shrink.networks import assert_shrunk, dead, grown, whole, zeroed

SEEDS = st.integers(0, 2**32 - 1)


@settings(max_examples=60)
@given(found=grown(), seed=SEEDS)
def test_random_graphs_of_every_operation(found: Graph, seed: int) -> None:
    assert_shrunk(found, zeroed(found, seed))


@settings(max_examples=30)
@given(found=tangled(), seed=SEEDS)
def test_random_graphs(found: Graph, seed: int) -> None:
    assert_shrunk(live(found), zeroed(live(found), seed))


@settings(max_examples=20)
@given(found=fixed(), seed=SEEDS)
def test_what_is_left_of_random_programs(found: Graph, seed: int) -> None:
    assert_reads_again(assert_shrunk(found, zeroed(found, seed)).graph)


@settings(max_examples=10)
@given(found=grown())
def test_nothing_but_zeros(found: Graph) -> None:
    tensors = whole(found)
    for node in tensors:
        dead(tensors, node)
    assert_shrunk(found, tensors)


@pytest.mark.parametrize("name", ["resnet18_cifar", "lenet5"])
def test_without_zeros_nothing_changes(name: str) -> None:
    found = plain(small_resnet() if name == "resnet18_cifar" else shipped(name, name))
    left = assert_shrunk(found, whole(found))
    assert left.graph == found
    assert all(map(all, left.kept.values()))


def assert_reads_again(left: Graph) -> None:
    """The text is valid, formatted, and gives the same graph."""
    text = written(left, "Shrunken.", {})
    assert set(text.names) == {node.name for node in left}
    assert [d.code for d in check(text.text)[1] if d.code != "NAS306"] == []  # which says that nothing reads an input
    assert formatted(text.text) == text.text


SHIPPED: dict[str, Callable[[], Graph]] = {
    "lenet300": lambda: shipped("lenet300", "lenet300"),
    "lenet5": lambda: shipped("lenet5", "lenet5"),
    "resnet": small_resnet,
    "densenet": lambda: derived(shipped("densenet", "search"), 1, 0.2),
    "densenet_bc": lambda: shipped("densenet", "densenet_bc_100_12"),
    "darts_v2": lambda: shipped("darts_v2", "darts_v2"),
    "all_skip": lambda: shipped("nasbench201", "all_skip"),
    "all_conv3x3": nasbench201,
    "quickstart": lambda: shipped("quickstart", "digits"),
    "darts": lambda: derived(shipped("darts", "search", cells=3, width=4), 1, 0.5),
    "hierarchical": lambda: derived(shipped("hierarchical", "search"), 1, 0.85),
    "tree_cell": lambda: derived(shipped("tree_cell", "search", blocks=1), 1, 0.8),
    "everything": lambda: graph(EVERYTHING),
}


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_spaces(name: str) -> None:
    found = plain(SHIPPED[name]())
    left = assert_shrunk(found, zeroed(found, 3))
    assert cost(left.graph).parameters < cost(found).parameters
    assert_reads_again(left.graph)
