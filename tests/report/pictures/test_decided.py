"""Decided pictures, alone and against the pruned graph."""

from __future__ import annotations

import random
from collections.abc import Set
from dataclasses import replace
from functools import cache

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph import passes
from bayesnas_graph.ir.ops import Zero
from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.report.pictures import (
    Box,
    Diagram,
    DrawnChoice,
    Panel,
    Strand,
    Wire,
    decided,
    diagram_of,
    lay_out,
    svg_text,
)
from bayesnas_graph.report.pictures.decided import prune_diagram, prune_panel
from bayesnas_graph.report.pictures.diagram import inner_name
from tests.conftest import SPACES
from tests.helpers import body, network
from tests.report.pictures.test_spaces import networks


@st.composite
def panels(draw: st.DrawFn) -> Panel:
    """Nodes in sequence, each reading earlier ones through wires and choices; all are on a path to the output."""
    inputs = draw(st.integers(1, 3))
    nodes = draw(st.integers(1, 5))
    boxes = [Box(i, "input" if i < inputs else "node", f"n{i}") for i in range(inputs + nodes)]
    choices: list[DrawnChoice] = []
    wires: list[Wire] = []
    key = len(boxes) + 1
    for target in range(inputs, len(boxes)):
        for source in draw(st.sets(st.integers(0, target - 1), min_size=1)):
            if draw(st.booleans()):
                wires.append(Wire(source, target))
                continue
            choices.append(DrawnChoice(key, tuple(draw(strands(f"h.{key}"))), optional=draw(st.booleans())))
            wires += [Wire(source, key), Wire(key, target)]
            key += 1
    out = Box(len(boxes), "output", "out")
    unread = {box.key for box in boxes} - {wire.source for wire in wires}
    wires += [Wire(source, out.key) for source in sorted(unread)]
    return Panel("motif m", ("here",), (*boxes, out), tuple(choices), tuple(wires))


@st.composite
def strands(draw: st.DrawFn, choice: str) -> list[Strand]:
    found = []
    for name in draw(st.lists(st.sampled_from("abc"), min_size=1, unique=True)):
        found.append(Strand(name, f"{choice}.{name}", choice))
        if draw(st.booleans()):
            found += [Strand(x, f"{choice}.{name}.inner.{x}", f"{choice}.{name}.inner", 1) for x in ("x", "y")]
    return found


def subset(names: tuple[str, ...]) -> st.SearchStrategy[set[str]]:
    return st.sets(st.sampled_from(names)) if names else st.just(set())


def vertices(panel: Panel) -> list[int]:
    return [*(box.key for box in panel.boxes), *(choice.key for choice in panel.choices)]


@given(st.data())
def test_never_more_than_the_whole_and_all_of_it_on_a_way(data: st.DataObject) -> None:
    panel = data.draw(panels())
    kept = data.draw(subset(panel.gates))
    left = prune_panel(panel, kept)
    assert set(left.gates) <= kept
    assert [key for key in vertices(panel) if key in set(vertices(left))] == vertices(left), "in the same order"
    assert set(left.wires) <= set(panel.wires)
    ways: nx.DiGraph[int] = nx.DiGraph([(wire.source, wire.target) for wire in left.wires])
    inputs = [box.key for box in left.boxes if box.kind == "input"]
    for key in vertices(left):
        assert any(nx.has_path(ways, source, key) for source in inputs)
        assert any(nx.has_path(ways, key, box.key) for box in left.boxes if box.kind == "output")
    assert prune_panel(left, kept) == left


@given(panels())
def test_keeping_all_changes_nothing_but_the_diamonds(panel: Panel) -> None:
    left = prune_panel(panel, set(panel.gates))
    assert left == replace(panel, choices=tuple(replace(choice, is_decided=True) for choice in panel.choices))


@given(st.data())
def test_more_switches_leave_more(data: st.DataObject) -> None:
    panel = data.draw(panels())
    fewer, more = data.draw(subset(panel.gates)), data.draw(subset(panel.gates))
    assert set(vertices(prune_panel(panel, fewer))) <= set(vertices(prune_panel(panel, fewer | more)))


def test_a_candidate_needs_one_of_every_choice_within_it() -> None:
    inner = [Strand("x", "h.a.one.x", "h.a.one", 1), Strand("y", "h.a.two.y", "h.a.two", 1)]
    choice = DrawnChoice(2, (Strand("a", "h.a", "h"), *inner, Strand("b", "h.b", "h")))
    panel = Panel("m", (), (Box(0, "input", "x"), Box(1, "output", "out")), (choice,), (Wire(0, 2), Wire(2, 1)))
    assert prune_panel(panel, {"h.a", "h.a.one.x"}).choices == ()
    assert prune_panel(panel, {"h.a", "h.a.one.x", "h.b"}).gates == ("h.b",)
    assert prune_panel(panel, {"h.a", "h.a.one.x", "h.a.two.y"}).gates == ("h.a", "h.a.one.x", "h.a.two.y")
    assert prune_panel(panel, {"h.a.one.x", "h.a.two.y"}).boxes == ()


def test_nothing_passes_a_box_that_is_closed() -> None:
    boxes = Box(0, "input", "x"), Box(1, "motif", "m"), Box(2, "output", "out")
    panel = Panel("m", (), boxes, (), (Wire(0, 1), Wire(1, 2)))
    assert prune_panel(panel, set()).boxes == boxes
    assert prune_panel(panel, set(), {1}).boxes == ()


# ---- diagrams


@cache
def shipped(name: str) -> Network:
    return networks(next(path for path in SPACES if path.stem == name))[0]


