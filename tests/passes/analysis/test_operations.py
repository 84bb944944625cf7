"""Operation counts against published numbers and against counting by hand."""

from __future__ import annotations

import pytest

from bayesnas_graph.ir.ops import PRIMITIVES, CentreConv, CentreDepthwise, Conv, Depthwise, ReluConv, ReluDepthwise
from bayesnas_graph.ir.ops.python import PythonOp
from bayesnas_graph.passes.analysis import operations, operations_by_node
from tests.helpers import body, graph
from tests.ir.ops.cases import CASES, with_rule
from tests.passes.cases import shipped


@pytest.mark.parametrize(
    ("widths", "count"), [((784, 300, 100, 10), 531_990), ((465, 37, 90, 10), 42_733), ((4, 1), 7)]
)
def test_linear_layers(widths: tuple[int, ...], count: int) -> None:
    """With I inputs, each output takes I multiplications and I - 1 additions."""
    chain = " > relu > ".join(f"linear({width})" for width in widths[1:])
    made = graph(body(f"x -> out : {chain}", f"vector({widths[0]}) -> vector({widths[-1]})"))
    assert operations(made) == count


def test_shipped_networks() -> None:
    assert operations(shipped("lenet300", "lenet300")) == 531_990
    convolutions = 2 * 24 * 24 * (25 + 1) * 20 + 2 * 8 * 8 * (20 * 25 + 1) * 50
    assert operations(shipped("lenet5", "lenet5")) == convolutions + (2 * 800 - 1) * 500 + (2 * 500 - 1) * 10


def test_by_node() -> None:
    chain = "conv(8, 3, 2, groups = 2) > bn > relu > depthwise(5, multiplier = 3)"
    found = operations_by_node(graph(body(f"x -> out : {chain}", "image(4, 8, 6) -> image(24, 4, 3)")))
    assert found == {"conv": 2 * 4 * 3 * (2 * 9 + 1) * 8, "depthwise": 2 * 4 * 3 * (25 + 1) * 24}


def test_a_depthwise_convolution_has_groups_of_one_channel() -> None:
    shape = (6, 8, 8)
    assert Depthwise(k=3, stride=2).operations(shape) == Conv(6, 3, 2, groups=6).operations(shape)


def test_only_convolutions_linear_layers_and_attention_count() -> None:
    counting = {Conv, Depthwise, ReluConv, ReluDepthwise, CentreConv, CentreDepthwise}
    counting |= {PRIMITIVES[name] for name in ("linear", "conv1d", "depthwise1d", "conv_transpose", "attention")}
    assert with_rule("operations") == {*counting, PythonOp}  # those of the latter are traced
    for op, shapes in CASES:
        assert bool(op.operations(*shapes)) == (type(op) in counting)
