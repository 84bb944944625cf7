"""Regions of a network, compiled with torch.compile."""

from __future__ import annotations

import pytest
import torch

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit import build, emit
from bayesnas_graph.codegen.supernet import compile_regions
from tests.helpers import body, graph


@pytest.mark.filterwarnings("ignore")  # torch warns about what it does itself
def test_regions_compute_the_same() -> None:
    text = body("node h[3] = x : choose { conv(3) > bn(false), max_pool(3), identity } h -> out")
    found = passes.run(graph(text), (*passes.SWITCHES, *passes.FASTER))
    torch.manual_seed(0)
    plain, compiled = build(emit(found)), build(emit(found))
    compiled.load_state_dict(plain.state_dict())
    assert compile_regions(compiled, backend="aot_eager") is compiled
    x = torch.randn(4, 3, 8, 8)
    outputs = [network(x) for network in (plain, compiled)]
    torch.testing.assert_close(outputs[0], outputs[1])
    slopes = [
        torch.autograd.grad(y.square().sum(), list(n.parameters()))
        for y, n in zip(outputs, (plain, compiled), strict=True)
    ]
    torch.testing.assert_close(slopes[0], slopes[1])


def test_regions_are_the_choices() -> None:
    """A motif of the user that is called like one is not compiled."""
    text = "motif choice_like { in x  x -> out : relu > tanh }" + body("x -> out : choice_like > choose { bn, relu }")
    program = emit(passes.run(graph(text), passes.SWITCHES))
    network = build(program)
    regions = [module for module in network.modules() if getattr(type(module), "role", "") == "choice"]
    assert {type(module).__name__ for module in regions} == {
        name for name, role in program.roles.items() if role == "choice"
    }
    assert program.roles["ChoiceLike"] == "motif"
    assert len(regions) == 1
