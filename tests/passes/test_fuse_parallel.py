"""Equal operations of a cell that do not depend on each other become one wide operation on a GPU."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from bayesnas_graph import passes
from bayesnas_graph.ir import Graph
from tests.equivalence import assert_same_function
from tests.helpers import graph
from tests.passes.cases import check_golden, golden, options

GPU = passes.Options(device="cuda")


@pytest.mark.parametrize("case", golden("fuse_parallel"), ids=lambda path: path.stem)
def test_golden(case: Path, update_golden: bool) -> None:
    check_golden(case, lambda graph, settings: passes.fuse_parallel(graph, options(settings)), update_golden)


def in_a_cell(statements: str, others: str = "") -> Graph:
    """The graph of a cell that is used twice."""
    cell = f"cell c {{ in x {statements} }}"
    return graph(f"{others} {cell} network n : image(4, 8, 8) -> image(4, 8, 8) {{ in x x -> out : c > relu > c }}")


def kinds(found: Graph) -> Counter[str]:
    return Counter(node.op.name for node in found)


def test_nothing_changes_on_a_cpu() -> None:
    before = in_a_cell("x -> out : depthwise(3) > bn x -> out : depthwise(5) > bn")
    assert passes.fuse_parallel(before) is before


def test_norms_of_any_values_are_one() -> None:
    convs = "x -> out : depthwise(3) > conv(4, 1) > bn x -> out : depthwise(5) > conv(4, 1) > bn"
    before = in_a_cell(f"{convs} x -> out : max_pool(3) > bn")
    after = passes.fuse_parallel(before, GPU)
    assert kinds(after)["bn"] == 2, "one in each cell"
    assert [node.op.settings()["groups"] for node in after if node.op.name == "conv"] == [2, 2]
    assert_same_function(before, after)


def test_what_needs_another_result_stays_apart() -> None:
    before = in_a_cell("node a = x : conv(4, 3) > bn node b = a : conv(4, 3) > bn a, b -> out")
    assert passes.fuse_parallel(before, GPU) is before


def test_whatever_follows_reads_wide_values_as_they_are() -> None:
    before = in_a_cell("node a = x : depthwise(3) node b = x : depthwise(5) a, b -> out : bn > tanh > bn")
    after = passes.fuse_parallel(before, GPU)
    assert (kinds(after)["concat"], kinds(after)["part"]) == (2, 4)
    assert_same_function(before, after)


def test_repeated_values_are_repeated_once() -> None:
    statements = "node p = x : tanh node q = x : relu node h[3] p, q -> h : depthwise(3) > conv(4, 1) > bn h -> out"
    before = in_a_cell(statements)
    siblings = passes.fuse_siblings(before, GPU)
    after = passes.fuse_parallel(siblings, GPU)
    assert kinds(siblings)["repeated"] == 4
    assert (kinds(after)["repeated"], kinds(after)["depthwise"]) == (0, 2)
    assert_same_function(before, after)


def test_cells_stay_apart() -> None:
    types = "image(4, 8, 8) -> image(4, 8, 8)"
    before = graph(f"cell c {{ in x x -> out : conv(4) }} network n : {types} {{ in x node h[2] = x : c h -> out }}")
    assert passes.fuse_parallel(before, GPU) is before


def test_operations_outside_cells_stay_apart() -> None:
    before = graph("network n : image(4, 8, 8) -> image(4, 8, 8) { in x x -> out : tanh > bn x -> out : relu > bn }")
    assert passes.fuse_parallel(before, GPU) is before


def test_paths_through_inner_cells_count() -> None:
    """The second norm needs the first, by way of the inner cell."""
    inner = "cell inner { in x x -> out : tanh }"
    before = in_a_cell("node a = x : bn node b = a : inner > bn a, b -> out", inner)
    assert passes.fuse_parallel(before, GPU) is before


def test_motifs_with_several_outputs_are_dissolved() -> None:
    """One of its outputs is needed for a wide operation that its other output needs."""
    pair = "motif pair { in a, b node p = a : tanh > bn node q = b : tanh > conv(4, 1) out p, q }"
    statements = "node p, q = pair(x, x) node r = p : relu > bn node s = x : relu > bn p, q, r, s -> out"
    before = in_a_cell(statements, pair)
    after = passes.fuse_parallel(before, GPU)
    assert not any(scope.kind == "pair" for scope in after.scopes)
    assert_same_function(before, after)


def test_shared_weights_keep_their_order() -> None:
    statements = "share w = bn node a = x : tanh > w node b = x : relu > w a, b -> out : conv(4)"
    before = in_a_cell(statements)
    assert passes.fuse_parallel(before, GPU) is before
