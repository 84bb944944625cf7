"""Repeated operations become a list and a loop, with the same result."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit import build, emit
from tests.codegen.emit.test_emit import ORDERS
from tests.codegen.emit.test_source import BLOCK, assert_has, source
from tests.helpers import body, graph
from tests.passes.cases import shipped

PAIR = "cell pair(w) { in a, b node p = a : conv(w) node q = b : conv(w) > tanh p, q -> out }"


def test_a_chain_is_a_sequence() -> None:
    text = source(BLOCK + body("x -> out : block(4) > block(8) > block(8) > block(8) > block(8) > block(3)"))
    assert_has(
        text,
        "self.blocks = nn.Sequential(Block(3, 4), Block(4, 8), *(Block(8, 8) for _ in range(3)), Block(8, 3))",
        "return self.blocks(x)",
    )


def test_two_in_a_row_are_a_sequence_and_one_is_not() -> None:
    text = source(BLOCK + body("x -> out : block(4) > max_pool(3) > block(8) > block(3)"))
    assert_has(text, "self.block = Block(3, 4)\nself.blocks = nn.Sequential(Block(4, 8), Block(8, 3))")


def test_a_chain_in_an_array_is_called_after_it() -> None:
    loop = "node h[4] x -> h[0] : relu for i in 1..4 { h[i - 1] -> h[i] : block(3) }"
    found = graph(BLOCK + body(f"{loop} h[3] -> out : tanh"))
    emitted = emit(found)
    assert_has(
        source(BLOCK + body(f"{loop} h[3] -> out : tanh")),
        "self.h = nn.Sequential(*(Block() for _ in range(3)))",
        "return torch.tanh(self.h(F.relu(x)))",
    )
    assert [emitted.modules[f"h.{i}.conv"].path for i in (1, 2, 3)] == ["h.0.conv", "h.1.conv", "h.2.conv"]


def test_variants_of_a_motif_are_one_chain() -> None:
    motif = "motif m(deep) { in x x -> out : if deep then conv(3) > bn > conv(3) else conv(3) > bn }"
    text = source(motif + body("x -> out : m(true) > m(false) > m(true)"))
    assert_has(text, "self.ms = nn.Sequential(MDeep(), M(), MDeep())")


STACK = PAIR + "cell other(w) { in a, b node p = a : conv(w) node q = b : conv(w) > relu p, q -> out }"


def test_each_cell_reads_the_two_before_it() -> None:
    steps = """
        node s[6]
        x -> s[0]
        x -> s[1] : conv(4)
        for k in 2..6 {
            let step = if k == 4 then other else pair
            step(4 * k)(s[k - 2], s[k - 1]) -> s[k]
        }
        s[5] -> out : conv(3)
    """
    text = source(STACK + body(steps))
    assert_has(
        text,
        "self.s = nn.ModuleList([Pair(3, 4, 8), Pair(4, 8, 12), Other(), Pair(12, 16, 20)])",
        """
        s0, s1 = x, self.s_1(x)
        for cell in self.s:
            s0, s1 = s1, cell(s0, s1)
        return self.conv(s1)
        """,
    )


def test_a_value_that_is_read_twice_is_given_twice() -> None:
    """So the first cells of a stack are equal to the others."""
    steps = """
        node s[5]
        x -> s[0]
        x -> s[1]
        for k in 2..5 {
            pair(3)(s[k - 2], s[k - 1]) -> s[k]
        }
        out s[4]
    """
    text = source(PAIR + body(steps))
    assert_has(
        text,
        "self.s = nn.ModuleList([Pair() for _ in range(3)])",
        """
        s0 = s1 = x
        for cell in self.s:
            s0, s1 = s1, cell(s0, s1)
        return s1
        """,
    )


def test_both_last_results_of_a_loop_can_be_read() -> None:
    steps = "node s[5] x -> s[0] : relu x -> s[1] : tanh for k in 2..5 { pair(3)(s[k - 2], s[k - 1]) -> s[k] }"
    text = source(PAIR + body(f"{steps} s[3], s[4] -> out"))
    assert_has(text, "s0, s1 = F.relu(x), torch.tanh(x)", "return s0 + s1")


def test_every_round_may_read_the_same_value() -> None:
    steps = "node y = x : conv(3) node h[4] x -> h[0] : relu for i in 1..4 { pair(3)(h[i - 1], y) -> h[i] }"
    text = source(PAIR + body(f"{steps} h[3] -> out : relu"))
    assert_has(
        text,
        """
        y = self.y(x)
        h = F.relu(x)
        for cell in self.h:
            h = cell(h, y)
        return F.relu(h)
        """,
    )


def test_an_input_is_what_a_loop_begins_with() -> None:
    heading = "network n : image(3, 8, 8), image(3, 8, 8) -> image(3, 8, 8)"
    steps = "in x, y node h[4] x -> h[0] for i in 1..4 { pair(3)(h[i - 1], y) -> h[i] } out h[3]"
    text = source(f"{PAIR} {heading} {{ {steps} }}")
    assert_has(text, "for cell in self.h:\n    x = cell(x, x2)\nreturn x")


def test_a_round_may_have_a_gate_and_operations_without_weights() -> None:
    steps = "node h[4] x -> h[0] : relu for i in 1..4 { h[i - 1] -> h[i] h[i - 1] -> h[i] : optional block(3) }"
    text = source(BLOCK + body(f"{steps} h[3] -> out : relu"))
    assert_has(
        text,
        "self.h_blocks = nn.ModuleList([Block() for _ in range(3)])",
        """
        h = F.relu(x)
        for block, gate in zip(self.h_blocks, self.gates, strict=True):
            h = h + gated_sum([block(h)], gate)
        return F.relu(h)
        """,
    )


@pytest.mark.parametrize(
    "steps",
    [
        # the inputs change places
        "pair(3)(h[0], h[1]) -> h[2] pair(3)(h[2], h[1]) -> h[3] pair(3)(h[2], h[3]) -> h[4] out h[4]",
        # finally, all results are read
        "for k in 2..5 { pair(3)(h[k - 2], h[k - 1]) -> h[k] } out concat(h[2..5])",
        # one reads what is further back
        "pair(3)(h[0], h[1]) -> h[2] pair(3)(h[0], h[2]) -> h[3] pair(3)(h[1], h[3]) -> h[4] out h[4]",
        # branches
        "pair(3)(h[0], h[1]) -> h[2] pair(3)(h[0], h[1]) -> h[3] pair(3)(h[0], h[1]) -> h[4] out sum(h[2..5])",
    ],
)
def test_what_is_irregular_stays_a_list_of_lines(steps: str) -> None:
    shape = "image(9, 8, 8)" if "concat" in steps else "image(3, 8, 8)"
    start = "node h[5] x -> h[0] : relu x -> h[1] : tanh"
    text = source(PAIR + body(f"{start} {steps}", f"image(3, 8, 8) -> {shape}"))
    assert "for " not in text
    assert_has(text, "self.h_2 = Pair()\nself.h_3 = Pair()\nself.h_4 = Pair()")


def test_a_result_that_is_read_elsewhere_ends_a_chain() -> None:
    loop = "node h[5] x -> h[0] : relu for i in 1..5 { h[i - 1] -> h[i] : block(3) }"
    text = source(BLOCK + body(f"{loop} h[2], h[4] -> out"))
    assert text.count("= nn.Sequential(Block(), Block())") == 2


@st.composite
def wirings(draw: st.DrawFn) -> str:
    """Cells that mostly read the two cells before them; the output joins all unused ones."""
    count = draw(st.integers(4, 9))
    lines, unread = [], {0, 1}
    near = st.sampled_from([(2, 1)] * 6 + [(1, 2), (1, 1), (3, 1)])
    fixed = draw(st.booleans())
    for k in range(2, count):
        read = [max(0, k - back) for back in draw(near)]
        read = [0, k - 1] if fixed and draw(st.integers(0, 9)) else read
        gate = draw(st.sampled_from(["pair(3)({a}, {b}) -> h[{k}]"] * 8 + ["{a}, {b} -> h[{k}] : optional block(3)"]))
        lines.append(gate.format(a=f"h[{read[0]}]", b=f"h[{read[1]}]", k=k))
        unread = (unread - set(read)) | {k}
    last = draw(st.lists(st.integers(0, count - 1), max_size=2))
    ends = ", ".join(f"h[{k}]" for k in sorted(unread | set(last)))
    return f"node h[{count}] x -> h[0] : relu x -> h[1] : tanh {' '.join(lines)} out sum({ends})"


@settings(max_examples=40)
@given(wirings())
def test_random_wirings(steps: str) -> None:
    source(BLOCK + PAIR + body(steps))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")  # torch warns of itself
def test_torch_compile_sees_one_graph(order: str) -> None:
    steps = """
        node y = x : block(4) > block(4) > choose { block(3), relu > conv(3) }
        node s[5]
        y -> s[0]
        x -> s[1]
        for k in 2..5 { pair(3)(s[k - 2], s[k - 1]) -> s[k] }
        node h[4]
        s[4] -> h[0]
        for i in 1..4 { h[i - 1] -> h[i] h[i - 1] -> h[i] : optional block(3) }
        out h[3]
    """
    found = passes.run(graph(BLOCK + PAIR + body(steps)), *ORDERS[order])
    emitted = emit(found, standalone=order == "plain")
    assert [emitted.text.count(word) for word in ("Sequential", "ModuleList", "zip(self")] == [1, 2, 1]
    module = build(emitted).eval()
    x = torch.randn(2, 3, 8, 8)
    compiled = torch.compile(module, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), module(x))


def test_the_stack_of_darts() -> None:
    text = emit(passes.run(shipped("darts", "evaluation"), *ORDERS["plain"])).text
    assert_has(
        text,
        """
        self.s = nn.ModuleList(
            [
                Normal(108, 108, 36),
                Normal(108, 144, 36),
                *(Normal(144, 144, 36) for _ in range(4)),
                Reduction(144, 36, 72),
                NormalAfterReduction(144, 288, 36, 72),
                *(Normal(288, 288, 72) for _ in range(5)),
                Reduction(288, 72, 144),
                NormalAfterReduction(288, 576, 72, 144),
                *(Normal(576, 576, 144) for _ in range(5)),
            ]
        )
        """,
        """
        s0 = s1 = x
        for cell in self.s:
            s0, s1 = s1, cell(s0, s1)
        return s1
        """,
    )
