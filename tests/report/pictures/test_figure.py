"""Figures: no overlaps, readable sizes, and text stored as text."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest

from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.report.pictures import Diagram, Panel, diagram_of, figure_of, ink, merge_alike, prune_diagram
from bayesnas_graph.report.pictures.figure import placed_hops
from bayesnas_graph.report.pictures.geometry import Placement
from bayesnas_graph.report.pictures.sketch import COLUMN, PAGE, CandidateLabel, Sketch, sketch_of
from tests.conftest import SPACES
from tests.helpers import body, network
from tests.report.pictures.test_spaces import ALL, SVG, Rectangle, networks, overlap

PRINTED = 8  # points: less cannot be read in print


def darts() -> Diagram:
    """The whole space."""
    return diagram_of(networks(next(path for path in SPACES if path.stem == "darts"))[0])


def darts_v2() -> Diagram:
    """The cells of the paper, by the names of their switches."""
    diagram = darts()
    normal = {"h.0": "p.sep_conv_3 q.sep_conv_3", "h.1": "p.sep_conv_3 q.sep_conv_3", "h.2": "q.sep_conv_3 p.skip"}
    normal["h.3"] = "p.skip h_0.dil_conv_3"
    reduction = {"h.0": "p.max_pool_3x3 q.max_pool_3x3", "h.1": "h_0.skip q.max_pool_3x3"}
    reduction |= {"h.2": "p.max_pool_3x3 h_0.skip", "h.3": "h_0.skip q.max_pool_3x3"}
    kept = set()
    for title, cell in (("cell normal", normal), ("cell reduction", reduction)):
        panel = next(panel for panel in diagram.panels if panel.title == title)
        names = [f"{node}.{edge}" for node, edges in cell.items() for edge in edges.split()]
        assert set(names) <= set(panel.gates)
        kept |= {f"{use}.{name}" for use in panel.uses for name in names}
    return prune_diagram(diagram, kept)


def drawn(text: str) -> tuple[Diagram, Panel]:
    diagram = diagram_of(network(text))
    return diagram, diagram.panels[-1]


def settled(text: str) -> tuple[Diagram, Panel]:
    diagram, _ = drawn(text)
    left = prune_diagram(diagram, diagram.gates)
    return left, left.panels[-1]


def texts_of(svg: str) -> list[str]:
    return ["".join(element.itertext()) for element in ET.fromstring(svg).iter(f"{SVG}text")]


def rectangles(sketch: Sketch, placement: Placement) -> list[Rectangle]:
    return [
        (x - size.width / 2, y - size.above, x + size.width / 2, y + size.below)
        for size, (x, y) in zip(sketch.sizes, placement.centres, strict=True)
    ]


@pytest.mark.parametrize("network", ALL)
def test_no_part_and_no_line_is_on_another_part(network: Network) -> None:
    for panel in diagram_of(network).panels:
        sketch = sketch_of(panel)
        placement = sketch.placement()
        found = rectangles(sketch, placement)
        assert not any(overlap(a, b) for a, b in combinations(found, 2))
        labels = [r for r, part in zip(found, sketch.parts, strict=True) if isinstance(part, CandidateLabel)]
        for hop in placed_hops(sketch, placement):
            if hop.turns:
                continue
            _, (x1, y1), (x2, y2), (x3, _) = hop.points
            curve = (x1, min(y1, y2), x2, max(y1, y2))  # the curve itself stays between two columns
            assert not any(overlap(curve, label) for label in labels)
            if hop.target is None:  # where it passes a column, it is level and touches no box
                assert not any(overlap((x2, y2, x3, y2), part) for part in found)


def test_the_cells_of_darts() -> None:
    diagram = darts_v2()
    for title, arrows in (("cell normal", 8), ("cell reduction", 8)):
        panel = next(panel for panel in diagram.panels if panel.title == title)
        root = ET.fromstring(figure_of(panel, diagram, ink()).svg)
        assert float(root.attrib["width"].removesuffix("pt")) <= PAGE
        texts = [element.text for element in root.iter(f"{SVG}text")]
        labels = [part.text for part in sketch_of(panel).parts if isinstance(part, CandidateLabel)]
        assert len(labels) == arrows
        assert all(texts.count(label) == labels.count(label) for label in labels)
        assert min(float(text.attrib["font-size"]) for text in root.iter(f"{SVG}text")) >= PRINTED


def test_a_small_cell_fits_in_a_column() -> None:
    diagram, panel = drawn(body("node h x -> h : choose { relu, tanh } out h"))
    assert figure_of(panel, diagram, ink()).width <= COLUMN / 0.75
    assert re.match(r'<svg [^>]*width="[\d.]+pt"', figure_of(panel, diagram, ink()).svg)


def test_every_kept_candidate_is_an_arrow_and_a_mere_connection_has_no_colour() -> None:
    diagram, panel = settled(body("node h x -> h : choose { relu, tanh, identity } out h"))
    sketch = sketch_of(panel)
    assert [part.text for part in sketch.parts if isinstance(part, CandidateLabel)] == ["relu", "tanh", "identity"]
    strokes = re.findall(r'stroke="(#\w+)" stroke-width="(?:1.2|0.8)"', figure_of(panel, diagram, ink()).svg)
    colours = ink()
    assert set(strokes) == {colours.candidates[0], colours.candidates[1], colours.line}
    black = figure_of(panel, diagram, ink(mono=True)).svg
    assert set(re.findall(r"#\w+", black)) == {"#000000"}


def test_an_optional_connection_is_dashed_until_it_is_settled() -> None:
    diagram, panel = drawn(body("node h x -> h : relu x -> h : optional identity out h"))
    (edge,) = sketch_of(panel).dashed
    assert "stroke-dasharray" in figure_of(panel, diagram, ink()).svg
    left = prune_diagram(diagram, diagram.gates)
    settled = sketch_of(left.panels[0])
    assert not settled.dashed
    assert edge in settled.edges
    assert "stroke-dasharray" not in figure_of(left.panels[0], left, ink()).svg


def test_candidates_within_a_candidate_are_named_behind_it() -> None:
    _, panel = settled(body("node h x -> h : choose { conv(3) > choose { relu, tanh }, bn } out h"))
    assert [part.text for part in sketch_of(panel).parts if isinstance(part, CandidateLabel)] == [
        "conv > choice (relu, tanh)",
        "bn",
    ]


def test_the_ground_is_painted_if_asked_for() -> None:
    diagram, panel = drawn(body("out relu(x)"))
    assert 'fill="#ffffff"' not in figure_of(panel, diagram, ink()).svg
    assert 'fill="#ffffff"' in figure_of(panel, diagram, ink(ground=True)).svg
    assert 'fill="#0d1117"' in figure_of(panel, diagram, ink(dark=True, ground=True)).svg


def test_a_choice_of_a_space_is_one_thick_arrow_and_the_legend_names_its_candidates() -> None:
    edges = "x -> h : choose { relu, tanh, identity } x -> g : choose { relu, tanh, identity } g -> h : optional relu"
    diagram, panel = drawn(body(f"node g, h {edges} out h"))
    sketch = sketch_of(panel)
    labels = [part.text for part in sketch.parts if isinstance(part, CandidateLabel)]
    assert sorted(labels) == ["3 ops", "3 ops", "relu"]
    assert sketch.legend == ("3 ops: relu, tanh, identity",)
    figure = figure_of(panel, diagram, ink()).svg
    assert texts_of(figure)[-1] == "3 ops: relu, tanh, identity"
    assert figure.count('stroke-width="1.8"') >= 2


def test_different_sets_of_candidates_have_letters() -> None:
    _, panel = drawn(body("node g, h x -> g : choose { relu, tanh } g -> h : choose 1 { relu, bn } out h"))
    sketch = sketch_of(panel)
    assert [part.text for part in sketch.parts if isinstance(part, CandidateLabel)] == ["2 ops A", "1 of 2 ops B"]
    assert sketch.legend == ("A: relu, tanh", "B: relu, bn")


def test_a_long_legend_is_wrapped() -> None:
    operations = ", ".join(f"conv(3, {k})" for k in range(1, 26, 2))
    diagram, panel = drawn(body(f"node h x -> h : choose {{ {operations} }} out h"))
    figure = figure_of(panel, diagram, ink())
    root = ET.fromstring(figure.svg)
    lines = [text for text in root.iter(f"{SVG}text") if text.get("text-anchor") == "start"]
    assert len(lines) > 1
    assert figure.width <= COLUMN / 0.75 + 3
    assert all(float(line.attrib["y"]) < float(root.attrib["viewBox"].split()[3]) for line in lines)


def test_the_figure_of_the_whole_darts_cell_is_not_taller_than_wide() -> None:
    diagram = darts()
    figure = figure_of(next(panel for panel in diagram.panels if panel.named[0] == "normal"), diagram, ink())
    assert figure.height < figure.width / 2
    assert figure.width <= PAGE / 0.75


@pytest.mark.parametrize(
    ("name", "diagram_in"),
    [
        ("figure_normal.svg", darts_v2),
        ("figure_space.svg", lambda: merge_alike(darts())),
    ],
)
def test_the_figures_in_the_documentation(name: str, diagram_in: Callable[[], Diagram], update_golden: bool) -> None:
    """The normal cell of DARTS_V2, and that of the whole space."""
    diagram = diagram_in()
    panel = next(panel for panel in diagram.panels if "normal" in panel.named)
    actual = figure_of(panel, diagram, ink(ground=True)).svg
    picture = Path(__file__).parents[3] / "docs" / name
    if update_golden:
        picture.write_text(actual, encoding="utf-8")
    assert actual == picture.read_text(encoding="utf-8")
