"""Passes preserve the result: with equal weights, equal outputs and gradients."""

from __future__ import annotations

from functools import cache, partial

import pytest
import torch
from hypothesis import given, settings

from bayesnas_graph import passes
from bayesnas_graph.codegen.supernet import ReferenceNetwork
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.ir import Edge, Graph, Node
from bayesnas_graph.ir.ops import BatchNorm, Choice, Input, Sum, Zero
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.passes.verify import InvalidGraph, verify
from tests.conftest import ROOT
from tests.equivalence import assert_same_function
from tests.helpers import body, graph
from tests.programs import programs

SMALL = [("quickstart", "digits"), ("densenet", "search"), ("lenet5", "lenet5")]


@cache
def shipped(space: str, network: str) -> Graph:
    found = Checker(Report()).path(ROOT / "spaces" / f"{space}.nas")
    assert found is not None
    (chosen,) = (n for n in found.networks if n.name == network)
    return chosen.graph()


PASSES: dict[str, passes.Pass] = {
    "infer_shapes": passes.infer_shapes,
    "zero_before": partial(passes.insert_zero_identity, where="before"),
    "zero_after": partial(passes.insert_zero_identity, where="after"),
    "proxy": partial(passes.group_switches, mode="proxy"),
    "proxyless": partial(passes.group_switches, mode="proxyless"),
    "merge": passes.merge_common_subexpressions,
    "split_dilated": passes.split_dilated,
    "fuse": passes.fuse_siblings,
    "lighten": passes.lighten,
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


# Every kind of shipped space, in sizes that float64 can bear.
SIZES: dict[tuple[str, str], dict[str, int]] = {
    ("darts", "search"): {"width": 4, "cells": 3},
    ("nasbench201", "search"): {"width": 4, "cells": 1},
    ("hierarchical", "search"): {},  # see below
    ("tree_cell", "search"): {"blocks": 2, "alpha": 6},
    ("densenet", "search"): {"depth": 10, "growth": 4},
    ("quickstart", "digits"): {"width": 4},
    ("lenet5", "lenet5"): {},
}
# The shipped network with three nodes in its top motif, not five: all its operations, motifs and stages.
HIERARCHICAL = """
    import "std.nas"
    import "hierarchical.nas"
    cell small(width) { in x out assemble(3, motifs(width), width)(x) }
    network search(width = 2) : image(3, 32, 32) -> classes(10) {
        in x
        node a = x : conv_bn_relu(width, 3) > small(width)
        node b = a : separable_bn_relu(2 * width, 3, 2) > small(2 * width)
        node c = b : separable_bn_relu(4 * width, 3, 2) > small(4 * width)
        c -> out : separable_bn_relu(4 * width) > global_avg_pool > linear(10)
    }
"""


@cache
def small(space: str, network: str) -> Graph:
    """A network of a shipped space, in the size of `SIZES`, after the passes that every network goes through."""
    return passes.run(_small(space, network), passes.passes(fuse=False))


def _small(space: str, network: str) -> Graph:
    if space == "hierarchical":
        return graph(HIERARCHICAL)
    checker = Checker(Report())
    found = checker.path(ROOT / "spaces" / f"{space}.nas")
    assert found is not None
    chosen = checker.network(found.module, network, dict(SIZES.get((space, network), {})))
    assert chosen is not None
    return chosen.graph()


# The largest has nothing that the two devices treat differently, and takes longest.
DEVICES = [
    (*size, device) for size in SIZES for device in ("cpu", "cuda") if (size[0], device) != ("hierarchical", "cuda")
]


@pytest.mark.parametrize(("space", "network", "device"), DEVICES)
def test_faster_forms_of_shipped_spaces(space: str, network: str, device: passes.DeviceKind) -> None:
    before = small(space, network)
    after = passes.run(before, passes.faster(device, batch=1))
    assert len(after) <= len(before)
    assert passes.run(after, passes.faster(device, batch=1)) == after
    assert_same_function(before, after)


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
def test_choices_in_choices(text: str, where: str) -> None:
    """Each has its own zero switch, and every switch has a unique name."""
    before = graph("motif zero { in x x -> out : tanh > conv(3) }" + body(f"x -> out : {text}"))
    after = passes.insert_zero_identity(before, where)  # type: ignore[arg-type]
    verify(after)
    assert_same_function(before, after)
    assert len({gate.name for gate in after.gates}) == len(after.gates)
    assert sum(isinstance(node.op, Zero) for node in after) == sum(isinstance(node.op, Choice) for node in after)


def test_a_choice_of_several_inputs_has_one_switch() -> None:
    text = "motif add { in a, b out sum(a, b) } motif multiply { in a, b out product(a, b) }" + body(
        "let pick = choose { add, multiply } node t = x : tanh node y = pick(x, t) y -> out x -> out"
    )
    found = passes.insert_zero_identity(graph(text), "before")
    verify(found)
    zeros = [node.name for node in found if isinstance(node.op, Zero)]
    assert zeros == ["y.zero", "y.zero_2"]
    assert len({edge.gate for edge in found.edges if edge.target in zeros}) == 1


def test_who_shares_switches() -> None:
    """By default uses of a cell share switches, in proxy mode also uses of a motif, in proxyless mode none."""
    text = "cell c { in x x -> out : choose { relu, tanh } } motif m { in x x -> out : choose { relu, bn } }"
    found = passes.insert_zero_identity(graph(text + body("x -> out : c > c > m > m > choose { gelu, swish }")))
    groups = {
        mode: {gate.group for gate in passes.group_switches(found, mode).gates}
        for mode in ("written", "proxy", "proxyless")
    }
    assert {mode: len(names) for mode, names in groups.items()} == {"written": 12, "proxy": 9, "proxyless": 15}
    assert {"c:choice.relu", "m.choice.relu", "m_2.choice.relu"} <= groups["written"]
    assert {"c:choice.relu", "m:choice.relu", "m:choice.zero", "choice.gelu"} <= groups["proxy"]
    assert {"c_2.choice.relu", "m_2.choice.relu"} <= groups["proxyless"]


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
    after = passes.merge_common_subexpressions(before)
    pools = [sum(node.op.name.endswith("pool") for node in found) for found in (before, after)]
    assert pools[1] < pools[0] / 2


def test_what_is_merged_moves_out_of_its_motifs() -> None:
    text = "motif m { in x x -> out : relu > conv(3) } " + body("node p = x : tanh node q = sum(m(p), m(p)) q -> out")
    merged = passes.merge_common_subexpressions(graph(text))
    (relu,) = (node for node in merged if node.op.name == "relu")
    assert relu.name == "p_relu"
    assert relu.stands_for == (("m.relu", "m_2.relu"),)


def test_what_is_made_of_a_motif_stays_in_it() -> None:
    """If it were moved out, the motif that its input comes from would have to read the ReLU."""
    text = "motif m { in x node v = x : conv(3) node w = v : relu > tanh out v, w }" + body(
        "node v, w = m(x) w -> out v -> out : relu > conv(3)"
    )
    before = graph(text)
    merged = passes.merge_common_subexpressions(before)
    assert sum(node.op.name == "relu" for node in merged) == 1
    assert_same_function(before, merged)


# ---- dilated convolutions


@pytest.mark.parametrize("size", [8, 9, 12])
@pytest.mark.parametrize("stride", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("dilation", [2, 3])
@pytest.mark.parametrize("form", ["3", "5", "2", "3, padding = 0", "3, padding = 6", "3, bias = true, multiplier = 2"])
def test_dilated_convolutions(form: str, dilation: int, stride: int, size: int) -> None:
    if form == "3, padding = 0" and size == 8 and dilation == 3:
        size = 10
    text = f"x -> out : depthwise({form}, stride = {stride}, dilation = {dilation}) > global_avg_pool > linear(2)"
    before = graph(body(text, f"image(2, {size}, {size}) -> classes(2)"))
    after = passes.split_dilated(before)
    verify(after)
    assert_same_function(before, after)
    assert passes.split_dilated(after) == after


def test_dilated_convolutions_of_one_value_share_its_phases() -> None:
    before = graph(body("node h[3] = x : relu > depthwise(3, dilation = 2) > conv(3, 1) h -> out"))
    after = passes.merge_common_subexpressions(passes.split_dilated(before))
    names = [node.op.name for node in after]
    assert names.count("phases") == 1, "all three convolutions read the same"
    assert names.count("interleaved") == 3
    assert all(getattr(node.op, "dilation", 1) == 1 for node in after)


# ---- siblings


def test_siblings_are_one_wide_convolution() -> None:
    before = graph(body("node h[4] = x : conv(5, 3) > bn > relu > depthwise(3) > conv(3, 1) > bn h -> out"))
    after = passes.fuse_siblings(before)
    wide = [(node.op.name, node.shape[0], getattr(node.op, "groups", 1)) for node in after][1:7]
    assert wide == [
        ("conv", 20, 1),
        ("bn", 20, 1),
        ("relu", 20, 1),
        ("depthwise", 20, 1),
        ("conv", 12, 4),
        ("bn", 12, 1),
    ]
    assert len(after) == 1 + 6 + 4 + 1
    assert after["conv_x4"].stands_for == (("h.0.conv",), ("h.1.conv",), ("h.2.conv",), ("h.3.conv",))
    assert_same_function(before, after)


def test_depthwise_siblings_read_their_input_once_each() -> None:
    before = graph(
        body("node h[3] = x : depthwise(3) > bn(false) > tanh > conv(6, 1, groups = 3) > conv(3, 1) h -> out")
    )
    after = passes.fuse_siblings(before)
    assert [node.op.name for node in after].count("repeated") == 1
    assert [node.op.groups for node in after if node.op.name == "conv"] == [9, 3]  # type: ignore[attr-defined]
    assert_same_function(before, after)


def test_siblings_part_where_they_differ() -> None:
    text = "node h[3] = x : conv(3) > bn h[0] -> out : relu > conv(3) h[1] -> out : relu > conv(3) h[2] -> out : tanh"
    before = graph(body(text))
    after = passes.fuse_siblings(before)
    assert [node.op.name for node in after].count("part") == 3
    assert [node.op.name for node in after].count("relu") == 2
    assert_same_function(before, after)


@pytest.mark.parametrize(
    "text",
    [
        "node a = x : conv(3) node b = x : conv(3, 5) a, b -> out",  # not equal
        "node a = x : conv(3) node b = x : conv(3) a, b -> out",  # wide, it would be more nodes
        "node h[4] = x : relu > bn(false) > tanh h -> out",  # no weights to begin with
    ],
)
def test_siblings_that_are_left_apart(text: str) -> None:
    before = graph(body(text))
    assert passes.fuse_siblings(before) == before


def test_large_siblings_are_left_apart() -> None:
    before = graph(body("node h[4] = x : conv(5, 3) > bn > relu > conv(3) h -> out"))
    assert passes.fuse_siblings(before, largest=5 * 64 - 1) == before
    assert passes.fuse_siblings(before, largest=5 * 64) != before


def test_siblings_of_several_cells_are_left_apart() -> None:
    text = "cell c { in x x -> out : conv(3) > bn > relu > conv(3) > bn > relu }"
    before = graph(text + body("node h[4] = x : c h -> out"))
    assert passes.fuse_siblings(before) == before


def test_siblings_keep_their_gates_apart() -> None:
    text = body("node h[3] = x : choose { conv(3) > bn > relu > conv(3) > bn, identity, conv(3, 5) } h -> out")
    before = passes.insert_zero_identity(graph(text))
    after = passes.fuse_siblings(before)
    assert after.gates == before.gates
    assert len(after) < len(before)
    assert_same_function(before, after)


# ---- memory


def test_lightening_takes_activations_into_convolutions() -> None:
    before = graph(body("node y = x : bn(false) > relu > depthwise(3) > bn(false) > relu > conv(3) y -> out : relu"))
    after = passes.lighten(before)
    assert [node.op.name for node in after][1:] == ["light_bn", "relu_depthwise", "light_bn", "relu_conv", "relu"]
    assert_same_function(before, after)


def test_lightening_leaves_what_others_read() -> None:
    before = graph(body("node y = x : bn > relu y -> out : conv(3) y -> out : tanh"))
    assert passes.lighten(before) == before


def test_tensors_saved_for_the_backward_pass() -> None:
    """Three tensors per `depthwise > conv > bn > relu`: a norm keeps its output, a convolution its input."""
    before = graph(
        body(
            "x -> out : depthwise(3) > conv(16, 1) > bn(false) > relu > depthwise(3) > conv(16, 1) > bn(false)",
            "image(16, 8, 8) -> image(16, 8, 8)",
        )
    )
    after = passes.lighten(before)
    kept = []
    for found in (before, after):
        seen: dict[int, int] = {}

        def remember(tensor: torch.Tensor, seen: dict[int, int] = seen) -> torch.Tensor:
            if tensor.ndim == 4 and tensor.shape[2] == 8:
                seen[tensor.data_ptr()] = tensor.numel()
            return tensor

        net = ReferenceNetwork(found)
        x = torch.randn(2, 16, 8, 8)
        with torch.autograd.graph.saved_tensors_hooks(remember, lambda tensor: tensor):
            (y,) = net(x)
        kept.append(len(seen))
        y.sum().backward()
    assert kept == [6, 5]


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
def test_invalid_graphs_are_detected(nodes: list[Node], edges: list[Edge], outputs: list[str], problem: str) -> None:
    with pytest.raises(InvalidGraph, match=problem):
        verify(Graph("g", nodes, edges, outputs))
