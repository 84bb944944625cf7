"""Shrinking removes channels with zero weights without changing the result."""

from __future__ import annotations

from random import Random

import pytest
import torch
from torch import Tensor, nn

from bayesnas_graph.codegen.emit import as_state, build, emit
from bayesnas_graph.derive.text import written
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.passes import plain
from bayesnas_graph.passes.shrink import shrink
from bayesnas_graph.passes.shrink.reads import COPY_COST
from tests.codegen.export.networks import EVERYTHING
from tests.helpers import body, graph
from tests.passes.shrink.networks import Tensors, assert_shrunk, dead, outputs, whole, zeroed

Found = dict[str, dict[str, Tensor]]


def net(statements: str, types: str = "image(3, 8, 8) -> classes(5)") -> tuple[Graph, Found]:
    found = plain(graph(body(statements, types)))
    return found, whole(found)


def widths(found: Graph) -> dict[str, int]:
    return {node.name: node.shape[0] for node in found}


# ------------------------------------------------------------------------------------ removable parts


def test_a_neuron_goes_with_what_reads_it() -> None:
    found, tensors = net("x -> out : linear(8) > relu > linear(5)", "vector(6) -> classes(5)")
    dead(tensors, "linear", channels=[0, 3])
    tensors["linear_2"]["weight"][:, 5] = 0
    left = assert_shrunk(found, tensors)
    assert left.kept["linear"] == left.kept["relu"] == (False, True, True, False, True, False, True, True)
    assert left.tensors["linear"]["weight"].shape == (5, 6)
    assert left.tensors["linear_2"]["weight"].shape == (5, 5)


def test_features_that_nothing_reads_are_not_selected() -> None:
    found, tensors = net("x -> out : linear(8) > relu > linear(5)", "vector(6) -> classes(5)")
    tensors["linear"]["weight"][:, [0, 4]] = 0
    left = assert_shrunk(found, tensors)
    assert [node.op.name for node in left.graph] == ["input", "select", "linear", "relu", "linear"]
    assert left.tensors["x_select"]["channels"].tolist() == [1, 2, 3, 5]
    assert all(left.kept["x"])


def test_a_filter_goes_with_its_norm() -> None:
    found, tensors = net("x -> out : conv(8) > bn > relu > conv(4) > global_avg_pool > linear(5)")
    dead(tensors, "conv", "bn", channels=[1, 2])
    left = assert_shrunk(found, tensors)
    assert widths(left.graph) == {**widths(found), "conv": 6, "bn": 6, "relu": 6}
    assert left.tensors["bn"]["running_var"].shape == (6,)


def test_a_bias_of_the_norm_keeps_a_filter() -> None:
    found, tensors = net("x -> out : conv(8) > bn > relu > conv(4) > global_avg_pool > linear(5)")
    dead(tensors, "conv", channels=[1, 2])
    assert widths(assert_shrunk(found, tensors).graph) == widths(found)


RESIDUAL = """
node a = x : conv(8)
node b a -> b a -> b : conv(8) > bn > relu > conv(8, 1) > bn
node c b -> c b -> c : conv(8) > bn
c -> out : global_avg_pool > linear(5)
"""


def test_a_residual_branch_vanishes() -> None:
    found, tensors = net(RESIDUAL)
    dead(tensors, *(name for name in tensors if name.startswith("b.") and "bn_2" in name))
    left = assert_shrunk(found, tensors)
    assert [node.op.name for node in left.graph] == [
        *("input", "conv", "conv", "bn", "sum", "global_avg_pool", "linear"),
    ]
    assert not any(any(kept) for name, kept in left.kept.items() if name.startswith("b."))


def test_a_residual_stream_loses_a_channel_everywhere() -> None:
    found, tensors = net(RESIDUAL)
    for node in found:
        if node.op.name in ("conv", "bn") and node.shape[0] == 8:
            dead(tensors, node.name, channels=[2])
    left = assert_shrunk(found, tensors)
    assert set(widths(left.graph).values()) == {3, 7, 5}


def test_a_block_vanishes_with_all_that_it_alone_reads() -> None:
    text = "node a = x : conv(8) node b = x : conv(6, 1) > relu > conv(8) concat(a, b) -> out : flatten > linear(5)"
    found, tensors = net(text)
    last = next(node.name for node in found if node.name.startswith("b") and node.shape[0] == 8)
    dead(tensors, last)
    left = assert_shrunk(found, tensors)
    assert [node.op.name for node in left.graph] == ["input", "conv", "flatten", "linear"]


def test_a_dense_block_reads_what_it_needs() -> None:
    """A channel unused by one layer is used by another, so only the first has a selection."""
    text = """
    node a = x : conv(8)
    node b = a : relu > conv(64)
    node c = concat(a, b) : relu > conv(64)
    concat(a, b, c) -> out : global_avg_pool > linear(5)
    """
    found, tensors = net(text)
    tensors["b.conv"]["weight"][:, :4] = 0
    dead(tensors, "b.conv", channels=list(range(10)))
    left = assert_shrunk(found, tensors)
    assert widths(left.graph)["b.conv"] == 54
    assert left.tensors["c.conv"]["weight"].shape[:2] == (64, 62)
    (select,) = (node for node in left.graph if node.op.name == "select")
    assert left.tensors[select.name]["channels"].tolist() == [4, 5, 6, 7]