WRITTEN = """
    motif pick { in x x -> out : choose { relu, tanh } x -> out : optional identity }
    motif pair { in x x -> out : pick > choose { conv(3) > choose { relu, tanh }, bn } }
"""


@pytest.mark.parametrize("name", ["quickstart", "nasbench201", "densenet", "proxyless_mobile", "written"])
def test_leaves_what_pruning_leaves(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is closed, the picture shows the candidates of the remaining graph."""
    monkeypatch.setattr(decided, "MOST_OUTCOMES", 10**6)
    found = network(f"{WRITTEN} {body('x -> out : pair > pair')}") if name == "written" else shipped(name)
    diagram = diagram_of(found)
    graph = passes.run(found.graph(), passes.SWITCHES)
    zeros = {edge.gate.group for edge in graph.edges if edge.gate and isinstance(graph[edge.target].op, Zero)}
    groups = sorted({gate.group for gate in graph.gates} - zeros)
    chance = random.Random(name)
    compared = 0
    for _ in range(30):
        off = {group for group in groups if chance.random() < 0.4}
        kept = {gate.name for gate in graph.gates if gate.group not in off}
        try:
            left = passes.prune(graph, off)
        except passes.Disconnected:
            assert prune_diagram(diagram, kept).panels == ()
            continue
        except passes.Misfit:
            continue
        compared += 1
        wanted = {gate.name for gate in left.gates if gate.group not in zeros}
        assert shown(prune_diagram(diagram, kept)) == wanted
    assert compared > 3


def shown(diagram: Diagram) -> Set[str]:
    return {inner_name(use, gate) for panel in diagram.panels for gate in panel.gates for use in panel.uses}


def test_a_cell_has_one_outcome() -> None:
    diagram = diagram_of(shipped("quickstart"))
    kept = {gate for gate in diagram.gates if gate.endswith(("h.0.identity", "h.1.entry.sep_conv"))}
    left = prune_diagram(diagram, kept)
    assert [panel.title for panel in left.panels] == ["network digits", "cell block"]
    assert left.panels[1].uses == diagram.panels[1].uses
    assert "2 of 24 candidates stay" in " ".join(left.panels[1].notes)
    assert left.colours == diagram.colours
    assert left.shown == ("sep_conv", "identity")


def test_uses_that_end_differently_have_a_panel_each() -> None:
    text = "motif pick { in x x -> out : choose { relu, tanh } }"
    chained = "node a = x : pick node b = a : pick node c = b : pick c -> out : relu"
    diagram = diagram_of(network(f"{text} {body(chained)}"))
    wanted = {"a": "relu", "b": "tanh", "c": "relu"}
    left = prune_diagram(diagram, {gate for gate in diagram.gates if gate.endswith(wanted[gate[0]])})
    titles = [panel.title for panel in left.panels]
    assert titles[1:] == ["motif pick #1", "motif pick #2"]
    assert left.panels[1].uses == ("a", "c")
    assert "in a, c" in left.panels[1].notes
    boxes = {box.steps: box for box in left.panels[0].boxes if box.opened}
    assert [(box.title, box.opens) for box in boxes.values()] == [("pick #1", 1), ("pick #2", 2), ("pick #1", 1)]


def test_more_outcomes_than_can_be_shown_are_counted() -> None:
    names = ["relu", "tanh", "sigmoid", "gelu"]
    text = f"motif pick {{ in x x -> out : choose {{ {', '.join(names)} }} }}"
    chained = " > ".join(["pick"] * 9)
    diagram = diagram_of(network(f"{text} {body(f'x -> out : {chained}')}"))
    pick = next(panel for panel in diagram.panels if "pick" in panel.title)
    kept = set()
    for number, use in enumerate(pick.uses):  # another set of candidates for each use
        kept |= {inner_name(use, gate) for i, gate in enumerate(pick.gates) if (number + 1) >> i & 1}
    left = prune_diagram(diagram, kept)
    outcomes = [panel for panel in left.panels if "pick" in panel.title]
    assert len(outcomes) == decided.MOST_OUTCOMES
    assert outcomes[-1].notes[-1] == "not shown: 3 other outcomes, of 3 uses"
    (row,) = [box for box in left.panels[0].boxes if box.opened]
    assert row.lines[-1] == "9 outcomes"
    assert svg_text(lay_out(left)).count("9 outcomes") == 1


def test_shapes_are_shown_as_long_as_they_are_right() -> None:
    text = body("node h[2] x -> h : choose { relu, tanh } out concat(h)", "image(3, 8, 8) -> image(6, 8, 8)")
    diagram = diagram_of(network(text))
    whole = prune_diagram(diagram, {gate for gate in diagram.gates if gate.endswith("relu")}).panels[0]
    assert {box.shape for box in whole.boxes} == {"3x8x8", "6x8x8"}
    assert "shapes" in whole.notes[1]
    less = prune_diagram(diagram, {gate for gate in diagram.gates if gate.endswith("0.relu")}).panels[0]
    assert less.boxes
    assert {box.shape for box in less.boxes} == {""}
    assert "shapes" not in less.notes[1]


def test_what_has_become_nothing_is_gone() -> None:
    text = "motif pick { in x x -> out : choose { relu, tanh } }"
    diagram = diagram_of(network(f"{text} {body('node h x -> h : pick x -> h : tanh h -> out : relu')}"))
    left = prune_diagram(diagram, set())
    assert [panel.title for panel in left.panels] == ["network n"]
    assert not any(box.kind == "motif" for box in left.panels[0].boxes)
