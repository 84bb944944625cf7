"""The form of the unparsed text, and unsupported graphs."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.codegen.export.describe import docs_of
from bayesnas_graph.codegen.unparse import Place, correspondence, unparse
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.ir import Edge, Graph, Node, Scope
from bayesnas_graph.ir.ops import Conv, Identity, Input, Relu, Sum
from bayesnas_graph.ir.ops.python import PythonOp
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.language.json import fingerprint
from bayesnas_graph.language.syntax import parse
from bayesnas_graph.passes import plain
from tests.codegen.unparse.test_laws import assert_same
from tests.helpers import body, check, formatted, graph, network


def same(text: str) -> None:
    """Assert that a text is reproduced unchanged."""
    text = formatted(text)
    assert unparse(graph(text)) == text


# ---- bodies


@pytest.mark.parametrize(
    "statements",
    [
        "x -> out : conv(3) > bn > relu",
        "node stem = x : conv(8) > bn  stem -> out : conv(3, 1)  x -> out",
        "node h[3]  x -> h[0] : relu  x, h[0] -> h[1] : bn  h[0], h[1] -> h[2] : tanh  h -> out",
        "node h[4]  x -> h[0] : bn  x -> h[1] : relu  x -> h[2] : tanh  x -> h[3] : gelu  h[0..3], x -> out"
        "  h[3] -> out : bn",
        "node y : mean  x -> y : relu  x -> y  y -> out : conv(3)  y -> out",
        "node a = x : relu  node b = x : tanh  node f[2] : product  a, b -> f[0]  a, f[0] -> f[1]  f -> out",
        "node a = x : relu  node b = x : tanh  concat(a, b) -> out : conv(3)",
        "out : product  x -> out : relu  x -> out : tanh",
        "node weight = x : global_avg_pool > sigmoid  out scale(x, weight)",
        "out x",
        "node y = concat(x)  y -> out : conv(3)  y -> out : conv(3, 5)",
    ],
)
def test_bodies_come_back(statements: str) -> None:
    same(body(statements))


def test_several_inputs_and_outputs() -> None:
    same(
        """
        motif split(width) {
            in x
            node a = x : conv(width, 1)
            node b = x : conv(width)
            out a, b
        }

        motif gated {
            in a, b
            node y = b : sigmoid
            out product(a, y)
        }

        network net : image(3, 32, 32), vector(16) -> classes(10), vector(16) {
            in x, weights
            node a, b = split(16)(x)
            node p = gated(a, b)
            node y = scale(p, weights)
            node features = y : global_avg_pool
            node a_2, b_2 = split(32)(x)
            node q = gated(a_2, b_2) : global_avg_pool
            node scores = concat(features, q)
            node z = scores : linear(10)
            out z, features
        }
    """
    )


def test_only_some_of_an_array() -> None:
    text = "node h[3]  x -> h[0]  h[0] -> h[1] : relu  h[1] -> h[2] : tanh  h[1], h[2] -> out"
    found = unparse(graph(body(text)))
    assert "node h_1 = x : relu\n" in found, "h[0] is x itself, and the others keep their numbers"
    assert "h_1, h_2 -> out\n" in found


@pytest.mark.parametrize(
    ("operation", "written"),
    [
        ("conv(width = 3, k = 3, stride = 1)", "conv(3)"),
        ("conv(3, groups = 3)", "conv(3, groups = 3)"),
        ("conv(3, 5, dilation = 2)", "conv(3, 5, dilation = 2)"),
        ("conv()", "conv()"),
        ("conv(bias = true)", "conv(bias = true)"),
        ("max_pool(k = 3)", "max_pool"),
        ("bn(eps = 0.001, momentum = 1 / 3)", "bn(eps = 0.001, momentum = 1 / 3)"),
        ("group_norm(3)", "group_norm(3)"),
        ("dropout(0.25)", "dropout(0.25)"),
        ("crop > conv(3, 2, padding = 1)", "crop > conv(3, 2, padding = 1)"),
    ],
)
def test_arguments(operation: str, written: str) -> None:
    assert f"x -> out : {written}\n" in unparse(graph(body(f"x -> out : {operation}")))


# ---- definitions


def test_numbers_become_parameters() -> None:
    same("""
        motif block(width, k, stride = 1, affine = true) {
            in x
            x -> out : conv(width, k, stride) > bn(affine) > relu > conv(4 * width) > bn(affine)
        }

        network n : image(3, 8, 8) -> image(32, 4, 4) {
            in x
            x -> out : block(4, 1) > block(8, 3, 2) > block(8, 5, affine = false)
        }
    """)


def test_a_value_used_once_may_be_a_parameter() -> None:
    same("""
        motif narrow {
            in x
            x -> out : conv(4, 1) > bn
        }

        motif wide(k) {
            in x
            x -> out : conv(8, k) > relu > conv(4)
        }

        cell frame(edge) {
            in x
            node h[2]
            x -> h[0] : edge
            x -> h[0] : conv(4)
            h[0] -> h[1] : bn > relu
            h -> out
        }

        network n : image(3, 8, 8) -> image(4, 8, 8) {
            in x
            x -> out : frame(narrow) > frame(wide(3)) > frame(wide(5))
        }
    """)


def test_too_many_numbers_make_motifs_of_their_own() -> None:
    steps = " > ".join(f"conv(3, {{{i}}})" for i in range(6))
    text = f"""
        motif m {{ in x x -> out : {steps.format(1, 3, 5, 7, 9, 11)} }}
        motif m_2 {{ in x x -> out : {steps.format(3, 5, 7, 9, 11, 1)} }}
        {body("x -> out : m > m_2 > m")}
    """
    found = graph(text)
    alike = [replace(scope, kind="m") for scope in found.scopes]
    found = Graph(found.name, found, found.edges, found.outputs, alike)
    assert "x -> out : m > m_2 > m\n" in unparse(found)
    assert_same(found)


def test_wrappers_and_single_operations_dissolve() -> None:
    text = """
        motif act { in x  x -> out : relu }
        motif block { in x  x -> out : conv(3) > act > bn }
        motif outer { in x  out block(x) }
    """ + body("x -> out : outer > act > outer")
    assert unparse(graph(text)) == formatted("""
        motif outer { in x  x -> out : conv(3) > relu > bn }
        network n : image(3, 8, 8) -> image(3, 8, 8) { in x  x -> out : outer > relu > outer }
    """)


def test_a_motif_whose_sum_is_part_of_another_stays() -> None:
    motif = "motif m { in x  x -> out : conv(3) > bn  x -> out : tanh }"
    found = unparse(plain(graph(motif + body("node a = x : m  x -> out : m  a -> out : relu"))))
    assert "node a = x : m\n    x -> out : m\n    a -> out : relu\n" in found


def test_cells_keep_their_names() -> None:
    inner = "motif inner { in x  x -> out : conv(3) > bn }"
    cells = "".join(f"cell {name} {{ in x  out inner(x) }}" for name in ("first", "second"))
    found = unparse(graph(inner + cells + body("x -> out : first > second > first")))
    assert "x -> out : first > second > first\n" in found


def test_names_that_mean_something_are_avoided() -> None:
    block = "motif bn_2 { in x  x -> out : conv(3) > relu }"
    found = graph(block + body("node a = x : bn_2  node b = a : bn_2  b -> out  a -> out  x -> out : bn_2"))
    kinds = [replace(scope, kind="conv") for scope in found.scopes]
    odd = Graph("require", found, found.edges, found.outputs, kinds)
    text = unparse(odd)
    assert "motif conv_2 {" in text
    assert "network require_2 :" in text
    assert_same(odd)


# ---- comments


def test_documentation_and_budgets() -> None:
    found = unparse(
        graph(body("x -> out : relu")), doc="A network.\n\n  */ } of a search\n", budgets=["params < 20,000"]
    )
    assert found.startswith("//! A network.\n//!\n//!   */ } of a search\n\nnetwork n")
    assert found.endswith("    x -> out : relu\n    require params < 20K\n}\n")
    (budget,) = network(found).budgets
    assert str(budget) == "params < 20,000"


@pytest.mark.parametrize(
    "budget", ["params", "params == 3", "size < 3", "params < 1.5", "params < 2 } network m", "params < 9999G9"]
)
def test_no_budget(budget: str) -> None:
    with pytest.raises(ValueError, match="is not a budget"):
        unparse(graph(body("x -> out : relu")), budgets=[budget])


def test_notes_on_edges() -> None:
    found = graph(body("node h x -> h : relu x -> h  h -> out : bn h -> out"))
    text = unparse(found, notes={("h", 1): "a skip", ("out", 1): "another", ("h", 7): "nothing", ("z", 0): "nothing"})
    assert re.search(r"x -> h +// a skip\n", text)
    assert re.search(r"h -> out +// another\n", text)
    assert "nothing" not in text


def test_notes() -> None:
    cell = "cell c { in x  node y = x : conv(3) > bn  node h  x -> h : relu  y -> h  out h }"
    found = graph(cell + body("x -> out : c > c > c > c > c > tanh"))
    notes: dict[Place, str] = {
        "c.y.conv": "one",
        "c.y.bn": "two",
        "tanh": "last\nline",
        "x": "given",
        "c": "a use",
        "c_2.y.conv": "one",
        "c_3.y.conv": "use 3",
        "c_4.y.conv": "use 4",
        "c_5.y.conv": "use 5",
        "c.out": "",
        "c.h": "joined",
    }
    text = unparse(found, notes=notes)
    assert re.search(r"in x +// given\n", text)
    assert "node y = x : conv(3) > bn  // one, use 3, use 4, ...; two\n" in text
    assert "c > c > c > c > c > tanh  // a use; last line\n" in text
    assert text == formatted(text)
    assert fingerprint(graph(text)) == fingerprint(found)


@given(doc=st.text(), note=st.text())
def test_no_comment_can_break_out(doc: str, note: str) -> None:
    found = graph(body("x -> out : relu"))
    text = unparse(found, doc=doc, notes={"relu": note, "x": note})
    assert text == formatted(text)
    report = Report()
    assert len(parse(Source("t", text), report).items) == 1
    assert fingerprint(graph(text)) == fingerprint(found)


# ---- operations in Python


def python_graph(*ops: PythonOp) -> Graph:
    names = [f"n{i}" for i in range(len(ops))]
    nodes = [Node("x", Input(), (4, 8, 8)), *(Node(name, op, (4, 8, 8)) for name, op in zip(names, ops, strict=True))]
    edges = [Edge(source, name, 0) for source, name in zip(["x", *names], names, strict=False)]
    return Graph("net", nodes, edges, names[-1:])


def test_python_operations_are_defined() -> None:
    shuffles = [PythonOp("shuffle", "torch.nn:ChannelShuffle", (("groups", n),)) for n in (2, 4)]
    found = python_graph(
        *shuffles, PythonOp("relu", "torch.nn:Identity"), PythonOp("a b", "torch.nn:Dropout", (("p", 0.5),))
    )
    text = unparse(found)
    assert text.startswith('op shuffle(groups) from "torch.nn:ChannelShuffle"\n')
    assert 'op relu_2 from "torch.nn:Identity"\n' in text
    space = Checker(Report(), allow_python=True).text(Source("t", text))
    again = space.networks[0].graph()
    assert fingerprint(again) == fingerprint(found)
    assert len(correspondence(found, again)) == len(found)
    assert unparse(again) == text


@pytest.mark.parametrize(
    "op",
    [
        PythonOp("f", 'os:system"\nop g from "os:system'),
        PythonOp("f", "torch.nn:Identity", (("in", 1),)),
        PythonOp("f", "torch.nn:Identity", (("p", 2.0),)),
        PythonOp("f", "torch.nn:Identity", (("p", 1e-30),)),
    ],
)
def test_python_operations_that_no_text_has(op: PythonOp) -> None:
    with pytest.raises(ValueError, match=r"cannot be|is not|no number"):
        unparse(python_graph(op))


# ---- what is refused


def test_only_fixed_networks() -> None:
    for statements in ("x -> out : choose { relu, bn }", "x -> out : optional relu"):
        with pytest.raises(ValueError, match="fixed network"):
            unparse(graph(body(statements)))
    nodes = [Node("x", Input(), (3, 8, 8)), Node("y", Identity(), (3, 8, 8))]
    with pytest.raises(ValueError, match="`identity` is not an operation"):
        unparse(Graph("n", nodes, [Edge("x", "y", 0)], ["y"]))


def test_only_shapes_of_the_language() -> None:
    nodes = [Node("x", Input(), (3, 8, 8, 8)), Node("y", Relu(), (3, 8, 8, 8))]
    with pytest.raises(ValueError, match="4 dimensions"):
        unparse(Graph("n", nodes, [Edge("x", "y", 0)], ["y"]))


def test_motifs_may_be_nested_without_end() -> None:
    motifs = [".".join(["m"] * depth) for depth in range(300)]
    relus = [Node(f"{motif}.relu".removeprefix("."), Relu(), (3,), scope=motif) for motif in motifs]
    nodes = [Node("x", Input(), (3,)), *relus]
    names = [node.name for node in nodes]
    edges = [Edge(source, target, 0) for source, target in pairwise(names)]
    scopes = [Scope(inner, "m", "motif", parent=outer) for outer, inner in pairwise(motifs)]
    assert_same(Graph("n", nodes, edges, names[-1:], scopes))


# ---- correspondence


def small(*, width: int = 3, order: tuple[str, str] = ("a", "b")) -> Graph:
    nodes = [Node("x", Input(), (3, 8, 8)), Node("a", Relu(), (3, 8, 8)), Node("b", Conv(width), (width, 8, 8))]
    edges = [Edge("x", "a", 0), Edge("x", "b", 0), *(Edge(name, "c", slot) for slot, name in enumerate(order))]
    return Graph("n", [*nodes, Node("c", Sum(), (3, 8, 8))], edges, ["c"])


def test_correspondence() -> None:
    assert correspondence(small(), small()) == {name: name for name in "xabc"}


@pytest.mark.parametrize("other", [small(width=5), small(order=("b", "a")), small(order=("a", "a"))])
def test_what_does_not_correspond(other: Graph) -> None:
    with pytest.raises(ValueError, match=r"and"):
        correspondence(small(), other)
    with pytest.raises(ValueError, match=r"and"):
        correspondence(other, small())
    one = Graph("n", small(), small().edges, ["c", "c"])
    with pytest.raises(ValueError, match="number of inputs or outputs"):
        correspondence(small(), one)


def test_documentation_and_arguments_survive() -> None:
    """Motifs that became different are named after the arguments that differ, and keep their documentation."""
    doc = "/// A block.\n///\n/// It may shrink.\n"
    block = "motif block(w, stride) { in x x -> out : conv(w, 3, stride) > bn if stride == 1 { x -> out } } "
    types = "image(3, 8, 8) -> image(3, 4, 4)"
    space, diagnostics = check(doc + block + body("x -> out : block(3, 1) > block(8, 2) > conv(3, 1)", types))
    assert not diagnostics
    written = unparse(plain(space.networks[0].graph()), docs=docs_of(space.networks[0]))
    assert "/// A block.\n///\n/// It may shrink.\nmotif block_w3 {" in written
    again, diagnostics = check(written)
    assert not diagnostics
    assert docs_of(again.networks[0]).motifs == dict.fromkeys(("block_w3", "block_w8"), "A block.\n\nIt may shrink.")