def test_a_selection_of_an_image_must_pay() -> None:
    text = "node a = x : conv(16, 1) node b = a : conv({width}, 1) concat(a, b) -> out : global_avg_pool > linear(5)"
    for width, pays in ((COPY_COST, False), (3 * COPY_COST, True)):
        found, tensors = net(text.format(width=width))
        tensors["b"]["weight"][:, 8:10] = 0
        tensors["b"]["weight"][:, 12:] = 0  # 10 are left, and 6 saved for each of the width
        left = assert_shrunk(found, tensors)
        assert any(node.op.name == "select" for node in left.graph) == pays
        assert left.tensors["b"]["weight"].shape[1] == (10 if pays else 16)


def test_those_who_read_the_same_share_a_selection() -> None:
    text = "node a = x : linear(3) node b = x : linear(3) > relu sum(a, b) -> out : linear(5)"
    found, tensors = net(text, "vector(6) -> classes(5)")
    for name in ("a", "b.linear"):
        tensors[name]["weight"][:, 2:] = 0
    left = assert_shrunk(found, tensors)
    assert sum(node.op.name == "select" for node in left.graph) == 1


def test_selections_of_selections_are_one() -> None:
    text = "node a = x : select(4) node b = a : select(3) sum(linear(5)(a), linear(5)(b)) -> out"
    found, tensors = net(text, "vector(6) -> classes(5)")
    tensors["a"]["channels"] = torch.tensor([0, 2, 3, 5])
    tensors["b"]["channels"] = torch.tensor([1, 2, 3])
    reader = found.nx.successors("b").__next__()
    tensors[reader]["weight"][:, 1] = 0
    left = assert_shrunk(found, tensors)
    assert [edge.source for name in ("a", "b") for edge in left.graph.inputs(name)] == ["x", "x"]
    assert left.tensors["a"]["channels"].tolist() == [0, 2, 3, 5]
    assert left.tensors["b"]["channels"].tolist() == [2, 5]


def test_a_selection_of_everything_is_none() -> None:
    found, tensors = net("x -> out : linear(8) > select(2) > linear(5)", "vector(6) -> classes(5)")
    left = assert_shrunk(found, tensors)
    assert widths(left.graph) == {"x": 6, "linear": 2, "linear_2": 5}


def test_a_depthwise_convolution_follows_its_input() -> None:
    found, tensors = net("x -> out : conv(8) > depthwise(3, multiplier = 2) > conv(4, 1) > global_avg_pool > linear(5)")
    dead(tensors, "conv", channels=[1])
    dead(tensors, "depthwise", channels=[4, 5, 7])
    left = assert_shrunk(found, tensors)
    assert left.kept["conv"] == (True, False, False, *[True] * 5)
    assert left.tensors["depthwise"]["weight"].shape == (12, 1, 3, 3)


def test_a_grouped_convolution_loses_whole_groups_and_then_channels() -> None:
    found, tensors = net("x -> out : conv(8) > conv(8, groups = 2) > relu > conv(4) > global_avg_pool > linear(5)")
    dead(tensors, "conv_2", channels=[0, 1, 2])
    assert widths(assert_shrunk(found, tensors).graph) == widths(found)
    dead(tensors, "conv_2", channels=[3, 6])
    left = assert_shrunk(found, tensors)
    assert left.kept["conv"] == (False,) * 4 + (True,) * 4
    assert left.kept["conv_2"] == (False,) * 4 + (True, True, False, True)
    assert left.tensors["conv_2"]["weight"].shape == (3, 4, 3, 3)


def test_a_group_norm_loses_whole_groups() -> None:
    found, tensors = net("x -> out : conv(8) > group_norm(4) > relu > conv(4) > global_avg_pool > linear(5)")
    dead(tensors, "group_norm", channels=[0, 1, 2])
    left = assert_shrunk(found, tensors)
    assert left.kept["conv"] == (False, False, *[True] * 6)
    assert getattr(left.graph["group_norm"].op, "groups", None) == 3


def test_single_features_of_a_flattened_image_are_selected() -> None:
    found, tensors = net("x -> out : conv(4) > flatten > linear(5)")
    tensors["linear"]["weight"][:, :64] = 0  # a whole channel
    tensors["linear"]["weight"][:, 70:128] = 0
    left = assert_shrunk(found, tensors)
    assert left.kept["conv"] == (False, True, True, True)
    assert [node.op.name for node in left.graph] == ["input", "conv", "flatten", "select", "linear"]
    assert left.tensors["linear"]["weight"].shape == (5, 6 + 128)
    assert left.tensors["flatten_select"]["channels"].tolist() == [*range(6), *range(64, 192)]


