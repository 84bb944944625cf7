"""Drawings of flat graphs stay small after any pass."""

from __future__ import annotations

import random

import networkx as nx
import pytest

from bayesnas_graph import passes
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.report.pictures import Diagram, diagram_of_graph, lay_out, svg_text
from bayesnas_graph.report.pictures.graph import MOST_BOXES
from tests.helpers import body, graph
from tests.report.pictures.test_spaces import ALL

QUICK = 1100  # nodes that passes do not take long over


@pytest.mark.parametrize("network", ALL)
def test_every_shipped_network_can_be_looked_at(network: Network) -> None:
    written = network.graph()
    forms = [written]
    if len(written) < QUICK:
        switched = passes.run(written, passes.SWITCHES)
        forms += [switched, *pruned(switched), passes.run(written, (*passes.SWITCHES, *passes.FASTER))]
    for form in forms:
        diagram = diagram_of_graph(form)
        (panel,) = diagram.panels
        assert len(panel.boxes) + len(panel.choices) <= MOST_BOXES
        assert_all_is_there(diagram, form)


def pruned(found: Graph) -> list[Graph]:
    groups = sorted({gate.group for gate in found.gates})
    chance = random.Random(0)
    for _ in range(10):
        try:
            return [passes.prune(found, {group for group in groups if chance.random() < 0.3})]
        except (passes.Disconnected, passes.Misfit):
            continue
    return []


def assert_all_is_there(diagram: Diagram, found: Graph) -> None:
    """The drawing connects the same inputs and outputs as the graph."""
    (panel,) = diagram.panels
    ways: nx.DiGraph[int] = nx.DiGraph([(wire.source, wire.target) for wire in panel.wires])
    assert nx.is_directed_acyclic_graph(ways)
    inputs = [box.key for box in panel.boxes if box.kind == "input"]
    outputs = [box.key for box in panel.boxes if box.kind == "output"]
    assert len(outputs) == len(found.outputs)
    assert inputs
    assert all(nx.has_path(ways, source, target) for source in inputs for target in outputs)


def test_choices_have_their_candidates() -> None:
    found = passes.run(graph(body("node h x -> h : choose { relu, tanh } out h")), passes.SWITCHES)
    (panel,) = diagram_of_graph(found).panels
    (choice,) = panel.choices
    assert [strand.label for strand in choice.strands] == ["relu", "tanh"]
    assert set(choice.gates) | {choice.zero} == {gate.name for gate in found.gates}
    assert panel.route(choice) == "x → h"


def test_a_choice_that_many_read_leads_to_a_node() -> None:
    found = graph(body("node h x -> h : choose { relu, tanh } node a = h : relu node b = h : tanh out sum(a, b)"))
    (panel,) = diagram_of_graph(found).panels
    assert panel.titles[panel.target(panel.choices[0])] == "h"


def test_an_optional_connection() -> None:
    found = graph(body("node h x -> h : relu x -> h : optional identity out h"))
    (panel,) = diagram_of_graph(found).panels
    assert [choice.optional for choice in panel.choices] == [True]


def test_motifs_are_closed_where_they_would_be_too_many() -> None:
    motif = "motif m { in x node h[20] x -> h : relu out sum(h) }"
    few, many = (graph(f"{motif} {body(f'out {use}')}") for use in ("m(x)", "m(m(m(m(x))))"))
    assert len(diagram_of_graph(few).panels[0].boxes) == 23
    panel = diagram_of_graph(many).panels[0]
    assert [box.title for box in panel.boxes] == ["x", "m", "m", "m", "m", "out"]
    assert "closed" in panel.notes[0]


def test_what_cannot_be_closed_is_summed_up() -> None:
    diagram = diagram_of_graph(graph(body("node h[900] x -> h : relu out sum(h)")))
    assert len(diagram.panels[0].boxes) == 3
    assert svg_text(lay_out(diagram)).startswith("<svg")


def test_work_that_motifs_share_makes_no_circles() -> None:
    motifs = "motif m { in x, y out sum(relu(x), tanh(y)) }"
    found = passes.run(
        graph(f"{motifs} {body('node a = m(x, x) node b = m(x, a) out sum(a, b)')}"), (*passes.SWITCHES, *passes.FASTER)
    )
    assert_all_is_there(diagram_of_graph(found), found)
