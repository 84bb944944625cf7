"""Kernels of several sizes that share their weights: every option computes what its own convolution computes."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from torch import Tensor

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit import build, emit, transfer
from bayesnas_graph.codegen.supernet import Supernet
from bayesnas_graph.language.json import from_json, to_json
from bayesnas_graph.passes.analysis import cost, cuts, extremes
from tests.equivalence import assert_same_function
from tests.shared_weights import graph_of

TEXT = """
network net : image(3, 8, 8) -> classes(4) {
    in x
    let k = choose { 3, 5, 7 }
    let w = choose { 4, 8 }
    share wide = conv(w, k, stride = 2, dilation = 2, bias = true)
    share deep = depthwise(k)
    x -> out : wide > bn > relu > deep > relu > deep > global_avg_pool > linear(4)
}
"""
OPTIONS = list(product((3, 5, 7), (4, 8)))


def test_passes_and_documents() -> None:
    graph = graph_of(TEXT)
    assert from_json(to_json(graph), "graph.json") == graph
    assert_same_function(graph, passes.run(graph, (*passes.SWITCHES, *passes.FASTER)))


@pytest.mark.parametrize(("k", "width"), OPTIONS)
def test_the_chosen_kernel_is_cut_out_of_the_largest(k: int, width: int) -> None:
    torch.manual_seed(0)
    graph = graph_of(TEXT)
    supernet = Supernet.of(passes.run(graph, passes.SWITCHES))
    off = [group for group in graph.switches if group not in (f"k={k}", f"w={width}")]
    closed = {gate.name for gate in supernet.graph.gates if gate.group in off}
    supernet.set_gates(torch.tensor([float(name not in closed) for name in supernet.names]))
    pruned = passes.prune(graph, off)
    program = emit(passes.plain(pruned), standalone=True)
    assert "Centre" not in program.text
    module = build(program)
    state = transfer(supernet.module.state_dict(), supernet.program, program, cuts(graph, pruned))
    module.load_state_dict(state)
    kernels = {value.shape[-1] for name, value in state.items() if value.ndim == 4}
    assert kernels == {k}
    assert sum(p.numel() for p in module.parameters()) == cost(passes.plain(pruned)).parameters
    x = torch.randn(2, 3, 8, 8)
    found: Tensor = module.eval()(x)
    torch.testing.assert_close(found, supernet.module.eval()(x), rtol=1e-4, atol=1e-5)


def test_costs_are_those_of_the_chosen_kernel() -> None:
    graph = graph_of(TEXT)
    costs = []
    for k, width in OPTIONS:
        off = [group for group in graph.switches if group not in (f"k={k}", f"w={width}")]
        costs.append(cost(passes.prune(graph, off)).parameters)
    sizes = extremes(graph).parameters
    assert (sizes.smallest.cost, sizes.largest.cost) == (min(costs), max(costs))
    weights = 8 * 3 * 49 + 8 + 2 * 8 + 8 * 49 + 8 * 4 + 4
    assert cost(graph).parameters == max(costs) == weights


def test_some_options_left() -> None:
    """Without the largest kernel, the weights are those of the next."""
    graph = graph_of(TEXT)
    pruned = passes.prune(graph, ["k=7"])
    passes.verify(pruned)
    assert cost(pruned).parameters == 8 * 3 * 25 + 8 + 2 * 8 + 8 * 25 + 8 * 4 + 4
    assert cost(pruned).parameters == sum(
        value.numel() for name, value in build(emit(pruned)).named_parameters() if not name.endswith("gates")
    )
