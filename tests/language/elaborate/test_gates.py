"""The fields of gates agree with the graph that they are in, whatever things are called."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import get_args

import pytest
from hypothesis import given, settings

from bayesnas_graph import passes
from bayesnas_graph.ir import Edge, Gate, Graph, Kind
from bayesnas_graph.ir.ops import Choice, Gated, Maybe, Zero
from bayesnas_graph.language.json import from_json, to_json
from bayesnas_graph.passes import Disconnected, Misfit
from tests.conftest import LONG
from tests.helpers import body, check, graph
from tests.programs import programs

OPS: dict[Kind, type] = {"candidate": Choice, "zero": Zero, "optional": Maybe}
MODES = get_args(passes.Mode)


def facts(gate: Gate) -> tuple[str, ...]:
    """All that a gate is known by."""
    ids = gate.name, gate.group, gate.choice
    return *ids, gate.label, gate.kind, gate.part, gate.use, gate.target, gate.source


def variants(plain: Graph) -> Iterator[Graph]:
    """The graph with zero switches on either side, and grouped in every way."""
    for mode in MODES:
        yield passes.run(plain, passes.SWITCHES, passes.Options(zero="before", mode=mode))
        yield passes.run(plain, passes.SWITCHES, passes.Options(zero="after", mode=mode))


def check_gates(made: Graph) -> None:
    known: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for edge in made.edges:
        assert (edge.gate is not None) == isinstance(made[edge.target].op, Choice | Gated)
        if (gate := edge.gate) is not None:
            assert isinstance(made[edge.target].op, OPS[gate.kind])
            assert isinstance(made[gate.choice].op, Maybe if gate.kind == "optional" else Choice)
            assert gate.is_zero or edge.target == gate.choice
            assert gate.part
            assert gate.target
            assert gate.span is not None
            known[gate.group].add((gate.text, gate.kind))
    assert all(len(names) == 1 for names in known.values()), "the gates of a switch have one name"


def check_candidates(made: Graph) -> None:
    """What is behind a gate is read by nothing else, and the candidates of a choice have different labels."""
    own: dict[str, Edge] = {}
    readers: dict[str, list[Edge]] = defaultdict(list)
    for edge in made.edges:
        readers[edge.source].append(edge)
        if edge.gate is not None and not edge.gate.is_zero:
            own[edge.gate.name] = edge
    for node in made:
        labels = [edge.gate.label for edge in made.inputs(node.name) if edge.gate is not None]
        assert len(set(labels)) == len(labels)
        for gate in node.behind:
            leaving = [edge for edge in readers[node.name] if gate not in made[edge.target].behind]
            assert all(edge is own[gate] for edge in leaving)


@settings(max_examples=15 * LONG)
@given(programs(fault=0))
def test_random_programs(text: str) -> None:
    space, _ = check(text)
    for network in space.networks:
        for made in variants(network.graph()):
            check_gates(made)
            check_candidates(made)
            read = from_json(to_json(made), "read.json")
            assert list(map(facts, read.gates)) == list(map(facts, made.gates))
            assert [(n.label, n.behind, n.scope) for n in read] == [(n.label, n.behind, n.scope) for n in made]
            try:
                left = passes.prune(made, {gate.group for gate in made.gates if gate.kind == "optional"})
            except (Disconnected, Misfit):
                continue
            assert set(map(facts, left.gates)) <= set(map(facts, made.gates))


CELL = """
cell c(w) { in x node h[2] for j in 0..2 { x, h[0..j] -> h[j] : choose { conv(w, 1), conv(w, 3) } } out sum(h) }
motif m { in x node y = x : c(3) > optional bn out y }
"""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (body("node y = x : choose { relu, tanh } out y"), ["n y: relu", "n y: tanh", "n y: zero"]),
        (body("x -> out : optional relu x -> out"), ["n out <- x: optional"]),
        (body("node y = x : bn > choose { relu } out y"), ["n y.choice: relu", "n y.choice: zero"]),
        (
            body("node y x -> y : optional choose { relu } x -> y : choose { relu } out y"),
            ["n y <- x: relu", "n y <- x: zero", "n y <- x: optional", "n y <- x (2): relu", "n y <- x (2): zero"],
        ),
        (
            CELL + body("node y[2] x -> y[0] : m y[0] -> y[1] : m out y[1]"),
            [
                *(f"c h[0]: {label}" for label in ("conv_1", "conv_3", "zero")),
                *(f"c h[1] <- x: {label}" for label in ("conv_1", "conv_3", "zero")),
                *(f"c h[1] <- h[0]: {label}" for label in ("conv_1", "conv_3", "zero")),
                "m y[0].y.optional: optional",
                "m y[1].y.optional: optional",
            ],
        ),
    ],
)
def test_names_for_people(text: str, names: list[str]) -> None:
    found = {gate.text for gate in passes.insert_zero_identity(graph(text)).switches.values()}
    assert found == set(names)


@pytest.mark.parametrize(
    ("nodes", "edges", "sources"),
    [
        ("node x_2 = x : bn", "x -> y : {c} x_2 -> y : {c}", ["x", "x_2"]),
        ("node z = x : bn", "x -> y : {c} x -> y : {c} z -> y : {c}", ["x", "x (2)", "z"]),
        ("node x_2 = x : bn", "x -> y : {c} x -> y : {c} x_2 -> y : {c}", ["x", "x (2)", "x_2"]),
        ("node x_2 = x : bn", "x_2 -> y : {c} x -> y : {c} x -> y : {c}", ["x_2", "x", "x (2)"]),
    ],
)
def test_a_second_edge_and_a_node_with_a_number(nodes: str, edges: str, sources: list[str]) -> None:
    """The second edge from `x` and an edge from `x_2` have similar ids, but a document tells them apart."""
    made = graph(body(f"{nodes} node y {edges.format(c='choose { relu }')} out y"))
    assert [gate.source for gate in made.gates] == sources
    assert [gate.source for gate in from_json(to_json(made), "read.json").gates] == sources


def test_what_only_seems_to_be_in_a_scope() -> None:
    """The names of an array called `choice` begin like those in a choice of that name."""
    made = graph(body("node choice[2] = x : bn node y = sum(choice) y -> out : choose { relu, bn > tanh }"))
    for found in (made, from_json(to_json(made), "read.json")):
        inside = [node.name for node in found if found.enclosing(node.name)]
        assert inside == ["choice.relu", "choice.chain.bn", "choice.chain.tanh", "choice"]


def test_spans_are_those_of_the_candidates() -> None:
    edges = "y -> out : choose s y -> out : optional tanh"
    text = "set s = { bn, gelu }" + body(f"node y = x : choose {{ relu, conv(3) > bn }} {edges}")
    gates = {gate.label: gate for gate in graph(text).gates}
    spans = {label: gate.span.text for label, gate in gates.items() if gate.span is not None}
    assert spans == {"relu": "relu", "chain": "conv(3) > bn", "bn": "bn", "gelu": "gelu", "tanh": "tanh"}
    shown = {edge.gate.label: edge.switch_span.text for edge in graph(text).edges if edge.gate and edge.switch_span}
    assert shown == {**spans, "bn": "choose s", "gelu": "choose s"}, "a set is written elsewhere"
