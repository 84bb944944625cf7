"""Chosen numbers: architectures are as narrow and as deep as they say, and compute the same as the whole network."""

from __future__ import annotations

from random import Random

import pytest
import torch

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit.weights import narrowed
from bayesnas_graph.codegen.supernet import ReferenceNetwork
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.analysis import cost, cost_by_switch, cuts, switches
from bayesnas_graph.passes.analysis.prices import Prices
from tests.helpers import body, graph

SPACES = {
    "width": "let w = choose { 4, 6, 8 } x -> out : conv(w) > bn > relu > conv(3) > bn",
    "same width": "let w = choose { 4, 8 } x -> out : conv(w) > bn > conv() > sigmoid > conv(3)",
    "kernel": "let k = choose { 1, 3, 5 } x -> out : conv(4, k) > bn > relu > conv(3, k)",
    "both": "let w = choose { 2, 4 } let k = choose { 1, 3 } x -> out : conv(w, k) > bn > conv(2 * w, k) > conv(3, k)",
    "residual": """
        let w = choose { 2, 4, 6 }
        node a = x : conv(w) > bn
        node b = a : relu > conv(w) > bn
        a, b -> out : depthwise(3) > sigmoid > conv(3)
    """,
    "concat": """
        let w = choose { 2, 4 } let v = choose { 3, 5 }
        node a = x : conv(w)
        node b = x : conv(v)
        node c = concat(a, b, x, a) : bn > tanh
        c -> out : conv() > bn > conv(3)
    """,
    "vectors": """
        let w = choose { 2, 3, 5 }
        node v = x : conv(w) > bn > avg_pool(2, 2) > flatten > bn > linear(2 * w) > sigmoid > linear(3)
        out scale(x, v)
    """,
    "depth": "let d = choose { 0, 2, 3 } x -> out : conv(3, 1) > (conv() > bn > relu) * d > bn",
    "depth and width": """
        let d = choose { 1, 3 } let w = choose { 4, 6 }
        x -> out : conv(w) > (bn > conv(w)) * d > conv(3)
    """,
    "inside": """
        let w = choose { 2, 4 }
        node a = x : conv(w) > bn
        node b = a : choose exactly 1 { conv(), conv(k = 5), max_pool(3) > optional bn }
        a, b -> out : optional relu > conv(3)
        x -> out
    """,
    "pads": "let w = choose { 4, 6 } x -> out : conv(w) > bn > pad_channels(8) > bn > conv(3)",
    "chosen pads": "let w = choose { 4, 6 } x -> out : pad_channels(w) > bn > conv(3)",
    "multiplied": "let w = choose { 2, 4 } x -> out : conv(w) > depthwise(3, multiplier = 2) > bn > conv(3)",
}


def space(name: str) -> Graph:
    return passes.run(graph(body(SPACES[name], "image(3, 6, 6) -> image(3, 6, 6)")), passes.SWITCHES)


def settings(found: Graph, numbers: Random) -> set[str]:
    """The switches of a random architecture: one of each choice that must keep some, and any of the others."""
    on: set[str] = set()
    for node in found:
        groups = [edge.gate.group for edge in found.inputs(node.name) if edge.gate]
        if node.op.candidate_least:
            on |= set() if on.intersection(groups) else {numbers.choice(groups)}
        else:
            on |= {group for group in groups if numbers.random() < 0.7}
    return on


@pytest.mark.parametrize("name", SPACES)
def test_architectures_compute_the_same_as_the_whole_network(name: str) -> None:
    torch.manual_seed(0)
    numbers, whole = Random(0), space(name)
    network = ReferenceNetwork(whole).double()
    x = torch.randn(4, 3, 6, 6, dtype=torch.float64)
    network(x)  # so that norms have seen something
    network.eval()
    for module in network.weights.values():
        for parameter in module.parameters():
            torch.nn.init.normal_(parameter)
    tensors = {n.name: m.state_dict() for n in whole if (m := network.module(n.name)) is not None}
    for _ in range(8):
        on = settings(whole, numbers)
        for gate in whole.gates:
            network.gate(gate.name).data.fill_(float(gate.group in on))
        off = set(whole.switches) - on
        pruned = passes.prune(whole, off)
        passes.verify(pruned)
        smaller = ReferenceNetwork(passes.plain(pruned)).double().eval()
        smaller.take(narrowed(tensors, cuts(whole, pruned)))
        for expected, found in zip(network(x), smaller(x), strict=True):
            torch.testing.assert_close(found, expected)
        if any(node.op.is_mask for node in whole):
            assert not any(node.op.is_mask for node in pruned), "a decided width needs no mask"


@pytest.mark.parametrize("name", SPACES)
def test_prices_are_those_of_the_narrow_network(name: str) -> None:
    numbers, whole = Random(1), space(name)
    parameters, flops = Prices(whole, "parameters"), Prices(whole, "flops")
    for _ in range(8):
        on = settings(whole, numbers)
        size = cost(passes.plain(passes.prune(whole, set(whole.switches) - on)))
        assert (parameters.unruled(on), flops.unruled(on)) == (size.parameters, size.flops)


@pytest.mark.parametrize("name", SPACES)
def test_pruning_in_steps_is_pruning_at_once(name: str) -> None:
    numbers, whole = Random(2), space(name)
    for _ in range(8):
        off = sorted(set(whole.switches) - settings(whole, numbers))
        numbers.shuffle(off)
        pruned = passes.prune(whole, off)
        step = whole
        for group in off:
            step = passes.prune(step, {group})
            passes.verify(step)
        assert step == pruned
        assert passes.prune(pruned, off) == pruned


def test_partly_decided_widths_are_those_of_the_widest_open_option() -> None:
    pruned = passes.prune(space("width"), {"w=8"})
    assert [str(node.op) for node in pruned if node.op.name in ("conv", "first")] == [
        "conv(width = 6)",
        "first(n = 4)",
        "conv(width = 3)",
    ]


def test_the_next_layer_is_charged_for_the_chosen_width() -> None:
    whole = space("width")
    sizes = {w: cost(passes.prune(whole, {f"w={other}" for other in (4, 6, 8)} - {f"w={w}"})) for w in (4, 6, 8)}
    assert {w: size.parameters for w, size in sizes.items()} == {w: 2 * 27 * w + 2 * w + 6 for w in (4, 6, 8)}
    behind = cost_by_switch(whole)
    assert [behind[f"w={w}"].parameters for w in (4, 6, 8)] == [0, 2 * 56, 4 * 56]


def test_a_number_counts_once() -> None:
    counts = switches(graph(body(SPACES["both"], "image(3, 6, 6) -> image(3, 6, 6)")))
    assert (counts.choices, counts.settings) == (2, 4)
