"""Semantics: one small program per rule of the language."""

from __future__ import annotations

from fractions import Fraction

import pytest

from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Network
from tests.helpers import body, check, codes, graph, network


def computed(expression: str) -> object:
    """The value of an expression, evaluated as the parameter of a network."""
    found = network(f"network n(v = {expression}) : vector(1) -> vector(1) {{ in x out x }}")
    return dict(found.arguments)["v"]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("7 / 2", Fraction(7, 2)),
        ("6 / 2", 3),
        ("7 % 4", 3),
        ("-7 % 4", 1),
        ("2^3^2", 512),
        ("-2^2", -4),
        ("2^-1", Fraction(1, 2)),
        ("10 - 4 - 3", 3),
        ("16 / 4 / 2", 2),
        ("0.1 + 0.2", Fraction(3, 10)),
        ("3.5M", 3_500_000),
        ("2K", 2000),
        ("floor(-7 / 2)", -4),
        ("ceil(7 / 2)", 4),
        ("round(5 / 2)", 3),
        ("round(7 / 3)", 2),
        ("min(3, 1/2, 2)", Fraction(1, 2)),
        ("max([3, 1, 2])", 3),
        ("len([1, 2, 3])", 3),
        ("len(2..7)", 5),
        ("len({ relu, tanh } | { relu } - { tanh })", 2),
        ("1 < 2 and not (2 <= 1)", True),
        ("false or 1 == 1", True),
        ("1 == true", False),
        ("relu == relu", True),
        ("conv(8) == conv(8, k = 3)", True),  # defaults are filled in before operations are compared
        ("if 1 > 2 then 3 else if true then 4 else 5", 4),
        ("[i * i for i in 0..4 if i != 1]", (0, 4, 9)),
        ("[10 * i + j for i in 1..3 for j in 0..i]", (10, 20, 21)),
        ("true or 1 / 0 == 1", True),  # the rest is not looked at
        ("if true then 1 else 1 / 0", 1),
    ],
)
def test_expressions(expression: str, value: object) -> None:
    result = computed(expression)
    assert result == value
    assert type(result) is type(value)


def ops(graph: Graph) -> list[str]:
    return [node.op.name for node in graph if node.op.name != "input"]


def test_an_edge_from_each_source_to_each_target() -> None:
    found = graph(body("node a, b x -> a, b : relu a, b -> out : tanh"))
    assert ops(found) == ["relu", "relu", "tanh", "tanh", "sum"]


def test_an_unlabelled_edge_is_identity() -> None:
    assert ops(graph(body("x -> out"))) == []


def test_arrays_are_sources_element_by_element() -> None:
    found = graph(body("node h[3] = x : relu h[0..2] -> out : tanh h[2] -> out"))
    assert ops(found) == ["relu", "relu", "relu", "tanh", "tanh", "sum"]


def test_elements_of_an_array_may_read_one_another_in_any_order() -> None:
    found = graph(body("node h[k in 0..3] = if k == 2 then x else h[k + 1] : relu out h[0]"))
    assert [node.name for node in found] == ["x", "h.2", "h.1", "h.0"]


def test_statements_may_come_in_any_order() -> None:
    found = graph(body("node a, b b -> out a -> b : tanh x -> a : relu"))
    assert ops(found) == ["relu", "tanh"]


def test_names_may_be_used_before_they_are_defined() -> None:
    text = "network n : vector(1) -> vector(1) { in x x -> out : later } motif later { in x x -> out : relu }"
    assert ops(graph(text)) == ["relu"]


def test_arrays_may_be_empty_but_nothing_can_be_made_of_them() -> None:
    assert ops(graph(body("node h[0] = x : relu h, x -> out"))) == []
    for join in ("sum", "concat", "mean", "product"):
        assert codes(body(f"node h[0] = x : relu {join}(h), x -> out")) == ["NAS210"]
    assert codes(body("node h[0] h -> out")) == ["NAS302"]
    assert "NAS210" in codes("motif m { in a, b out sum(a, b) }" + body("node h[0] out m(h)"))


def test_blocks_have_their_own_names() -> None:
    found = graph(body("let k = 1 for k in 3..4 { x -> out : conv(k) } assert k == 1"))
    assert found["conv"].shape == (3, 8, 8)
    assert codes(body("if true { node y = x : relu } y -> out")) == ["NAS101"]


def test_if_takes_one_branch() -> None:
    statements = "if {} {{ x -> out : relu }} else if {} {{ x -> out : tanh }} else {{ x -> out : bn }}"
    assert ops(graph(body(statements.format("true", "true")))) == ["relu"]
    assert ops(graph(body(statements.format("1 > 2", "true")))) == ["tanh"]
    assert ops(graph(body(statements.format("false", "false")))) == ["bn"]


