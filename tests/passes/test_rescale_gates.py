"""The gates of a searched network as factors in the weights of a fixed one; `test_plain` compares what they compute."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayesnas_graph.ir import Graph
from bayesnas_graph.passes import rescale_gates
from tests.helpers import body, graph
from tests.passes.cases import check_golden, golden


@pytest.mark.parametrize("case", golden("rescale_gates"), ids=lambda path: path.stem)
def test_golden(case: Path, update_golden: bool) -> None:
    def fixed(found: Graph, _: object) -> Graph:
        return rescale_gates(found).graph

    check_golden(case, fixed, update_golden, same=False)


def test_which_gates_are_factors_of_what() -> None:
    found = rescale_gates(graph(body("node y = x : choose { conv(3), relu } y -> out : optional bn")))
    assert found.factors == {
        "y.conv": ("y.conv",),
        "y.relu_rescale": ("y.relu",),
        "optional.bn": ("optional",),
    }
