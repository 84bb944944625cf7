"""Functions, repetition, arrays, named candidates and numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Checker, Limits
from tests.helpers import body, codes, graph


def ops(graph: Graph) -> list[str]:
    """The primitives of a graph in order, without its input."""
    return [node.op.name for node in graph if not node.op.is_input]


@pytest.mark.parametrize(
    "condition",
    [
        "1e6 == 1_000_000 and 1E3 == 1K",
        "2.5e-3 == 1 / 400 and 1e0 == 1 and 1_0.2_5 == 10.25",
        "sum([1, 2], 3, 0..4) == 12 and sum([]) == 0 and sum(1 / 2, 1 / 2) == 1",
        "[1, 2] + [] + (5..7) == [1, 2, 5, 6]",
        "[1, 2, 3][1] == 2 and [1, 2, 3][-3] == 1 and ([1] + [2])[0..1] == [1]",
        "(3..9)[2] == 5 and (3..9)[-1] == 8 and len((3..9)[1..3]) == 2",
        'len(["a", "b"]) == 2 and "a" != "b" and ["a"][0] == "a"',
    ],
)
def test_values(condition: str) -> None:
    assert codes(body(f"assert {condition} out x")) == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("let i = 0 let a = [1, 2] let b = a[i - 1] out x", "NAS207"),
        ("let a = [1, 2][-3] out x", "NAS207"),
        ("let a = 1e19 out x", "NAS405"),
        ("let a = 1e-999999999 out x", "NAS405"),
        ("let a = 1e999999999 out x", "NAS405"),
        ("let a = sum(0..10^12) out x", "NAS403"),
        ("let a = [0] + (0..10^12) out x", "NAS403"),
        ("x -> out : ((relu * 1000) * 1000) * 1000", "NAS403"),
        ("let f(n) = n out f(x, x)", "NAS202"),
        ("let f(n) = n let g = f(m = 3) out x", "NAS202"),
        ("x -> out : choose { a = conv(k = 3) } | { a = conv(k = 5) }", "NAS307"),
    ],
)
def test_mistakes(text: str, code: str) -> None:
    assert codes(body(text)) == [code]


def test_doubling_an_array_is_metered() -> None:
    doubled = " ".join(f"let a{i + 1} = a{i} + a{i}" for i in range(60))
    assert codes(body(f"let a0 = [1] {doubled} out x")) == ["NAS403"]


def test_a_repetition_is_the_chain() -> None:
    repeated = graph(body("node y = x : conv() > (relu > bn) * 2 > tanh * 0 > tanh out y"))
    chain = graph(body("node y = x : conv() > relu > bn > relu > bn > tanh out y"))
    assert [node.name for node in repeated] == [node.name for node in chain]
    assert ops(repeated) == ops(chain)
    assert ops(graph(body("x -> out : 0 * relu"))) == []


def test_repeated_motifs_have_their_own_switches_and_cells_share_them() -> None:
    inside = "{ in a a -> out : choose { relu, tanh } a -> out }"
    for role, count in (("motif", 6), ("cell", 2)):
        text = f"{role} m {inside} " + body("x -> out : m * 3")
        assert len({gate.group for gate in graph(text).gates}) == count


def test_then_is_the_conditional_it_replaces() -> None:
    short = graph(body("node h[i in 0..3] = x then h[i - 1] : conv() > bn out sum(h)"))
    long = graph(body("node h[i in 0..3] = if i == 0 then x else h[i - 1] : conv() > bn out sum(h)"))
    assert str(short) == str(long)


def test_names_of_candidates_are_those_of_switches() -> None:
    text = "set s = { small = conv(k = 3), conv(k = 5), deep = relu > bn } - { conv(k = 7) } | { tanh } "
    found = graph(text + body("node y = x : choose s out y"))
    assert [gate.name for gate in found.gates] == ["y.small", "y.conv", "y.deep", "y.tanh"]
    assert [gate.label for gate in found.gates] == ["small", "conv", "deep", "tanh"]


def test_a_name_wins_over_a_label() -> None:
    found = graph(body("node y = x : choose { conv(k = 3), conv = conv(k = 5) } out y"))
    assert [gate.label for gate in found.gates] == ["conv_2", "conv"]


def test_functions_are_imported_and_return_anything(tmp_path: Path) -> None:
    (tmp_path / "f.nas").write_text(
        "let double(n) = 2 * n  let twice(n) = double(n) "
        "let block(w) = conv(w) > bn  let pair(k) = { conv(k = k), relu }"
    )
    main = tmp_path / "main.nas"
    main.write_text(
        'import "f.nas" as f network n : image(3, 8, 8) -> image(6, 8, 8) '
        "{ in x x -> out : choose f.pair(3) > f.block(f.twice(channels(x))) }"
    )
    report = Report()
    space = Checker(report).path(main)
    assert not report.diagnostics
    assert space is not None
    assert [str(node.op) for node in space.networks[0].graph()][-1] == "bn"


def test_functions_take_nodes_of_their_body() -> None:
    found = graph(body("let f(n) = conv(channels(n))(n) let y = f(x) node z = f(x) out sum(y, z)"))
    assert ops(found) == ["conv", "conv", "sum"]


def test_functions_may_return_a_node_that_exists() -> None:
    assert ops(graph(body("let y = relu(x) let f(n) = y node z = f(x) out sum(y, z)"))) == ["relu", "sum"]
    assert ops(graph(body("let f(n) = n node y = f(x) out y"))) == []


def test_recursion_ends_or_is_stopped() -> None:
    text = body("let f(n) = if n == 0 then 0 else 1 + f(n - 1) assert f(50) == 50 out x")
    assert codes(text) == []
    report = Report()
    forever = body("let f(n) = f(n) + 1 assert f(1) == 1 out x")
    Checker(report, Limits(depth=30)).text(Source("forever", forever))
    assert [d.code for d in report.diagnostics] == ["NAS402"]
