"""Every choice has a zero switch."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from bayesnas_graph import passes
from bayesnas_graph.codegen.supernet import ReferenceNetwork
from bayesnas_graph.passes import verify
from tests.equivalence import assert_same_function
from tests.helpers import body, graph
from tests.passes.cases import check_golden, golden, options, shipped


@pytest.mark.parametrize("case", golden("insert_zero_identity"), ids=lambda path: path.stem)
def test_golden(case: Path, update_golden: bool) -> None:
    check_golden(case, lambda graph, settings: passes.insert_zero_identity(graph, options(settings)), update_golden)


@pytest.mark.parametrize("where", ["before", "after"])
def test_every_choice_has_a_zero_switch(where: passes.ZeroSide) -> None:
    before = shipped("quickstart", "digits")
    after = passes.insert_zero_identity(before, passes.Options(zero=where))
    choices = [node.name for node in before if node.op.is_choice]
    gates = {
        edge.gate.name: edge.gate.group for edge in after.edges if after[edge.target].op.is_zero_switch and edge.gate
    }
    assert sorted(gates) == sorted(f"{choice}.zero" for choice in choices)
    assert len(set(gates.values())) == len(choices) // 3, "three uses of one cell"
    assert gates["large.h.0.zero"] == "block:h.0.zero"


@pytest.mark.parametrize("where", ["before", "after"])
def test_a_zero_switch_turns_its_choice_off(where: passes.ZeroSide) -> None:
    found = graph(body("node y = x : choose { relu, identity, conv(3) } y -> out x -> out : tanh"))
    net = ReferenceNetwork(passes.insert_zero_identity(found, passes.Options(zero=where)))
    x = torch.randn(2, 3, 8, 8)
    with torch.no_grad():
        net.gates["y/zero"].zero_()
    torch.testing.assert_close(net(x)[0], torch.tanh(x))


@pytest.mark.parametrize("where", ["before", "after"])
@pytest.mark.parametrize(
    "text",
    [
        "choose { choose { relu, tanh }, bn }",
        "choose { relu, choose { choose { relu, tanh } > conv(3), bn } }",
        "choose { optional tanh, relu }",
        "choose { zero, relu }",
    ],
)
def test_choices_in_choices(text: str, where: passes.ZeroSide) -> None:
    """Each has its own zero switch, and every switch has a unique name."""
    before = graph("motif zero { in x x -> out : tanh > conv(3) }" + body(f"x -> out : {text}"))
    after = passes.insert_zero_identity(before, passes.Options(zero=where))
    verify(after)
    assert_same_function(before, after)
    assert len({gate.name for gate in after.gates}) == len(after.gates)
    assert sum(node.op.is_zero_switch for node in after) == sum(node.op.is_choice for node in after)


def test_a_choice_of_several_inputs_has_one_switch() -> None:
    text = "motif add { in a, b out sum(a, b) } motif multiply { in a, b out product(a, b) }" + body(
        "let pick = choose { add, multiply } node t = x : tanh node y = pick(x, t) y -> out x -> out"
    )
    found = passes.insert_zero_identity(graph(text), passes.Options(zero="before"))
    verify(found)
    zeros = [node.name for node in found if node.op.is_zero_switch]
    assert zeros == ["y.zero", "y.zero_2"]
    assert len({edge.gate for edge in found.edges if edge.target in zeros}) == 1
