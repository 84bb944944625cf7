"""Dilated convolutions without dilation compute the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayesnas_graph import passes
from bayesnas_graph.passes import verify
from tests.equivalence import assert_same_function
from tests.helpers import body, graph
from tests.passes.cases import check_golden, golden, options


@pytest.mark.parametrize("case", golden("split_dilated"), ids=lambda path: path.stem)
def test_golden(case: Path, update_golden: bool) -> None:
    check_golden(case, lambda graph, settings: passes.split_dilated(graph, options(settings)), update_golden)


@pytest.mark.parametrize("size", [8, 9, 12])
@pytest.mark.parametrize("stride", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("dilation", [2, 3])
@pytest.mark.parametrize(
    "form",
    [
        "3",
        "5",
        "2, padding = 0",
        "3, padding = 0",
        "3, padding = 6",
        "3, bias = true, multiplier = 2",
        "[1, 5]",
        "[3, 1]",
    ],
)
def test_dilated_convolutions(form: str, dilation: int, stride: int, size: int) -> None:
    if form == "3, padding = 0" and size == 8 and dilation == 3:
        size = 10
    text = f"x -> out : depthwise({form}, stride = {stride}, dilation = {dilation}) > global_avg_pool > linear(2)"
    before = graph(body(text, f"image(2, {size}, {size}) -> classes(2)"))
    after = passes.split_dilated(before)
    verify(after)
    assert_same_function(before, after)
    assert passes.split_dilated(after) == after


def test_dilated_convolutions_of_one_value_share_its_phases() -> None:
    before = graph(body("node h[3] = x : relu > depthwise(3, dilation = 2) > conv(3, 1) h -> out"))
    after = passes.merge_common_subexpressions(passes.split_dilated(before))
    names = [node.op.name for node in after]
    assert names.count("phases") == 1, "all three convolutions read the same"
    assert names.count("interleaved") == 3
    assert all(getattr(node.op, "dilation", 1) == 1 for node in after)


@pytest.mark.parametrize("form", ["3, dilation = [1, 2]", "3, dilation = [2, 3]", "3, [2, 1], dilation = 2"])
def test_dilations_and_strides_that_differ_by_direction_stay(form: str) -> None:
    before = graph(body(f"x -> out : depthwise({form}) > global_avg_pool", "image(3, 8, 8) -> classes(3)"))
    assert passes.split_dilated(before) == before


def test_other_devices_keep_dilation() -> None:
    before = graph(body("x -> out : depthwise(3, dilation = 2)"))
    assert passes.split_dilated(before, passes.Options(device="cuda")) is before