def test_squeeze_and_excitation() -> None:
    text = """
    node a = x : conv(8)
    node s = a : global_avg_pool > linear(4) > relu > linear(8) > sigmoid
    scale(a, s) -> out : conv(4) > global_avg_pool > linear(5)
    """
    found, tensors = net(text)
    dead(tensors, "a", channels=[0, 1])
    left = assert_shrunk(found, tensors)
    assert left.kept["a"] == left.kept["s.linear_2"] == left.kept["s.sigmoid"] == (False, False, *[True] * 6)
    assert left.tensors["s.linear"]["weight"].shape == (4, 6)


def test_a_sigmoid_makes_something_of_nothing() -> None:
    found, tensors = net("x -> out : conv(4) > sigmoid > conv(4) > global_avg_pool > linear(5)")
    dead(tensors, "conv", channels=[0, 1])
    assert widths(assert_shrunk(found, tensors).graph) == widths(found)
    tensors["conv_2"]["weight"][:, 0] = 0
    assert assert_shrunk(found, tensors).kept["sigmoid"] == (False, True, True, True)


def test_a_mean_loses_no_term() -> None:
    found, tensors = net("mean(conv(4)(x), conv(4, 1)(x)) -> out : global_avg_pool > linear(5)")
    dead(tensors, next(iter(tensors)))
    left = assert_shrunk(found, tensors)
    (mean,) = (node.name for node in left.graph if node.op.name == "mean")
    assert len(left.graph.inputs(mean)) == 2


def test_a_sum_of_nothing_has_one_term() -> None:
    text = "node a x -> a : conv(4) x -> a : conv(4, 1) a -> out : conv(4, bias = true) > global_avg_pool > linear(5)"
    found, tensors = net(text)
    for edge in found.inputs("a"):
        dead(tensors, edge.source)
    left = assert_shrunk(found, tensors)
    assert [node.op.name for node in left.graph if node.op.name in ("conv", "sum")] == ["conv", "conv"]


def test_zero_on_the_way_to_a_bias_is_one_channel_wide() -> None:
    found, tensors = net("x -> out : conv(8) > relu > conv(4, bias = true) > global_avg_pool > linear(5)")
    dead(tensors, "conv")
    left = assert_shrunk(found, tensors)
    assert widths(left.graph) == {**widths(found), "conv": 1, "relu": 1}


def test_a_dead_rescale_takes_its_branch_with_it() -> None:
    found, tensors = net("node a = x : conv(4) node b a -> b a -> b : relu > rescale b -> out : flatten > linear(5)")
    next(t for t in tensors.values() if "factor" in t)["factor"].zero_()
    left = assert_shrunk(found, tensors)
    assert [node.op.name for node in left.graph] == ["input", "conv", "flatten", "linear"]


# -------------------------------------------------------------------------------- operations in Python


class Mixed(nn.Module):
    """A user-defined operation that maps 0 to 1, unknown to the compiler."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 1)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cos(torch.as_tensor(self.conv(x)))


@pytest.fixture
def barrier() -> tuple[Graph, Found]:
    text = f'op mixed() from "{__name__}:Mixed" ' + body(
        "x -> out : conv(8) > relu > conv(4) > mixed > conv(4) > global_avg_pool > linear(5)",
        "image(3, 8, 8) -> classes(5)",
    )
    report = Report()
    found = Checker(report, allow_python=True).text(Source("t", text)).networks[0].graph()
    assert not report.diagnostics
    return found, whole(found)


def test_nothing_goes_at_an_operation_of_the_user(barrier: tuple[Graph, Found]) -> None:
    found, tensors = barrier
    dead(tensors, "conv", channels=[1])
    dead(tensors, "conv_2", channels=[0])
    tensors["conv_3"]["weight"][:, 1] = 0
    left = assert_shrunk(found, tensors)
    assert widths(left.graph) == {**widths(found), "conv": 7, "relu": 7}


# ---------------------------------------------------------------------------------- what is done with it


def test_the_source_of_the_text_computes_the_same_with_the_weights() -> None:
    """End to end: shrunk, written, read, emitted as source, and loaded strictly."""
    found = plain(graph(EVERYTHING))
    tensors = zeroed(found, 5)
    left = shrink(found, tensors)
    text = written(left.graph, "Shrunken.", {})
    program = emit(text.graph, standalone=True)
    module = build(program).double().eval()
    module.load_state_dict(as_state({text.names[n]: of for n, of in left.tensors.items()}, {}, program))
    random = torch.Generator().manual_seed(0)
    inputs = [torch.randn(3, *shape, generator=random, dtype=torch.float64) for shape in ((3, 8, 8), (5,))]
    with torch.no_grad():
        torch.testing.assert_close(module(*inputs), outputs(found, tensors))


def test_tensors_are_not_changed() -> None:
    found = plain(graph(EVERYTHING))
    tensors: Tensors = zeroed(found, Random(0).randrange(9))
    before = {name: {key: value.clone() for key, value in of.items()} for name, of in tensors.items()}
    shrink(found, tensors)
    assert all(torch.equal(value, before[name][key]) for name, of in tensors.items() for key, value in of.items())
