"""Shapes follow from operations, whatever a graph said before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bayesnas_graph import passes
from bayesnas_graph.ir import Graph, ShapeError
from tests.helpers import body, graph
from tests.passes.cases import check_golden, golden


def forgotten(found: Graph) -> Graph:
    """A graph that has lost all shapes but those of its inputs."""
    nodes = [node if node.op.is_input else replace(node, shape=(0,)) for node in found]
    return found.replace(nodes, found.edges, found.outputs)


@pytest.mark.parametrize("case", golden("infer_shapes"), ids=lambda path: path.stem)
def test_golden(case: Path, update_golden: bool) -> None:
    check_golden(case, lambda graph, settings: passes.infer_shapes(forgotten(graph)), update_golden)


def test_what_does_not_fit_is_an_error() -> None:
    found = graph(body("node y = x : conv(4) y -> out : conv(3)"))
    nodes = [replace(node, shape=(4,)) if node.op.is_input else node for node in found]
    with pytest.raises(ShapeError, match="needs an image"):
        passes.infer_shapes(found.replace(nodes, found.edges, found.outputs))
