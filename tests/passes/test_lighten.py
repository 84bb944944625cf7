"""Less is kept for the backward pass, and nothing else changes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from bayesnas_graph import passes
from bayesnas_graph.codegen.supernet import ReferenceNetwork
from tests.equivalence import assert_same_function
from tests.helpers import body, graph
from tests.passes.cases import check_golden, golden, options


@pytest.mark.parametrize("case", golden("lighten"), ids=lambda path: path.stem)
def test_golden(case: Path, update_golden: bool) -> None:
    check_golden(case, lambda graph, settings: passes.lighten(graph, options(settings)), update_golden)


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
