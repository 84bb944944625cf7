"""Choices that lead into one node are one sum on a GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit import emit
from bayesnas_graph.ir import Graph
from tests.equivalence import assert_same_function
from tests.helpers import graph
from tests.passes.cases import check_golden, golden, options

GPU = passes.Options(device="cuda")


@pytest.mark.parametrize("case", golden("join_choices"), ids=lambda path: path.stem)
def test_golden(case: Path, update_golden: bool) -> None:
    check_golden(case, lambda graph, settings: passes.join_choices(graph, options(settings)), update_golden)


def compiled(statements: str, device: passes.DeviceKind = "cuda") -> tuple[Graph, Graph]:
    """A cell with its switches, and how it is computed."""
    cell = f"cell c {{ in x {statements} }}"
    before = passes.run(
        graph(f"{cell} network n : image(4, 8, 8) -> image(4, 8, 8) {{ in x x -> out : c }}"), passes.SWITCHES
    )
    return before, passes.run(before, passes.FASTER, passes.Options(device=device))


def test_one_sum_with_all_gates() -> None:
    choices = "node p = x : tanh x, p -> out : choose { conv(4) > bn(false), relu > bn(false), identity }"
    before, after = compiled(choices)
    text = emit(after).text
    assert text.count("gated_total(") == 1
    assert "gated_sum(" not in text
    assert "torch.ones(8)" in text
    assert_same_function(before, after)


def test_nothing_changes_on_a_cpu() -> None:
    _, after = compiled("node p = x : tanh x, p -> out : choose { conv(4) > bn(false), identity }", "cpu")
    assert "gated_total(" not in emit(after).text


@pytest.mark.parametrize(
    "statements",
    [
        "x -> out : choose { relu, tanh } x -> out : bn",  # not only choices
        "node h = x : choose { relu, tanh } h -> out h -> out : bn",  # something else reads the choice
        "x -> out : choose { relu, tanh }",  # only one
    ],
)
def test_sums_that_stay_apart(statements: str) -> None:
    _, after = compiled(statements)
    assert "gated_total(" not in emit(after).text
