"""The page of published figures is current, and no shipped space is missing."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest

from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.elaborate import load_network
from bayesnas_graph.language.syntax import parse
from benchmarks.nasbench101 import Cells
from benchmarks.published import PAGE, Comparison, generated
from benchmarks.published_figures import FIGURES, NETWORKS, PARAMETERS, SETTINGS, Figure
from tests.conftest import SPACES


def has_network(path: Path) -> bool:
    file = parse(Source(path.name, path.read_text()), Report())
    return any(getattr(definition, "role", "") == "network" for definition in file.definitions)


def test_no_shipped_space_is_missing() -> None:
    """A new space needs an entry in `FIGURES`, also if nothing was published about it."""
    assert {figure.space for figure in FIGURES} == {path.stem for path in SPACES if has_network(path)}


def test_the_page_is_current() -> None:
    page = PAGE.read_text()
    assert generated(page) == page, "run python -m benchmarks.published"


@pytest.mark.parametrize(
    ("figure", "agreement"),
    [
        (Figure("lenet5", PARAMETERS, 431_080, "made up"), "exact"),
        (Figure("lenet5", PARAMETERS, 431_000, "made up", 1000), "to the last digit"),
        (Figure("lenet5", PARAMETERS, 400_000, "made up", 100_000), "to the last digit"),
        (Figure("lenet5", PARAMETERS, 430_000, "made up"), "+0.3 %"),
        (Figure("lenet5", PARAMETERS, 862_160, "made up", 10), "-50.0 %"),
        (Figure("lenet5", NETWORKS, None, "made up"), ""),
        (Figure("nasbench201", SETTINGS, 15_625, "made up", arguments={"cells": 1}), "exact"),
    ],
)
def test_agreement(figure: Figure, agreement: str) -> None:
    assert Comparison.of(figure).agreement == agreement


def test_bounds_are_called_bounds() -> None:
    assert Comparison.of(Figure("nasnet", NETWORKS, None, "made up")).row[-2].startswith("at most ")


@pytest.mark.parametrize("cells", [Cells(1, 9, 3), Cells(2, 4, 2), Cells(3, 9, 2), Cells(3, 5, 3)], ids=str)
def test_cells_up_to_isomorphism(cells: Cells) -> None:
    """As many as networkx tells apart, among all labelled graphs."""
    different: dict[object, list[nx.DiGraph[int]]] = {}  # by the labels and degrees of their vertices
    numbered = 0
    for graph in cells.graphs.tolist():
        edges = [pair for pair, has in zip(cells.pairs, graph, strict=True) if has]
        inner = sorted({vertex for edge in edges for vertex in edge} - {0, cells.inner + 1})
        for code in range(cells.operations ** len(inner)):
            labels = {vertex: code // cells.operations**i % cells.operations for i, vertex in enumerate(inner)}
            one = nx.DiGraph(edges)
            nx.set_node_attributes(one, {0: "in", cells.inner + 1: "out", **labels}, "label")
            numbered += 1
            vertices = sorted((str(one.nodes[v]["label"]), one.in_degree(v), one.out_degree(v)) for v in one)
            alike = different.setdefault(tuple(vertices), [])
            if not any(_isomorphic(one, other) for other in alike):
                alike.append(one)
    assert cells.numbered() == numbered
    assert cells.isomorphic() == sum(map(len, different.values()))


def _isomorphic(one: nx.DiGraph[int], other: nx.DiGraph[int]) -> bool:
    return nx.is_isomorphic(one, other, node_match=lambda a, b: a["label"] == b["label"])


def test_cells_of_nasbench101() -> None:
    cells = Cells.of(load_network(Path("nasbench101")).network.graph())
    assert cells == Cells(inner=5, edges=9, operations=3)
    assert (cells.numbered(), cells.isomorphic()) == (1_824_025, 423_624)
