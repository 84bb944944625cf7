"""Equal spaces have equal fingerprints; different spaces do not."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesnas_graph.ir import Edge, Gate, Graph, Node
from bayesnas_graph.ir.ops import Choice, Conv, Input, Sum
from bayesnas_graph.ir.ops.python import PythonOp
from bayesnas_graph.language.json import fingerprint
from tests.conftest import LONG
from tests.helpers import body, graph
from tests.language.json.graphs import (
    MUTATIONS,
    all_shipped,
    disguised,
    generated,
    graphs,
    isomorphic,
    mutated,
    shipped,
)

RANDOMS = st.randoms(use_true_random=False)


@settings(max_examples=150 * LONG)
@given(graphs(), RANDOMS)
def test_names_and_order_do_not_matter(original: Graph, random: Random) -> None:
    assert fingerprint(disguised(original, random)) == fingerprint(original)


@pytest.mark.parametrize("name", ["darts", "hierarchical", "tree_cell", "proxyless_mobile"])
def test_names_and_order_of_large_spaces_do_not_matter(name: str) -> None:
    original = shipped(name)
    assert fingerprint(disguised(original, Random(1))) == fingerprint(original)


@pytest.mark.parametrize("mutation", MUTATIONS)
@settings(max_examples=60 * LONG)
@given(original=generated(), random=RANDOMS)
def test_every_mutation_is_noticed(mutation: str, original: Graph, random: Random) -> None:
    """Unless the mutation gives the same space, which is decided by exact search on small graphs."""
    changed = mutated(original, MUTATIONS[mutation], random)
    if changed is not None and fingerprint(changed) == fingerprint(original):
        assert len(original) >= 300 or isomorphic(changed, original)


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_mutations_of_shipped_spaces_are_noticed(mutation: str) -> None:
    original = shipped("nasbench101" if mutation == "constraint" else "darts")
    before = fingerprint(original)
    for seed in range(8):
        changed = mutated(original, MUTATIONS[mutation], Random(seed))
        assert changed is not None
        assert fingerprint(changed) != before


@pytest.mark.long
def test_spaces_are_told_apart() -> None:
    known = {which: fingerprint(shipped(*which)) for which in all_shipped()}
    # The cells of DARTS are trained in one and the same network for ImageNet, wherever they were searched.
    assert known.pop(("darts", 2)) == known["darts_imagenet", 1]
    assert len(set(known.values())) == len(known)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("node y = x : relu out sum(y, y)", "node y = x : relu node z = x : relu out sum(y, z)"),
        ("node y = x : relu > bn out sum(x, y)", "node y = x : bn > relu out sum(x, y)"),
        ("x -> out : choose {relu, bn}", "x -> out : choose 1 {relu, bn}"),
        ("x -> out : dropout(0.1)", "x -> out : dropout(0.2)"),
        ("x -> out : optional relu", "x -> out : relu"),
    ],
)
def test_what_is_different(one: str, other: str) -> None:
    assert fingerprint(graph(body(one))) != fingerprint(graph(body(other)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x -> out : choose {relu, bn}", "x -> out : choose {bn, relu}"),
        ("node y = x : relu y -> out x -> out", "node z = x : relu\n x -> out\n z -> out // the same\n"),
        ("x -> out : relu > bn", "node a = x : relu a -> out : bn"),
    ],
)
def test_what_is_the_same(one: str, other: str) -> None:
    assert fingerprint(graph(body(one))) == fingerprint(graph(body(other)))


def test_cell_and_motif_differ() -> None:
    text = "cell c {{ in x x -> out : choose {{relu, tanh}} }}" + body("x -> out : c > c").replace("{", "{{").replace(
        "}", "}}"
    )
    cell = text.format()
    assert fingerprint(graph(cell)) != fingerprint(graph(cell.replace("cell", "motif")))
    assert fingerprint(graph(cell)) == fingerprint(
        graph(cell.replace("c {", "other {").replace("c > c", "other > other"))
    )


def test_order_of_inputs_and_outputs_matters() -> None:
    def two(first: str, second: str, outputs: list[str]) -> str:
        nodes = [Node(first, Input(), (3, 8, 8)), Node(second, Input(), (3, 8, 8)), Node("c", Conv(), (3, 8, 8))]
        return fingerprint(Graph("two", nodes, [Edge("a", "c", 0)], outputs))

    assert two("a", "b", ["c", "b"]) != two("b", "a", ["c", "b"])
    assert two("a", "b", ["c", "b"]) != two("a", "b", ["b", "c"])
    assert two("a", "b", ["c", "c"]) != two("a", "b", ["c"])


def test_a_python_operation_is_what_it_imports() -> None:
    def one(op: PythonOp) -> str:
        nodes = [Node("x", Input(), (4,)), Node("y", op, (4,))]
        return fingerprint(Graph("one", nodes, [Edge("x", "y", 0)], ["y"]))

    assert one(PythonOp("f", "m:F", (("n", 2),))) == one(PythonOp("g", "m:F", (("n", 2),)))
    assert one(PythonOp("f", "m:F", (("n", 2),))) != one(PythonOp("f", "m:G", (("n", 2),)))
    assert one(PythonOp("f", "m:F", (("n", 2),))) != one(PythonOp("f", "m:F", (("n", 2.0),)))


def test_grouping_is_seen_between_symmetric_choices() -> None:
    """Two choices whose candidates are shared crosswise or not: only the groups differ."""

    def shared(groups: str) -> str:
        nodes = [Node("x", Input(), (4, 8, 8))]
        edges = []
        for i, which in enumerate((groups[:2], groups[2:])):
            nodes += [Node(f"a{i}", Conv(k=1), (4, 8, 8)), Node(f"b{i}", Conv(k=3), (4, 8, 8))]
            nodes.append(Node(f"c{i}", Choice(), (4, 8, 8)))
            edges += [Edge("x", f"a{i}", 0), Edge("x", f"b{i}", 0)]
            edges += [Edge(f"{n}{i}", f"c{i}", s, Gate(f"{n}{i}", which[s])) for s, n in enumerate("ab")]
        nodes.append(Node("y", Sum(), (4, 8, 8)))
        return fingerprint(Graph("s", nodes, [*edges, Edge("c0", "y", 0), Edge("c1", "y", 1)], ["y"]))

    assert len({shared("pqrs"), shared("pqpq"), shared("pqqp"), shared("pqpr"), shared("pppp")}) == 5
    assert shared("pqpq") == shared("xyxy")
    assert shared("pqpr") == shared("prpq")
