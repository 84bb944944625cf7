"""Weights can be moved between programs of one space, however each was compiled."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit import Emitted, build, emit, transfer
from bayesnas_graph.ir.ops import Input
from tests.codegen.emit.test_emit import ORDERS
from tests.helpers import body, graph
from tests.passes.cases import shipped


def assert_interchangeable(one: nn.Module, two: nn.Module, programs: tuple[Emitted, Emitted], x: torch.Tensor) -> None:
    """Move the weights from one to the other and back."""
    one.train()(x)  # so that norms have seen something, those of equal candidates the same
    two.load_state_dict(transfer(one.state_dict(), *programs))
    expected = one.eval()(x)
    torch.testing.assert_close(two.eval()(x), expected)
    fresh = build(programs[0]).double().eval()
    fresh.load_state_dict(transfer(two.state_dict(), programs[1], programs[0]))
    torch.testing.assert_close(fresh(x), expected)
    for name, value in one.state_dict().items():
        torch.testing.assert_close(fresh.state_dict()[name], value, msg=name)


STACK = """
    motif conv_bn(k) { in x x -> out : relu > conv(k = k) > bn }
    cell mixed {
        in a, b
        node h[2]
        for j in 0..2 { a, b, h[0..j] -> h[j] : choose { conv_bn(3), conv_bn(1), max_pool(3) > bn(affine = false) } }
        h[0], h[1] -> out
    }
    network n : image(3, 8, 8) -> image(3, 8, 8) {
        in x
        node s[6]
        x -> s[0]
        x -> s[1]
        for k in 2..6 { mixed(s[k - 2], s[k - 1]) -> s[k] }
        out s[5]
    }
"""
GRAPHS = {"quickstart": lambda: shipped("quickstart", "digits"), "stack": lambda: graph(STACK)}


@pytest.mark.parametrize("order", ["cpu", "cuda"])
@pytest.mark.parametrize("found", GRAPHS)
def test_plain_and_fused(found: str, order: str) -> None:
    torch.manual_seed(0)
    plain, fused = (passes.run(GRAPHS[found](), *ORDERS[name]) for name in ("plain", order))
    programs = emit(plain, standalone=True), emit(fused)
    assert programs[0].modules.keys() == programs[1].modules.keys()
    assert programs[0].gates.keys() == programs[1].gates.keys()
    one, two = (build(program).double() for program in programs)
    with torch.no_grad():
        for name, value in one.named_parameters():
            if name.endswith("gates"):
                value.uniform_(0.5, 1.5)
    (shape,) = (node.shape for node in plain if isinstance(node.op, Input))
    assert_interchangeable(one, two, programs, torch.randn(4, *shape, dtype=torch.float64))


def test_parts_of_a_wider_tensor() -> None:
    """Sibling convolutions become one wide convolution, of which each has an equal part."""
    found = shipped("quickstart", "digits")
    plain, fused = (emit(passes.run(found, *ORDERS[name])) for name in ("plain", "cuda"))
    wide = {name: slot for name, slot in fused.modules.items() if slot.count == 3 and name.endswith("depthwise")}
    assert sorted({slot.index for slot in wide.values()}) == [0, 1, 2]
    state = build(plain).state_dict()
    moved = transfer(state, plain, fused)
    for name, slot in wide.items():
        expected = state[f"{plain.modules[name].path}.weight"]
        torch.testing.assert_close(moved[f"{slot.path}.weight"].chunk(3)[slot.index], expected)


def test_what_the_source_lacks_is_left_out() -> None:
    small, large = (emit(graph(body(f"node y = x : conv(3) {rest}"))) for rest in ("out y", "y -> out : bn"))
    state = build(small).state_dict()
    assert transfer(state, small, large).keys() == {"y.weight"}
    assert transfer(build(large).state_dict(), large, small).keys() == state.keys()
