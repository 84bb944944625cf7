"""Names are escaped in every output format."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from bayesnas_graph.language.elaborate import Limits
from bayesnas_graph.report.pictures import (
    Box,
    Diagram,
    DrawnChoice,
    Panel,
    Scene,
    Strand,
    Wire,
    diagram_of,
    dot_text,
    lay_out,
    mermaid_text,
    movie_of,
    panel_svg,
    svg_text,
)
from tests.helpers import body, check, network

NASTY = [
    '"]; evil [label="x',
    "</text><script>alert(1)</script>",
    "a & b < c > d",
    "back\\slash\\",
    "\\N\\G",
    "new\nline",
    "null\0 bell\7 esc\x1b[31m",
    '"]\n  end\n  click p0_0 "javascript:x"',
    "end",
    "#quot; &quot; %%{init}%%",
    "-- ]]> -->",
    "ümläut → 漢字",
]


def diagram(name: str) -> Diagram:
    boxes = Box(0, "input", name, (name,), name, name), Box(1, "node", name, (), name, name)
    choice = DrawnChoice(2, (Strand(name, name, name, 0, name), Strand("relu", "g", name)), 1, tip=name)
    return Diagram(name, name, (Panel(name, (name,), boxes, (choice,), (Wire(0, 2), Wire(2, 1), Wire(0, 1, 2))),))


@pytest.mark.parametrize("name", NASTY)
def test_svg_keeps_names_as_text(name: str) -> None:
    root = ET.fromstring(svg_text(lay_out(diagram(name))))
    kinds = {element.tag.partition("}")[2] for element in root.iter()}
    assert kinds == {"svg", "title", "desc", "style", "rect", "text", "path", "g"}
    if name.isprintable():
        assert name in {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}


@pytest.mark.parametrize("name", NASTY)
def test_dot_keeps_names_in_strings(name: str) -> None:
    without_strings = re.sub(r'"(?:[^"\\]|\\.)*"', '""', dot_text(diagram(name)))
    assert without_strings == re.sub(r'"(?:[^"\\]|\\.)*"', '""', dot_text(diagram("plain")))


@pytest.mark.parametrize("name", NASTY)
def test_mermaid_keeps_names_in_strings(name: str) -> None:
    without_strings = re.sub(r'"[^"\n]*"', '""', mermaid_text(diagram(name)))
    assert without_strings == re.sub(r'"[^"\n]*"', '""', mermaid_text(diagram("plain")))


@pytest.mark.parametrize("name", NASTY)
def test_a_panel_alone_keeps_names_as_text(name: str) -> None:
    found = diagram(name)
    root = ET.fromstring(panel_svg(lay_out(found).panels[0], found))
    kinds = {element.tag.partition("}")[2] for element in root.iter()}
    assert kinds == {"svg", "style", "title", "rect", "text", "path", "g"}
    if name.isprintable():
        gates = [element.attrib["data-gate"] for element in root.iter() if "data-gate" in element.attrib]
        assert gates == [name, "g"]


def test_scripts_find_what_belongs_together() -> None:
    """Everything has an id, wires have the ids of their ends, and a box has the id of the panel it opens."""
    text = "motif pick { in x x -> out : choose { relu, tanh } }"
    found = diagram_of(network(f"{text} {body('node a = x : pick out relu(a)')}"))
    for placed in lay_out(found).panels:
        root = ET.fromstring(panel_svg(placed, found))
        marked = [element for element in root.iter() if "data-key" in element.attrib]
        keys = {"vertex": {box.key for box in placed.panel.boxes}, "choice": {c.key for c in placed.panel.choices}}
        for kind, wanted in keys.items():
            assert {int(e.attrib["data-key"]) for e in marked if e.attrib["class"] == kind} == wanted
        gates = [e.attrib["data-gate"] for e in marked if e.attrib["class"] == "candidate"]
        assert gates == [strand.gate for choice in placed.panel.choices for strand in choice.strands]
        wires = {(int(e.attrib["data-from"]), int(e.attrib["data-to"])) for e in root.iter() if "data-from" in e.attrib}
        assert wires == {(wire.source, wire.target) for wire in placed.panel.wires}
    (opened,) = [
        e for e in ET.fromstring(panel_svg(lay_out(found).panels[0], found)).iter() if "data-opens" in e.attrib
    ]
    inner = found.panels[int(opened.attrib["data-opens"])]
    assert inner.title == "motif pick"
    assert inner.uses == (opened.attrib["data-name"],)


def test_names_that_look_like_parts_of_a_choice() -> None:
    """A chain next to a choice takes the names that its candidates would have."""
    drawn = diagram_of(network(body("node h x -> h : relu > tanh x -> h : choose { relu, tanh } out h")))
    (panel,) = drawn.panels
    assert sorted(box.title for box in panel.boxes) == ["h", "out", "relu", "tanh", "x"]
    assert [panel.route(choice) for choice in panel.choices] == ["x → h"]


def test_a_choice_may_read_several_nodes() -> None:
    (panel,) = diagram_of(
        network(body("let join = choose { sum, mean } node y = join(x, x) node z = y : relu out z"))
    ).panels
    (choice,) = panel.choices
    assert panel.sources(choice) == [0]
    assert [strand.label for strand in choice.strands] == ["sum", "mean"]


def test_too_many_nodes_to_draw() -> None:
    text = body("node h[900] x -> h : relu out sum(h)")
    (panel,) = diagram_of(network(text)).panels
    assert len(panel.boxes) == 3
    assert "too many to draw" in " ".join(panel.notes)


def test_motifs_that_double_are_drawn_at_once() -> None:
    """Each motif uses the previous one twice, for a million operations in total."""
    motifs = "motif m0 { in x x -> out : choose { relu, tanh } }"
    for number in range(1, 20):
        motifs += f" motif m{number} {{ in x x -> out : m{number - 1} x -> out : m{number - 1} }}"
    fixed = motifs.replace("choose { relu, tanh }", "relu > tanh")
    for source in (motifs, fixed):
        space, diagnostics = check(f"{source} {body('out m19(x)')}", Limits(nodes=10**8, edges=10**8))
        assert not diagnostics
        assert len(diagram_of(space.networks[0]).panels) > 1


@pytest.mark.parametrize("name", NASTY)
def test_movies_keep_names_as_text(name: str) -> None:
    kept = frozenset({name, "g"})
    scenes = [Scene({name: name, "b": "1"}, kept), Scene({name: "2"}, kept, {"g": 0.5}, is_derived=True)]
    movie = movie_of(diagram(name), scenes)
    for svg in (movie.svg(), *(frame.svg for frame in movie.frames())):
        kinds = {element.tag.partition("}")[2] for element in ET.fromstring(svg).iter()}
        assert kinds == {"svg", "title", "desc", "style", "rect", "text", "path", "g"}


def test_a_picture_has_a_name_for_screen_readers() -> None:
    """A panel of a page is a group: the parts of an image would not be told to the reader."""
    drawn = lay_out(diagram("block <b>"))
    whole, inline = ET.fromstring(svg_text(drawn)), ET.fromstring(svg_text(drawn, inline=True))
    panel = ET.fromstring(panel_svg(drawn.panels[0], drawn.diagram))
    assert (whole.get("role"), whole.get("aria-labelledby")) == ("img", "title desc")
    assert {element.get("id") for element in whole} >= {"title", "desc"}
    assert inline.get("role") == "img"
    assert (inline.get("aria-label") or "").startswith("block <b>: ")
    assert not any(element.get("id") for element in inline.iter()), "a page may have several"
    assert (panel.get("role"), panel.get("aria-label")) == ("group", "block <b>")
