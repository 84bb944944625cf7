"""Groups of weights: what belongs to a filter, and which filters can be removed."""

from __future__ import annotations

import pytest
import torch

from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import load_network
from bayesnas_graph.train.compress.groups import Groups, groups_of
from bayesnas_graph.train.compress.patterns import PATTERNS
from tests.codegen.export.networks import small_resnet
from tests.helpers import graph
from tests.train.compress.small import LENET, SMALL, net, random_weights

FILTERS = {"conv": "filter", "depthwise": "filter", "linear": "filter"}


def filters(found: Graph) -> dict[str, Groups]:
    return {some.layer: some for some in groups_of(found, FILTERS)}


def companions(statements: str) -> dict[str, list[str]]:
    """Layer -> the tensors removed with its filters."""
    return {name: [".".join(tensor) for tensor in some.companions] for name, some in filters(net(statements)).items()}


END = "global_avg_pool > linear(5)"


def test_a_filter_takes_its_bias_and_its_norm_with_it() -> None:
    text = f"x -> out : conv(4, bias = true) > bn > relu > conv(4) > layer_norm > conv(4) > relu > {END}"
    assert companions(text) == {
        "conv": ["conv.bias", "bn.weight", "bn.bias"],
        "conv_2": ["layer_norm.weight", "layer_norm.bias"],
        "conv_3": [],
    }


def test_a_norm_without_weights_has_none_to_take() -> None:
    assert companions(f"x -> out : conv(4) > bn(affine = false) > conv(4) > {END}") == {"conv": [], "conv_2": []}


def test_a_norm_that_is_not_right_behind() -> None:
    assert companions(f"x -> out : conv(4) > relu > bn > conv(4) > {END}") == {"conv": [], "conv_2": []}


def test_a_norm_stays_where_others_read_the_filter_too() -> None:
    text = f"node a = x : conv(4, bias = true) node b a -> b : bn a -> b : relu b -> out : {END}"
    assert companions(text) == {"a": ["a.bias"]}


def test_a_norm_of_several_layers_belongs_to_none() -> None:
    text = f"node a x -> a : conv(4) x -> a : conv(4, 1) a -> out : bn > relu > {END}"
    assert list(companions(text).values()) == [[], []]


def test_what_is_summed_over_a_filter() -> None:
    found = net(f"x -> out : conv(4, bias = true, groups = 1) > bn > relu > {END}")
    weights, some = random_weights(found), filters(found)["conv"]
    squares = [
        float(weights["conv"]["weight"][i].square().sum())
        + sum(float(weights[node][name][i].square()) for node, name in some.companions)
        for i in range(4)
    ]
    torch.testing.assert_close(some.norms(weights).flatten().square(), torch.tensor(squares, dtype=torch.float64))


def test_filters_of_the_output_are_not_groups() -> None:
    found = net("x -> out : conv(4) > relu > conv(5) > depthwise() > bn > global_avg_pool")
    assert list(filters(found)) == ["conv"], "a depthwise convolution hands channels on"
    found = net(f"node a = x : conv(5) node b = a : relu > conv(4) > {END} sum(global_avg_pool(a), b) -> out")
    assert list(filters(found)) == ["b.conv"], "a value may go to the output on one way and not on another"
    patterns = {"conv": "channel", "linear": "row,column"}
    assert [some.name for some in groups_of(net(f"x -> out : conv(4) > {END}"), patterns)] == ["conv/c", "linear/c"]


def test_a_residual_network() -> None:
    found = small_resnet()
    known = filters(found)
    layers = {node.name for node in found if node.op.name in ("conv", "linear")}
    assert layers - known.keys() == {node.name for node in found if node.op.name == "linear"}
    assert all([found[node].op.name for node, _ in some.companions] == ["bn", "bn"] for some in known.values()), (
        "each convolution has its own norm"
    )
    assert len({node for some in known.values() for node, _ in some.companions}) == len(known)


@pytest.mark.parametrize("name", ["lenet5", "lenet300", "resnet18_cifar"])
def test_names_are_unique(name: str) -> None:
    from pathlib import Path

    found = load_network(Path(name)).network.graph()
    names = [some.name for some in groups_of(found, dict.fromkeys(FILTERS, ",".join(PATTERNS)))]
    assert len(names) == len(set(names)) > 5


def test_groups_of_convolutions_have_their_own_channels() -> None:
    found = net(f"x -> out : conv(8) > conv(4, groups = 2) > depthwise(multiplier = 2) > {END}")
    weights = random_weights(found)
    numbers = {some.layer: some.norms(weights).numel() for some in groups_of(found, {"conv": "channel"})}
    assert numbers == {"conv": 3, "conv_2": 8}
    (some,) = groups_of(found, {"depthwise": "channel"})
    assert some.norms(weights).numel() == 4


@pytest.mark.parametrize("text", [SMALL, LENET])
def test_all_tensors_of_groups_are_there(text: str) -> None:
    found = graph(text)
    weights = random_weights(found)
    for some in groups_of(found, dict.fromkeys(FILTERS, ",".join(PATTERNS))):
        assert some.norms(weights).min() > 0
        for node, name, part in some.spread(some.norms(weights), weights):
            assert part.shape == weights[node][name].shape
