"""Properties of pictures, on every shipped network."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest

from bayesnas_graph.diagnostics import Report
from bayesnas_graph.language.elaborate import Checker, Network
from bayesnas_graph.language.elaborate.block import Block, Compute, Nested
from bayesnas_graph.report.pictures import Page, diagram_of, dot_text, lay_out, mermaid_text, svg_text
from bayesnas_graph.report.pictures.page import Placed
from tests.conftest import SPACES

Rectangle = tuple[float, float, float, float]
SVG = "{http://www.w3.org/2000/svg}"
WIDEST = 1400  # of a page
SMALLEST = 10  # size of text


@cache
def networks(path: Path) -> tuple[Network, ...]:
    space = Checker(Report()).path(path, path.name)
    assert space is not None
    return space.networks


@cache
def page(network: Network) -> Page:
    return lay_out(diagram_of(network))


ALL = [pytest.param(network, id=f"{path.stem}-{network.name}") for path in SPACES for network in networks(path)]
each_network = pytest.mark.parametrize("network", ALL)


@each_network
def test_is_xml_with_a_title_and_no_tiny_text(network: Network) -> None:
    root = ET.fromstring(svg_text(page(network)))
    assert root.tag == f"{SVG}svg"
    assert network.name in (root.findtext(f"{SVG}title") or "")
    assert root.findtext(f"{SVG}desc")
    assert min(float(text.attrib["font-size"]) for text in root.iter(f"{SVG}text")) >= SMALLEST


@each_network
def test_twice_is_the_same(network: Network) -> None:
    again = diagram_of(network)
    assert svg_text(lay_out(again)) == svg_text(page(network))
    assert dot_text(again) == dot_text(page(network).diagram)
    assert mermaid_text(again) == mermaid_text(page(network).diagram)


@each_network
def test_every_candidate_is_shown(network: Network) -> None:
    """Each switch of each motif is in a panel under its own name, as text."""
    diagram = page(network).diagram
    choices = [choice for panel in diagram.panels for choice in panel.choices]
    gates = {strand.gate for choice in choices for strand in choice.strands} | {choice.gate for choice in choices}
    wanted = {gate.name for block in blocks(network.block) for step in computes(block) for gate in step.gates}
    assert wanted <= gates
    texts = {text.text for text in ET.fromstring(svg_text(page(network))).iter(f"{SVG}text")}
    labels = {strand.label for choice in choices if not choice.bare for strand in choice.strands}
    assert labels <= texts
    assert all(f'"{label}"' in dot_text(diagram) for label in labels)
    written = re.sub(r"#(\d+);", lambda found: chr(int(found[1])), mermaid_text(diagram))
    assert all(label in written for label in labels)


@each_network
def test_nothing_overlaps_and_all_is_inside(network: Network) -> None:
    drawn = page(network)
    assert drawn.width <= WIDEST
    frames = [(p.x, p.y, p.x + p.width, p.y + p.height) for p in drawn.panels]
    assert_apart(frames)
    assert all(inside(frame, (0, 0, drawn.width, drawn.height)) for frame in frames)
    for placed, frame in zip(drawn.panels, frames, strict=True):
        parts = list(rectangles(placed))
        assert_apart(parts)
        assert all(inside(part, frame) for part in parts)
        x0, y0 = placed.inner
        for hop in placed.placement.hops:
            assert all(inside((x0 + x, y0 + y, x0 + x, y0 + y), frame) for x, y in hop.points)


@each_network
def test_wires_pass_beside_boxes(network: Network) -> None:
    """A wire that passes a column does not touch its boxes."""
    for placed in page(network).panels:
        for hop in placed.placement.hops:
            if hop.turns or hop.target is not None:
                continue
            (_, _), (_, _), (x1, y), (x2, _) = hop.points
            ox, oy = placed.inner
            line = (ox + x1, oy + y, ox + x2, oy + y)
            assert not any(overlap(line, part) for part in rectangles(placed))


def blocks(block: Block) -> Iterator[Block]:
    found, waiting = {block}, [block]
    while waiting:
        block = waiting.pop()
        yield block
        inner = {step.block for step in block.steps if isinstance(step, Nested)} - found
        found |= inner
        waiting += inner


def computes(block: Block) -> Iterator[Compute]:
    return (step for step in block.steps if isinstance(step, Compute))


def rectangles(placed: Placed) -> Iterator[Rectangle]:
    x0, y0 = placed.inner
    for size, (x, y) in zip(placed.sizes, placed.placement.centres, strict=True):
        left = x0 + x - size.width / 2
        yield left, y0 + y - size.above, left + size.width, y0 + y + size.below


def overlap(a: Rectangle, b: Rectangle) -> bool:
    return a[0] < b[2] - 0.01 and b[0] < a[2] - 0.01 and a[1] < b[3] - 0.01 and b[1] < a[3] - 0.01


def inside(a: Rectangle, b: Rectangle) -> bool:
    return a[0] >= b[0] - 0.01 and a[1] >= b[1] - 0.01 and a[2] <= b[2] + 0.01 and a[3] <= b[3] + 0.01


def assert_apart(found: list[Rectangle]) -> None:
    for a, b in combinations(found, 2):
        assert not overlap(a, b)


def test_the_darts_cell() -> None:
    """It matches the published figure."""
    path = next(path for path in SPACES if path.stem == "darts")
    panels = {panel.title: panel for panel in page(networks(path)[0]).diagram.panels}
    normal = panels["cell normal"]
    assert len(normal.choices) == 14
    assert {len(choice.strands) for choice in normal.choices} == {7}
    assert [normal.route(choice) for choice in normal.choices[:5]] == [
        "p → h[0]",
        "q → h[0]",
        "p → h[1]",
        "q → h[1]",
        "h[0] → h[1]",
    ]
    assert any("6 times" in note and "share" in note for note in normal.notes)


def test_long_rows_are_folded() -> None:
    path = next(path for path in SPACES if path.stem == "tree_cell")
    network = page(networks(path)[0]).diagram.panels[0]
    counts = [line for box in network.boxes for line in box.lines if re.match(r"× \d+", line)]
    assert counts == ["× 18", "× 17", "× 17"]
