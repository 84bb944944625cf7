"""Equal operations on one value become one wide operation."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayesnas_graph import passes
from bayesnas_graph.passes.fuse_siblings import LARGEST_SIBLING
from tests.equivalence import assert_same_function
from tests.helpers import body, graph
from tests.passes.cases import check_golden, golden, options


@pytest.mark.parametrize("case", golden("fuse_siblings"), ids=lambda path: path.stem)
def test_golden(case: Path, update_golden: bool) -> None:
    check_golden(case, lambda graph, settings: passes.fuse_siblings(graph, options(settings)), update_golden)


def test_siblings_are_one_wide_convolution() -> None:
    before = graph(body("node h[4] = x : conv(5, 3) > bn > relu > depthwise(3) > conv(3, 1) > bn h -> out"))
    after = passes.fuse_siblings(before)
    wide = [(node.op.name, node.shape[0], getattr(node.op, "groups", 1)) for node in after][1:7]
    assert wide == [
        ("conv", 20, 1),
        ("bn", 20, 1),
        ("relu", 20, 1),
        ("depthwise", 20, 1),
        ("conv", 12, 4),
        ("bn", 12, 1),
    ]
    assert len(after) == 1 + 6 + 4 + 1
    assert after["conv_x4"].stands_for == (("h.0.conv",), ("h.1.conv",), ("h.2.conv",), ("h.3.conv",))
    assert_same_function(before, after)


def test_depthwise_siblings_read_their_input_once_each() -> None:
    before = graph(
        body("node h[3] = x : depthwise(3) > bn(false) > tanh > conv(6, 1, groups = 3) > conv(3, 1) h -> out")
    )
    after = passes.fuse_siblings(before)
    assert [node.op.name for node in after].count("repeated") == 1
    assert [node.op.groups for node in after if node.op.name == "conv"] == [9, 3]  # type: ignore[attr-defined]
    assert_same_function(before, after)


def test_siblings_part_where_they_differ() -> None:
    text = "node h[3] = x : conv(3) > bn h[0] -> out : relu > conv(3) h[1] -> out : relu > conv(3) h[2] -> out : tanh"
    before = graph(body(text))
    after = passes.fuse_siblings(before)
    assert [node.op.name for node in after].count("part") == 3
    assert [node.op.name for node in after].count("relu") == 2
    assert_same_function(before, after)


@pytest.mark.parametrize(
    "text",
    [
        "node a = x : conv(3) node b = x : conv(3, 5) a, b -> out",  # not equal
        "node a = x : conv(3) node b = x : conv(3) a, b -> out",  # wide, it would be more nodes
        "node h[4] = x : relu > bn(false) > tanh h -> out",  # no weights to begin with
    ],
)
def test_siblings_that_are_left_apart(text: str) -> None:
    before = graph(body(text))
    assert passes.fuse_siblings(before) == before


def test_large_siblings_are_left_apart() -> None:
    before = graph(body("node h[4] = x : conv(5, 3) > bn > relu > conv(3) h -> out"))
    fits = LARGEST_SIBLING // (5 * 64)
    assert passes.fuse_siblings(before, passes.Options(batch=fits)) != before
    assert passes.fuse_siblings(before, passes.Options(batch=fits + 1)) == before
    assert passes.fuse_siblings(before, passes.Options(batch=fits + 1, device="cuda")) != before


def test_siblings_of_several_cells_are_left_apart() -> None:
    text = "cell c { in x x -> out : conv(3) > bn > relu > conv(3) > bn > relu }"
    before = graph(text + body("node h[4] = x : c h -> out"))
    assert passes.fuse_siblings(before) == before


def test_siblings_keep_their_gates_apart() -> None:
    text = body("node h[3] = x : choose { conv(3) > bn > relu > conv(3) > bn, identity, conv(3, 5) } h -> out")
    before = passes.insert_zero_identity(graph(text))
    after = passes.fuse_siblings(before)
    assert after.gates == before.gates
    assert len(after) < len(before)
    assert_same_function(before, after)
