"""Emitted source is readable: one class for equal parts, and good names."""

from __future__ import annotations

import inspect
from textwrap import dedent, indent

from torch import nn

from bayesnas_graph import passes, runtime
from bayesnas_graph.codegen.emit import emit
from bayesnas_graph.codegen.emit.text import LINE, wrapped
from bayesnas_graph.codegen.names import RESERVED
from bayesnas_graph.ir import ModuleCall
from bayesnas_graph.ir.call import DEFAULTS
from tests.codegen.emit.test_emit import ORDERS, assert_same_function
from tests.helpers import body, graph
from tests.ir.ops.cases import CASES

BLOCK = "motif block(w, s = 1) { in x x -> out : conv(w, 3, s) > bn > relu }"


def source(text: str) -> str:
    """The plain program of a text; all compiled forms must compute the same."""
    found = graph(text)
    for order in ORDERS.values():
        assert_same_function(passes.run(found, *order))
    return emit(found).text


def assert_has(text: str, *snippets: str) -> None:
    for snippet in snippets:
        assert indent(dedent(snippet).strip("\n"), "        ") in text, text


def test_one_class_for_units_that_differ_in_numbers() -> None:
    text = source(BLOCK + body("x -> out : block(4) > max_pool(3) > block(8) > max_pool(3) > block(3)"))
    assert text.count("class ") == 2
    assert_has(text, "self.block = Block(3, 4)\nself.block_2 = Block(4, 8)\nself.block_3 = Block(8, 3)")


def test_one_class_whether_or_not_there_is_a_stride() -> None:
    text = source(BLOCK + body("x -> out : block(4, 2) > block(3)", "image(3, 8, 8) -> image(3, 4, 4)"))
    assert "def __init__(self, channels: int, width: int, stride: int = 1) -> None:" in text
    assert_has(
        text,
        "self.conv = nn.Conv2d(channels, width, 3, stride=stride, padding=1, bias=False)",
        "self.blocks = nn.Sequential(Block(3, 4, stride=2), Block(4, 3))",
    )


def test_same_padding_follows_from_the_window() -> None:
    motif = "motif m(k, d) { in x x -> out : conv(3, k, dilation = d) > bn > max_pool(k) }"
    text = source(motif + body("x -> out : m(1, 1) > m(3, 1) > m(5, 1)"))
    assert "def __init__(self, kernel: int) -> None:" in text
    assert_has(
        text,
        "self.kernel = kernel\nself.conv = nn.Conv2d(3, 3, kernel, padding=kernel // 2, bias=False)",
        "return F.max_pool2d(self.bn(self.conv(x)), self.kernel, 1, self.kernel // 2)",
    )
    assert "padding=dilation, dilation=dilation" in source(motif + body("x -> out : m(3, 1) > m(3, 2)"))


def test_numbers_of_operations_without_weights_are_attributes() -> None:
    motif = "motif pool(s) { in x x -> out : max_pool(3, s) > bn }"
    text = source(motif + body("x -> out : pool(1) > pool(2)", "image(3, 8, 8) -> image(3, 4, 4)"))
    assert_has(text, "self.stride = stride", "return self.bn(F.max_pool2d(x, 3, self.stride, 1))")


def test_inner_sizes_follow_from_the_first_and_last() -> None:
    motif = "motif m(w) { in x x -> out : conv(2 * channels(x), 1) > bn > conv(w / 2, 1) > bn > conv(w, 1) }"
    text = source(motif + body("x -> out : m(4) > m(8) > m(6) > m(3 * 2)", "image(3, 8, 8) -> image(6, 8, 8)"))
    assert "def __init__(self, channels: int, width: int) -> None:" in text
    assert_has(
        text,
        "self.conv = nn.Conv2d(channels, channels * 2, 1, bias=False)",
        "self.conv_2 = nn.Conv2d(channels * 2, width // 2, 1, bias=False)",
    )


def test_truth_is_not_a_number() -> None:
    """`True == 1` in Python, but a bias is not a padding."""
    motif = "motif m(p, b) { in x x -> out : conv(3, 3, padding = p, bias = b) > relu > crop(1) }"
    text = source(motif + body("x -> out : m(1, true) > m(0, false)", "image(3, 8, 8) -> image(3, 4, 4)"))
    assert "def __init__(self, padding: int = 0, bias: bool = True) -> None:" in text


WRAPPED = "motif inner(w) { in x x -> out : conv(w) > bn } motif outer(w) { in x x -> out : inner(w) }"


def test_a_motif_that_only_uses_another_is_one_class_with_it() -> None:
    """It is named after the outer motif, unless the inner one is used elsewhere."""
    text = source(WRAPPED + body("node y = x : outer(3) y, x -> out"))
    assert "class Inner" not in text
    assert_has(text, "self.y = Outer()")
    text = source(WRAPPED + body("node y = x : outer(3) > relu > inner(3) y, x -> out"))
    assert "class Outer" not in text
    assert_has(text, "self.y_outer = Inner()\nself.y_inner = Inner()")


def test_choices_without_a_name_are_a_list_only_if_they_are_alike() -> None:
    same, other = "choose { conv(3), relu > conv(3) }", "choose { conv(3), tanh > conv(3) }"
    assert "nn.Sequential(Choice(), Choice())" in source(body(f"x -> out : {same} > {same} > relu"))
    assert "nn.Sequential" not in source(body(f"x -> out : {same} > {other} > relu"))


def test_a_network_that_only_uses_a_motif_is_that_motif() -> None:
    text = source("motif whole { in x x -> out : conv(3) > bn }" + body("x -> out : whole"))
    assert "class Whole" not in text
    assert_has(text, "self.conv = nn.Conv2d(3, 3, 3, padding=1, bias=False)", "return self.bn(self.conv(x))")


def test_a_node_may_be_called_as_the_input_is() -> None:
    source("motif m { in a node x = a : conv(3) node y = x : conv(3) out sum(x, a, y) }" + body("x -> out : m > m"))


def test_the_tables_are_those_of_torch() -> None:
    assert {name for name in dir(nn.Module()) if not name.startswith("_")} <= RESERVED
    calls = [op.torch(*shapes) for op, shapes in CASES]
    modules = [call for call in calls if isinstance(call, ModuleCall) and call.package in ("nn", "runtime")]
    assert len({call.target for call in modules}) > 5
    for call in modules:
        parameters = inspect.signature(getattr(nn if call.package == "nn" else runtime, call.target)).parameters
        required = [p for p in parameters.values() if p.default is inspect.Parameter.empty]
        always_written = [number for number in call.kwargs if number.role not in DEFAULTS]
        assert len(required) <= len(call.args) + len(always_written)
        for number in set(call.kwargs) - set(always_written):
            assert parameters[number.role].default == DEFAULTS[number.role]


def test_long_lines_are_wrapped() -> None:
    terms = " + ".join(f"self.candidate_number_{i}(x)" for i in range(5))
    short, long = wrapped(f"        return {terms}"), wrapped(f"        total = {terms} + {terms}")
    assert short[0] == "        return ("
    assert [len(short), len(long)] == [7, 12]
    (_, inside, _) = wrapped(f"        self.conv = nn.Conv2d({', '.join(['channels'] * 7)}, padding=1, bias=False)")
    assert inside.startswith("            channels, ")
    assert max(map(len, [*short, *long, inside])) <= LINE