def test_loops_run_over_ranges_arrays_sets_and_nodes() -> None:
    found = graph(
        body(
            "for i in 0..2 { x -> out : relu } for k in [1, 3] { x -> out : conv(k = k) }"
            "for o in { tanh, bn } { x -> out : o } node h[2] = x : swish for n in h { n -> out }"
        )
    )
    assert ops(found) == ["swish", "swish", "relu", "relu", "conv", "conv", "tanh", "bn", "sum"]


def test_widths_left_to_inference() -> None:
    found = graph(body("x -> out : conv(k = 1) > depthwise(3)"))
    assert found["conv"].shape == (3, 8, 8)
    assert found["conv"].op.parameters((3, 8, 8)) == 9


def test_inputs_can_be_measured() -> None:
    text = """
        motif m { in x assert channels(x) == 6 and height(x) == 8 and width(x) == 4 x -> out : conv(2 * channels(x)) }
        network n : image(6, 8, 4) -> image(12, 8, 4) { in x x -> out : m }
    """
    assert graph(text)["m.conv"].shape == (12, 8, 4)


def test_a_node_that_is_no_input_cannot_be_measured() -> None:
    assert codes(body("node y = x : relu y -> out : conv(channels(y))")) == ["NAS203"]


def test_assertions() -> None:
    _, (diagnostic,) = check(body('assert 1 > 2, "one is not two" out x'))
    assert (diagnostic.code, diagnostic.message) == ("NAS206", "one is not two")


def test_budgets_are_kept() -> None:
    found = network(body("out x require params < 3.5M require flops <= 2 * 300M"))
    assert [str(budget) for budget in found.budgets] == ["params < 3,500,000", "flops <= 600,000,000"]


def test_documentation_is_kept() -> None:
    space, _ = check("//! About.\n\n/// First.\n/// Second.\nlet a = 1\n// not documentation\nlet b = 2\n")
    assert space.doc == "About."
    assert [definition.doc for definition in space.module.own.values()] == ["First.\nSecond.", ""]


def test_choices_are_kept_with_their_limits() -> None:
    found = graph(body("x -> out : choose 1 { relu, tanh } > choose { bn, identity } > optional relu"))
    limits = {node.name: getattr(node.op, "limit", "none") for node in found if node.op.name in ("choice", "maybe")}
    assert limits == {"choice": 1, "choice_2": None, "optional": "none"}
    assert [gate.name for gate in found.gates] == [
        "choice.relu",
        "choice.tanh",
        "choice_2.bn",
        "choice_2.identity",
        "optional",
    ]


def test_candidates_are_told_apart_by_what_differs() -> None:
    found = graph(body("x -> out : choose { conv(3, 3), conv(3, 5), conv(3, 5, dilation = 2), relu }"))
    names = [gate.name for gate in found.gates]
    assert names == ["choice.conv_3_1", "choice.conv_5_1", "choice.conv_5_2", "choice.relu"]


def test_gates_have_names_of_their_own() -> None:
    """Also if the same choice connects the same two nodes twice, under the name of another node."""
    text = body(
        "node choice = x : choose { relu } x, x, choice -> out : choose { relu, tanh } x -> out : choose { relu }"
    )
    names = [gate.name for gate in graph(text).gates]
    assert len(set(names)) == len(names) == 8


def test_unused_results_are_left_out() -> None:
    """A motif may ignore an input; operations that lead only there are not computed."""
    text = """
        motif first { in a, b out a }
        network n : vector(2) -> vector(2) { in x node wasted = x : linear(9) out first(x, wasted) }
    """
    space, diagnostics = check(text)
    assert [d.code for d in diagnostics] == ["NAS306"]
    assert [node.name for node in space.networks[0].graph()] == ["x"]


def test_parameters_of_a_network_can_be_overridden() -> None:
    from bayesnas_graph.diagnostics import Report
    from bayesnas_graph.diagnostics.source import Source
    from bayesnas_graph.language.elaborate import Checker

    report = Report()
    checker = Checker(report)
    space = checker.text(Source("t", "network n(w = 3) : vector(2) -> vector(w) { in x x -> out : linear(w) }"))
    found = checker.network(space.module, "n", {"w": 7})
    assert isinstance(found, Network)
    assert found.outputs[0].shape == (7,)
    assert checker.network(space.module, "n", {"width": 7}) is None
    assert checker.network(space.module, "m") is None
    assert [d.code for d in report.diagnostics] == ["NAS107", "NAS202"]


def test_equal_programs_have_equal_graphs() -> None:
    one = graph("network n : vector(2) -> vector(2) { in x x -> out : relu }")
    two = graph("// moved\n\nnetwork n : vector(2) -> vector(2) {\n in x\n x -> out : relu }")
    other = graph("network n : vector(2) -> vector(2) { in x x -> out : tanh }")
    assert one == two
    assert one != other


def test_graphs_are_frozen() -> None:
    found = graph(body("x -> out : relu"))
    with pytest.raises(Exception, match="Frozen"):
        found.nx.add_node("y")
