"""Plain networks: they compute the same, and contain nothing of a search."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit import as_state, build, by_gate, by_node, emit, rescaled
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.ir import Graph
from bayesnas_graph.ir.ops import Choice, Gated, Input
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.passes import Disconnected, Misfit, plain, prune, rescale_gates, verify
from bayesnas_graph.passes.analysis import cost
from tests.helpers import body, graph
from tests.passes.cases import check_golden, golden
from tests.programs import programs


def searched(statements: str, types: str = "image(3, 8, 8) -> image(3, 8, 8)", zero: str = "after") -> Graph:
    found = graph(body(statements, types))
    return passes.insert_zero_identity(found, passes.Options(zero=zero))  # type: ignore[arg-type]


def lines(found: Graph) -> list[str]:
    verify(found)
    return str(found).splitlines()


@pytest.mark.parametrize("case", golden("plain"), ids=lambda path: path.stem)
def test_golden(case: Path, update_golden: bool) -> None:
    check_golden(case, lambda graph, _: plain(graph), update_golden, same=False)


def test_a_choice_is_the_sum_of_its_candidates() -> None:
    assert lines(plain(searched("x -> out : choose { relu, tanh }"))) == [
        "%x = input() : 3x8x8",
        "%choice.relu = relu(%x) : 3x8x8",
        "%choice.tanh = tanh(%x) : 3x8x8",
        "%choice = sum(%choice.relu, %choice.tanh) : 3x8x8",
        "return %choice",
    ]


def test_what_only_hands_on_is_gone() -> None:
    found = prune(searched("node y = x : choose { relu, identity } y -> out : optional tanh"), {"y.relu"})
    assert lines(plain(found)) == ["%x = input() : 3x8x8", "%optional.tanh = tanh(%x) : 3x8x8", "return %optional.tanh"]


def test_sums_of_sums_are_one() -> None:
    found = plain(searched("node y x, x -> y : choose { relu, tanh } x -> y : swish y -> out : bn"))
    assert [node.op.name for node in found] == ["input", "relu", "tanh", "relu", "tanh", "swish", "sum", "bn"]
    assert len(found.inputs("y")) == 5


def test_a_sum_that_two_read_stays() -> None:
    found = plain(searched("node y = x : choose { relu, tanh } y -> out : bn y -> out"))
    assert sum(node.op.name == "sum" for node in found) == 2


def same_function(before: Graph, *, ones: bool) -> None:
    """A searched graph and its fixed network, with its gates or, for `plain`, with all gates at 1."""
    torch.manual_seed(0)
    source = emit(before)
    net = build(source).double()
    for gate in source.gates.values():
        torch.nn.init.uniform_(net.get_parameter(gate.path), 1 if ones else 0.5, 1 if ones else 1.5)
    inputs = [torch.randn(3, *node.shape, dtype=torch.float64) for node in before if isinstance(node.op, Input)]
    state = {name: value.detach() for name, value in net.state_dict().items()}
    tensors, gates = by_node(state, source), by_gate(state, source)
    after = passes.Rescaled(plain(before), {}) if ones else rescale_gates(before)
    verify(after.graph)
    assert not after.graph.gates
    assert not any(isinstance(node.op, Choice | Gated) for node in after.graph)
    target = emit(after.graph, standalone=True)
    assert "bayesnas" not in target.text
    fixed = build(target).double()
    fixed.load_state_dict(as_state(rescaled(tensors, gates, after), {}, target))
    assert sum(p.numel() for p in fixed.parameters()) == cost(after.graph).parameters == cost(before).parameters
    with torch.no_grad():
        expected, found = net.eval()(*inputs), fixed.eval()(*inputs)
    torch.testing.assert_close(found, expected)


def closed(found: Graph, chance: float, seed: int) -> Graph | None:
    """The graph with some switches closed, if it stays connected."""
    random = Random(seed)
    groups = sorted({gate.group for gate in found.gates})
    try:
        return prune(found, {group for group in groups if random.random() < chance})
    except (Disconnected, Misfit):
        return None


@settings(max_examples=40)
@given(
    text=programs(fault=0.0),
    zero=st.sampled_from(["before", "after"]),
    chance=st.floats(0, 0.8),
    seed=st.integers(0, 99),
    ones=st.booleans(),
)
def test_random_programs(text: str, zero: str, chance: float, seed: int, ones: bool) -> None:
    networks = Checker(Report()).text(Source("random.nas", text)).networks
    assume(networks)
    before = closed(passes.insert_zero_identity(networks[0].graph(), passes.Options(zero=zero)), chance, seed)  # type: ignore[arg-type]
    if before is not None:
        same_function(before, ones=ones)


@pytest.mark.parametrize("ones", [True, False])
@pytest.mark.parametrize("zero", ["before", "after"])
def test_every_kind_of_gate(zero: str, ones: bool) -> None:
    text = """
    node y = x : conv(4) > choose { bn, conv(4, 1), max_pool(3), identity, layer_norm(affine = false) }
    node z = y : optional bn
    y, z -> out : choose { conv(3, 1, bias = true) > choose { bn, relu } }
    """
    same_function(searched(text, zero=zero), ones=ones)
