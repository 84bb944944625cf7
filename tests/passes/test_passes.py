"""Passes keep what the graph computes: same weights in, same outputs and gradients out."""

from __future__ import annotations

from functools import cache, partial

import pytest
import torch
from hypothesis import given, settings

from bayesnas_graph import passes
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.elaborate import Checker
from bayesnas_graph.ir import Edge, Graph, Node
from bayesnas_graph.ops import BatchNorm, Choice, Input, Sum, Zero
from bayesnas_graph.passes.verify import InvalidGraph, verify
from bayesnas_graph.source import Source
from bayesnas_graph.supernet import ReferenceNetwork
from tests.conftest import ROOT
from tests.helpers import body, graph
from tests.programs import programs

SMALL = [("quickstart", "digits"), ("densenet", "search"), ("lenet5", "lenet5")]


@cache
def shipped(space: str, network: str) -> Graph:
    found = Checker(Report()).path(ROOT / "spaces" / f"{space}.nas")
    assert found is not None
    (chosen,) = (n for n in found.networks if n.name == network)
    return chosen.graph()


def assert_same_function(before: Graph, after: Graph) -> None:
    """Outputs and gradients agree in float64, weights and gates that both have being equal and random."""
    torch.manual_seed(0)
    one = ReferenceNetwork(before).double().eval()
    two = ReferenceNetwork(after).double().eval()
    with torch.no_grad():
        for gate in one.gates.values():
            gate.copy_(torch.rand(()) + 0.5)
        for name, buffer in one.named_buffers():
            if name.endswith("running_mean"):
                buffer.normal_()
    weights = {name: value for name, value in one.state_dict().items() if name in two.state_dict()}
    missing, unexpected = two.load_state_dict(weights, strict=False)
    assert not unexpected
    assert all(".zero" in name.replace("/", ".") for name in missing), "only zero gates may be new"
    shapes = [node.shape for node in before if isinstance(node.op, Input)]
    inputs = [torch.randn(2, *shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    gradients = []
    outputs = []
    for net in (one, two):
        found = net(*inputs)
        loss = sum((y * torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view_as(y)).sum() for y in found)
        parameters = {name: p for name, p in net.named_parameters() if name in dict(two.named_parameters())}
        parameters = {name: p for name, p in parameters.items() if name in dict(one.named_parameters())}
        wanted = [*inputs, *parameters.values()]
        gradients.append(torch.autograd.grad(loss, wanted, allow_unused=True, materialize_grads=True))
        outputs.append(found)
    torch.testing.assert_close(outputs[0], outputs[1])
    torch.testing.assert_close(gradients[0], gradients[1])


PASSES: dict[str, passes.Pass] = {
    "infer_shapes": passes.infer_shapes,
    "zero_before": partial(passes.insert_zero_identity, where="before"),
    "zero_after": partial(passes.insert_zero_identity, where="after"),
    "proxyless": partial(passes.group_switches, mode="proxyless"),
    "merge": passes.merge_common_subexpressions,
}


@pytest.mark.parametrize("name", PASSES)
@settings(max_examples=40)
@given(text=programs(fault=0))
def test_random_graphs(name: str, text: str) -> None:
    for network in Checker(Report()).text(Source("t", text)).networks:
        before = network.graph()
        after = PASSES[name](before)
        verify(after)
        assert_same_function(before, after)
        assert PASSES[name](after) == after, "done twice is done once"


@pytest.mark.parametrize("where", ["before", "after"])
@pytest.mark.parametrize(("space", "network"), SMALL)
def test_shipped_spaces(space: str, network: str, where: str) -> None:
    before = shipped(space, network)
    after = passes.run(before, passes.passes(zero=where))  # type: ignore[arg-type]
    assert_same_function(before, after)
    assert passes.run(after, passes.passes(zero=where)) == after  # type: ignore[arg-type]


@pytest.mark.parametrize("where", ["before", "after"])
def test_every_choice_has_a_zero_switch(where: str) -> None:
    before = shipped("quickstart", "digits")
    after = passes.insert_zero_identity(before, where)  # type: ignore[arg-type]
    choices = [node.name for node in before if isinstance(node.op, Choice)]
    gates = {
        edge.gate.name: edge.gate.group for edge in after.edges if isinstance(after[edge.target].op, Zero) and edge.gate
    }
    assert sorted(gates) == sorted(f"{choice}.zero" for choice in choices)
    assert len(set(gates.values())) == len(choices) // 3, "three uses of one cell"
    assert gates["large.h.0.zero"] == "block:h.0.zero"


@pytest.mark.parametrize("where", ["before", "after"])
def test_a_zero_switch_turns_its_choice_off(where: str) -> None:
    found = graph(body("node y = x : choose { relu, identity, conv(3) } y -> out x -> out : tanh"))
    net = ReferenceNetwork(passes.insert_zero_identity(found, where))  # type: ignore[arg-type]
    x = torch.randn(2, 3, 8, 8)
    with torch.no_grad():
        net.gates["y/zero"].zero_()
    torch.testing.assert_close(net(x)[0], torch.tanh(x))


def test_a_choice_of_several_inputs_has_one_switch() -> None:
    text = "motif add { in a, b out sum(a, b) } motif multiply { in a, b out product(a, b) }" + body(
        "let pick = choose { add, multiply } node t = x : tanh node y = pick(x, t) y -> out x -> out"
    )
    found = passes.insert_zero_identity(graph(text), "before")
    verify(found)
    zeros = [node.name for node in found if isinstance(node.op, Zero)]
    assert zeros == ["y.zero", "y.zero_2"]
    assert len({edge.gate for edge in found.edges if edge.target in zeros}) == 1


def test_merging_computes_pools_and_activations_once() -> None:
    """Three edges from one source: one ReLU, one pool with its norm, and three convolutions."""
    found = graph(
        body(
            "let options = { relu > conv(3), relu > conv(3, 5), max_pool(3) > bn(false) }"
            "node h[3] = x : choose options h -> out"
        )
    )
    merged = passes.merge_common_subexpressions(found)
    count = {kind: sum(node.op.name == kind for node in merged) for kind in ("relu", "max_pool", "bn", "conv")}
    assert count == {"relu": 1, "max_pool": 1, "bn": 1, "conv": 6}
    assert len(merged) < len(found)


def test_merging_keeps_weights_and_gates_apart() -> None:
    found = graph(body("x -> out : choose { relu, tanh } x -> out : choose { relu, tanh } x -> out : bn x -> out : bn"))
    merged = passes.merge_common_subexpressions(found)
    count = {kind: sum(node.op.name == kind for node in merged) for kind in ("relu", "tanh", "bn", "choice")}
    assert count == {"relu": 1, "tanh": 1, "bn": 2, "choice": 2}
    assert not BatchNorm().mergeable
    assert BatchNorm(affine=False).mergeable


def test_merging_shrinks_the_search_network_of_darts() -> None:
    before = shipped("darts", "search")
    after = passes.run(before, passes.passes())
    assert len(after) < len(before)
    pools = [sum(node.op.name.endswith("pool") for node in found) for found in (before, after)]
    assert pools[1] < pools[0] / 2


X = Node("x", Input(), (3,))


@pytest.mark.parametrize(
    ("nodes", "edges", "outputs", "problem"),
    [
        ([Node("y", Sum(), (3,)), X], [Edge("x", "y", 0)], ["y"], "too early"),
        ([X, Node("y", Sum(), (3,))], [Edge("x", "y", 1)], ["y"], "slots"),
        ([X, Node("y", Sum(), (3,))], [], ["y"], "inputs"),
        ([X, Node("y", Sum(), (4,))], [Edge("x", "y", 0)], ["y"], "shape"),
        ([X, Node("y", Choice(), (3,))], [Edge("x", "y", 0)], ["y"], "gate"),
        ([X, Node("y", Sum(), (3,))], [Edge("x", "y", 0)], ["x"], "never used"),
        ([X], [], ["z"], "no output"),
    ],
)
def test_faulty_graphs_are_noticed(nodes: list[Node], edges: list[Edge], outputs: list[str], problem: str) -> None:
    with pytest.raises(InvalidGraph, match=problem):
        verify(Graph("g", nodes, edges, outputs))
