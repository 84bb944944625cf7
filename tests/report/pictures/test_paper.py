"""Cells that read the two before them look as in the papers."""

from __future__ import annotations

import pytest

from bayesnas_graph.report.pictures import Diagram, Panel, diagram_of
from bayesnas_graph.report.pictures.paper import in_paper_style
from bayesnas_graph.report.pictures.sketch import lines_of
from tests.conftest import SPACES
from tests.helpers import network
from tests.report.pictures.test_figure import darts_v2
from tests.report.pictures.test_spaces import networks

TYPES = "image(4, 8, 8) -> image(4, 8, 8)"
NODES = "node h[2] a, b -> h : choose { conv(4), relu } out sum(h)"
ROW = """
    node s[6] x -> s[0] x -> s[1]
    for k in 0..4 { step(s[k], s[k + 1]) -> s[k + 2] }
    out s[5]
"""


def drawn(cell: str, body: str = ROW) -> Diagram:
    return diagram_of(network(f"motif step {{ in a, b {cell} }} network n : {TYPES} {{ in x {body} }}"))


def names(panel: Panel) -> list[str]:
    """The boxes of a panel as a figure shows them: `c_k-1`, and lines separated by `/`."""
    boxes = in_paper_style(panel).boxes
    return [
        f"{box.title}_{box.subscript}" if box.subscript else " / ".join(text for text, _ in lines_of(box))
        for box in boxes
    ]


def edges(panel: Panel) -> set[tuple[str, str]]:
    """The wires from box to box in the style of papers."""
    styled = in_paper_style(panel)
    titles = {box.key: box.title + box.subscript for box in styled.boxes}
    return {
        (titles[wire.source], titles[wire.target])
        for wire in styled.wires
        if wire.source in titles and wire.target in titles
    }


@pytest.mark.parametrize("name", ["darts", "nasnet"])
def test_the_cells_of_published_spaces(name: str) -> None:
    diagram = diagram_of(networks(next(path for path in SPACES if path.stem == name))[0])
    for panel in diagram.panels[-2:]:
        assert panel.role == "cell"
        found = names(panel)
        assert found[:2] == ["c_k−2", "c_k−1"]
        assert found[-1] == "c_k"
        assert "preprocess" not in found
    if name == "darts":
        assert found[2:-1] == ["0", "1", "2", "3"]
        assert edges(panel) == {(str(number), "ck") for number in range(4)}


def test_a_derived_cell_keeps_its_style() -> None:
    panel = next(panel for panel in darts_v2().panels if panel.title == "cell normal")
    assert names(panel) == ["c_k−2", "c_k−1", "0", "1", "2", "3", "c_k"]
    assert len(panel.choices) == len(in_paper_style(panel).choices) == 8


def test_the_graph_decides_not_the_name() -> None:
    assert names(drawn(NODES).panels[1]) == ["c_k−2", "c_k−1", "0", "1", "c_k"]
    swapped = ROW.replace("step(s[k], s[k + 1])", "step(s[k + 1], s[k])")
    assert names(drawn(NODES, swapped).panels[1])[:2] == ["c_k−1", "c_k−2"]
    same = "node s[5] x -> s[0] for k in 0..4 { step(s[k], s[k]) -> s[k + 1] } out s[4]"
    assert names(drawn(NODES, same).panels[1])[:2] == ["a", "b"]
    other = same.replace("step(s[k], s[k])", "step(x, s[k])")
    assert names(drawn(NODES, other).panels[1])[:2] == ["a", "b"]


def test_two_uses_are_not_a_row() -> None:
    short = "node s = step(x, x) node t = step(x, s) out t"
    assert names(drawn(NODES, short).panels[1])[:2] == ["a", "b"]


def test_a_use_outside_the_row_keeps_the_names() -> None:
    motifs = f"motif step {{ in a, b {NODES} }} motif pair {{ in x out step(x, x) }}"
    text = f"{motifs} network n : {TYPES} {{ in x {ROW.replace('x -> s[1]', 'pair(x) -> s[1]')} }}"
    panel = next(panel for panel in diagram_of(network(text)).panels if "step" in panel.named)
    assert names(panel)[:2] == ["a", "b"]


def test_operations_before_the_choices_are_part_of_the_input() -> None:
    prepared = "node p = a : conv(4) > bn node h p, b -> h : choose { conv(4), relu } out h"
    assert sorted(names(drawn(prepared).panels[1])) == ["0", "c_k", "c_k−1", "c_k−2"]


def test_an_input_that_is_also_read_unprepared_keeps_its_operations() -> None:
    both = "node p = a : conv(4) node h p, a, b -> h : choose { conv(4), relu } out h"
    found = names(drawn(both).panels[1])
    assert any(text.startswith("conv") for text in found)
    assert found[:2] == ["c_k−2", "c_k−1"]


def test_operations_of_a_cell_without_choices_are_not_hidden() -> None:
    fixed = "node h[2] a, b -> h[0] : conv(4) a, b -> h[1] : relu out sum(h)"
    found = names(drawn(fixed).panels[1])
    assert sum(text.startswith("conv") for text in found) == 2
    assert found.count("relu") == 2
