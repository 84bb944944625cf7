"""Narrowed graphs, and where selections are inserted."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from bayesnas_graph.codegen.emit import build, emit
from bayesnas_graph.ir import Edge, Graph, Mask, Node, Scope
from bayesnas_graph.ir.ops import Conv, Input, Relu
from bayesnas_graph.passes import InputSlot, Narrowed, drop_unused, narrow, plain, verify
from tests.codegen.unparse.graphs import shipped
from tests.helpers import body, graph
from tests.passes.cases import Settings, check_golden, golden

FIRST: Mask = (True, True, False, False)
LAST: Mask = (False, False, True, True)


def narrowed(found: Graph, kept: Mapping[str, Mask], reads: Mapping[InputSlot, Mask] | None = None) -> Narrowed:
    """The narrowed graph, keeping everything except the given channels."""
    left = narrow(found, {node.name: (True,) * node.shape[0] for node in found} | dict(kept), reads or {})
    verify(left.graph)
    build(emit(left.graph, standalone=True))
    return left


def lines(found: Graph) -> list[str]:
    return str(found).splitlines()


def mask(digits: str) -> Mask:
    return tuple(digit == "1" for digit in digits)


@pytest.mark.parametrize("case", golden("narrow"), ids=lambda path: path.stem)
def test_golden(case: Path, update_golden: bool) -> None:
    """`node = 1100` keeps the first two of four channels, `read node = 0110` lets a node read the middle two."""

    def apply(found: Graph, settings: Settings) -> Graph:
        kept = {name: mask(digits) for name, digits in settings.items() if not name.startswith("read ")}
        reads = {(n.removeprefix("read "), 0): mask(digits) for n, digits in settings.items() if n.startswith("read ")}
        return narrowed(found, kept, reads).graph

    check_golden(case, apply, update_golden, same=False)


def test_values_kept_whole_are_unchanged() -> None:
    """Including omitted arguments."""
    for found in (plain(shipped("lenet5", "lenet5")), graph(body("x -> out : conv() > relu > conv(k = 1)"))):
        assert narrowed(found, {}).graph == found
        assert not narrowed(found, {}).selected


def test_operations_have_the_widths_that_are_left() -> None:
    found = graph(body("x -> out : conv(4) > relu > conv(3)"))
    assert lines(narrowed(found, {"conv": FIRST, "relu": FIRST}).graph) == [
        "%x = input() : 3x8x8",
        "%conv = conv(width = 2)(%x) : 2x8x8",
        "%relu = relu(%conv) : 2x8x8",
        "%conv_2 = conv(width = 3)(%relu) : 3x8x8",
        "return %conv_2",
    ]


def test_a_concatenation_loses_what_is_gone() -> None:
    found = graph(body("node a = x : conv(4) node b = x : conv(4) > relu node c = concat(b, a) c -> out : conv(3)"))
    kept = {"b.conv": (False,) * 4, "b.relu": (False,) * 4, "c": (False,) * 4 + FIRST, "a": FIRST}
    assert lines(narrowed(found, kept).graph) == [
        "%x = input() : 3x8x8",
        "%a = conv(width = 2)(%x) : 2x8x8",
        "%c = concat(%a) : 2x8x8",
        "%conv = conv(width = 3)(%c) : 3x8x8",
        "return %conv",
    ]


def test_a_selection_is_put_where_less_is_read_and_shared() -> None:
    found = graph(body("node a = x : conv(4) sum(conv(3)(a), conv(3, 1)(a), conv(3, 5)(a)) -> out"))
    readers = [edge.target for edge in found.edges if edge.source == "a"]
    kept = (True, False, True, True)
    reads = {(readers[0], 0): LAST, (readers[1], 0): LAST, (readers[2], 0): (True, False, False, True)}
    left = narrowed(found, {"a": kept}, reads)
    assert left.selected == {"a_select": (1, 2), "a_select_2": (0, 2)}
    sources = [left.graph.inputs(name)[0].source for name in readers]
    assert sources == ["a_select", "a_select", "a_select_2"]
    assert left.graph["a_select"].shape == (2, 8, 8)


def _in_motifs(*readers: str) -> Graph:
    """A value of the motif `m`, and convolutions of it."""
    scope_of = {name: name.rpartition(".")[0] for name in ("m.v", *readers)}
    nodes = [Node("x", Input(), (4, 4, 4)), Node("m.v", Relu(), (4, 4, 4), scope="m")]
    nodes += [Node(name, Conv(4, 1), (4, 4, 4), scope=scope_of[name]) for name in readers]
    edges = [Edge("x", "m.v", 0), *(Edge("m.v", name, 0) for name in readers)]
    scopes = set(scope_of.values()) - {""}
    return Graph("n", nodes, edges, readers, [Scope(name, name, "motif", 2) for name in sorted(scopes)])


@pytest.mark.parametrize(
    ("readers", "selects"),
    [
        (("a", "b"), ["m_v_select", "m_v_select"]),
        (("k.a", "k.b"), ["k.x_select", "k.x_select"]),
        (("k.a", "l.b"), ["m_v_select", "m_v_select"]),
        (("m.a", "l.b"), ["m.v_select", "l.x_select"]),
    ],
)
def test_a_selection_is_in_the_motif_of_its_readers(readers: tuple[str, ...], selects: list[str]) -> None:
    """It is not shared if a motif would then read a value computed outside from its own output."""
    found = _in_motifs(*readers)
    left = narrowed(found, {}, {(name, 0): FIRST for name in readers})
    assert [left.graph.inputs(name)[0].source for name in readers] == selects


def test_what_is_unused_is_dropped_but_for_inputs() -> None:
    nodes = [Node("x", Input(), (2,)), Node("y", Input(), (2,)), Node("a", Relu(), (2,)), Node("b", Relu(), (2,))]
    found = Graph("n", nodes, [Edge("x", "a", 0), Edge("y", "b", 0)], ["a"])
    assert [node.name for node in drop_unused(found)] == ["x", "y", "a"]
