"""Selecting groups: order, number, and keeping the network connected."""

from __future__ import annotations

from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from bayesnas_graph.ir import Graph
from bayesnas_graph.train.compress.connectivity import gets_through, is_connected
from bayesnas_graph.train.compress.groups import Groups, groups_of
from bayesnas_graph.train.compress.magnitude import pruned_by_magnitude
from bayesnas_graph.train.compress.masks import Masks, alive, apply, masked, masks_of, without
from bayesnas_graph.train.compress.selection import Pruning, Ranked, Size, SizeTarget, per_operation, prune, pruned
from tests.helpers import graph
from tests.train.compress.small import LENET, SMALL, Weights, depends_on_its_input, net, networks, random_weights

SEEDS = st.integers(0, 2**32 - 1)
ANY = SizeTarget()
USUAL = {"conv": "filter,channel", "depthwise": "filter", "linear": "row,column"}
CHOSEN = (
    USUAL,
    {"conv": "row+column,filter", "depthwise": "shape", "linear": "row"},
    {"conv": "shape", "linear": "row,column"},
    {"conv": "group-row+column,channel", "depthwise": "group-shape,filter", "linear": "column,group-row"},
)


def scored(groups: tuple[Groups, ...], weights: Weights, seed: int) -> dict[Groups, Tensor]:
    """A distinct random score for every group."""
    generator = torch.Generator().manual_seed(seed)
    return {some: torch.rand(some.norms(weights).shape, generator=generator).double() for some in groups}


def ranked_at_random(weights: Weights, groups: tuple[Groups, ...], seed: int) -> tuple[Ranked, Masks]:
    masks, scores = masks_of(groups, weights), scored(groups, weights, seed)
    return Ranked.by(scores, scores, masks), masks


# ------------------------------------------------------------------------------------------ masks


def test_what_is_gone_is_gone() -> None:
    found = graph(SMALL)
    weights, groups = random_weights(found), groups_of(found, USUAL)
    weights["linear"]["weight"][:, 3] = 0
    masks = masks_of(groups, weights)
    assert masks["linear"]["weight"].sum(0).tolist() == [16.0] * 3 + [0.0] + [16.0] * 188
    filters = next(some for some in groups if some.shares == "n" and len(some.companions) == 2)
    gone = torch.zeros_like(filters.norms(weights), dtype=torch.bool)
    gone.view(-1)[1] = True
    left = without(masks, {filters: gone})
    for node, name in filters.tensors:
        assert bool((left[node][name][1] == 0).all())
        assert bool((left[node][name][[0, 2, 3]] == 1).all())
    assert bool((masks[filters.layer]["weight"] == 1).all()), "others still have what they had"
    assert alive(filters, left).flatten().tolist() == [i != 1 for i in range(6)]
    there = masked(weights, left)
    apply(left, weights)
    for node, named in weights.items():
        for name, value in named.items():
            assert torch.equal(value, there[node][name])


def test_a_filter_without_weights_is_gone() -> None:
    """If all channels of a layer are removed, so are its filters; otherwise a norm would make them constants."""
    found = graph(SMALL)
    weights, groups = random_weights(found), groups_of(found, USUAL)
    filters = next(some for some in groups if some.shares == "n" and len(some.companions) == 2)
    channels = next(some for some in groups if some.shares == "c" and some.layer == filters.layer)
    none = torch.zeros_like(filters.norms(weights), dtype=torch.bool)
    all_of_them = torch.ones_like(channels.norms(weights), dtype=torch.bool)
    left = without(masks_of(groups, weights), {filters: none, channels: all_of_them})
    assert [float(left[node][name].sum()) for node, name in filters.companions] == [0.0, 0.0]
    assert not bool(alive(filters, left).any())


# ----------------------------------------------------------------------------------------- ranking


@given(seed=SEEDS)
@settings(max_examples=30)
def test_the_lowest_scores_go_first(seed: int) -> None:
    found = graph(LENET)
    weights, groups = random_weights(found), groups_of(found, USUAL)
    ranked, _ = ranked_at_random(weights, groups, seed)
    scores = scored(groups, weights, seed)
    count = Random(seed).randint(0, len(ranked.costs))
    going = ranked.first(count)
    assert sum(int(some.sum()) for some in going.values()) == count
    lowest = sorted(float(score) for some in scores.values() for score in some.flatten())[:count]
    assert sorted(float(s) for some, gone in going.items() for s in scores[some][gone]) == lowest
    assert ranked.costs.tolist() == sorted(ranked.costs.tolist())


def test_costs_in_order_of_scores_within_a_limit() -> None:
    some = Groups("fc", "c")
    weights = {"fc": {"weight": torch.ones(2, 4)}}
    scores, costs = (
        {some: torch.tensor(values).view(1, 1, 4, 1, 1)} for values in ([3.0, 1.0, 2.0, 4.0], [0.5, 0.25, 1.0, 0.0])
    )
    ranked = Ranked.by(scores, costs, masks_of([some], weights))
    assert ranked.costs.tolist() == [0.25, 1.0, 0.5, 0.0]
    assert [ranked.within(most) for most in (0, 0.25, 1.2, 1.25, 1.7, 1.75, 9)] == [0, 1, 1, 2, 2, 4, 4]
    assert ranked.first(2)[some].flatten().tolist() == [False, True, True, False]
    assert ranked.first(3, [1])[some].flatten().tolist() == [True, True, False, False]


def test_what_is_gone_already_is_not_ranked() -> None:
    some = Groups("fc", "c")
    weights = {"fc": {"weight": torch.tensor([[1.0, 0.0, 1.0], [1.0, 0.0, 0.0]])}}
    scores = {some: torch.tensor([2.0, 0.0, 1.0]).view(1, 1, 3, 1, 1)}
    ranked = Ranked.by(scores, scores, masks_of([some], weights))
    assert ranked.costs.tolist() == [1.0, 2.0]
    assert ranked.first(1)[some].flatten().tolist() == [False, False, True]


def test_what_a_group_costs_for_what_it_saves() -> None:
    """A convolution is applied at every position; tensors removed with a filter are not counted."""
    found = net("x -> out : conv(4, bias = true) > bn > relu > global_avg_pool > linear(5)")
    weights, groups = random_weights(found), groups_of(found, {"conv": "filter,channel", "linear": "column"})
    weights["conv"]["weight"][0, 0] = 0
    masks = masks_of(groups, weights)
    costs = {some: torch.ones_like(some.norms(weights)) for some in groups}
    found_costs = {some.name: value.flatten() for some, value in per_operation(found, costs, masks).items()}
    positions = 2 * 8 * 8
    expected = [1 / (positions * 9 * channels) for channels in (2, 3, 3, 3)]
    torch.testing.assert_close(found_costs["conv/n"], torch.tensor(expected, dtype=torch.float64))
    expected = [1 / (positions * 9 * filters) for filters in (3, 4, 4)]
    torch.testing.assert_close(found_costs["conv/c"], torch.tensor(expected, dtype=torch.float64))
    torch.testing.assert_close(found_costs["linear/c"], torch.full((4,), 1 / 10, dtype=torch.float64))


# ------------------------------------------------------------------------------------------ targets


def test_targets() -> None:
    size = Size(parameters=10, flops=20, operations=30)
    assert not ANY.is_given
    assert not ANY.is_met(size)
    assert SizeTarget(30).is_met(size)
    assert not SizeTarget(29).is_met(size)
    assert SizeTarget(parameters=10).is_met(size)
    assert not SizeTarget(30, 9).is_met(size)


@pytest.mark.parametrize("text", [SMALL, LENET])
@pytest.mark.parametrize("seed", range(3))
def test_no_more_goes_than_the_target_asks_for(text: str, seed: int) -> None:
    found = graph(text)
    weights, groups = random_weights(found), groups_of(found, USUAL)
    ranked, masks = ranked_at_random(weights, groups, seed)
    most = len(ranked.costs)

    def rest(count: int) -> Pruning:
        return prune(found, weights, masks, ranked, count, ANY)

    whole = Size.of(found)
    for target in (SizeTarget(whole.operations // 2), SizeTarget(parameters=whole.parameters // 3)):
        left = prune(found, weights, masks, ranked, most, target)
        assert target.is_met(left.size)
        if text is LENET:  # where one after another can be looked at
            assert left.size == next(size for n in range(most + 1) if target.is_met(size := rest(n).size))
    few = prune(found, weights, masks, ranked, 3, SizeTarget(1))
    assert few.size == rest(3).size, "a target that is out of reach changes nothing"
    assert prune(found, weights, masks, ranked, most, SizeTarget(whole.operations)).size == whole


# ---------------------------------------------------------------------------------- nothing is cut off


def test_layers_without_a_bypass() -> None:
    found = graph(SMALL)
    layers = [node.name for node in found if node.op.name in ("conv", "linear")]
    assert [is_connected(found, {name}) for name in layers] == [False, True, True, False, False, False]
    assert not is_connected(found, {"y.conv", layers[1]})


def test_all_layers_nonempty_but_disconnected() -> None:
    found = net("x -> out : conv(4) > relu > conv(4, bias = true) > global_avg_pool > linear(5)")
    weights = random_weights(found)
    assert gets_through(found, weights)
    weights["conv"]["weight"][1:] = 0
    assert gets_through(found, weights)
    weights["conv_2"]["weight"][:, 0] = 0
    assert not gets_through(found, weights)
    assert not depends_on_its_input(found, weights)


@settings(max_examples=25)
@given(found=networks(), seed=SEEDS)
def test_however_much_goes_something_gets_through(found: Graph, seed: int) -> None:
    weights = random_weights(found, seed % 2**16)
    groups = groups_of(found, CHOSEN[seed % len(CHOSEN)])
    ranked, masks = ranked_at_random(weights, groups, seed)
    left = prune(found, weights, masks, ranked, len(ranked.costs), ANY)
    assert depends_on_its_input(found, masked(weights, left.masks))
    assert depends_on_its_input(left.shrunk.graph, left.shrunk.tensors)
    # What is left cannot do without any group.
    for some in groups:
        there = alive(some, left.masks)
        for i in there.flatten().nonzero().flatten().tolist()[:2]:
            one = torch.zeros_like(there)
            one.view(-1)[i] = True
            assert not depends_on_its_input(found, masked(weights, without(left.masks, {some: one})))


@settings(max_examples=15)
@given(found=networks(), seed=SEEDS)
def test_pruning_on_and_on(found: Graph, seed: int) -> None:
    """Groups are removed in several rounds, as in loops, and none comes back."""
    weights = random_weights(found, seed % 2**16)
    groups = groups_of(found, CHOSEN[seed % len(CHOSEN)])
    masks = masks_of(groups, weights)
    for part in range(3):
        scores = scored(groups, weights, seed + part)
        ranked = Ranked.by(scores, scores, masks)
        left = prune(found, weights, masks, ranked, len(ranked.costs) // 3, ANY)
        assert all(bool((left.masks[n][k] <= masks[n][k]).all()) for n in masks for k in masks[n])
        assert left.size.operations <= Size.of(found).operations
        masks = left.masks
        assert depends_on_its_input(found, masked(weights, masks))
    assert pruned(found, weights, masks).size == left.size


def test_a_block_that_may_vanish_does() -> None:
    found = graph(SMALL)
    weights, groups = random_weights(found), groups_of(found, USUAL)
    masks = masks_of(groups, weights)
    scores = {some: torch.full_like(some.norms(weights), 0.0 if "residual" in some.layer else 1.0) for some in groups}
    ranked = Ranked.by(scores, scores, masks)
    inside = ranked.within(0)
    assert inside == 24
    left = prune(found, weights, masks, ranked, inside, ANY)
    assert [node.op.name for node in left.shrunk.graph] == [
        *("input", "conv", "bn", "relu", "relu", "conv", "bn", "relu", "flatten", "linear", "relu", "linear")
    ]
    assert not any(bool(alive(some, left.masks).any()) for some in groups if "residual" in some.layer)


def test_the_last_path_is_kept() -> None:
    """Of parallel paths one must stay: the one with the highest scores."""
    text = "node h x -> h : conv(4) > relu x -> h : conv(4, 1) > relu h -> out : global_avg_pool > linear(5)"
    found = net(text)
    weights, groups = random_weights(found), groups_of(found, {"conv": "filter", "linear": "none", "depthwise": "none"})
    first, second = groups
    masks = masks_of(groups, weights)
    for better, worse in ((first, second), (second, first)):
        scores = {better: torch.ones_like(better.norms(weights)) + torch.arange(4).view(1, 4, 1, 1, 1) / 10}
        scores |= {worse: torch.zeros_like(worse.norms(weights))}
        left = prune(found, weights, masks, Ranked.by(scores, scores, masks), 8, ANY)
        assert alive(better, left.masks).flatten().tolist() == [False, False, False, True]
        assert not alive(worse, left.masks).any()


# ---------------------------------------------------------------------------------------- magnitude


FILTERS = {"conv": "filter", "linear": "none", "depthwise": "none"}


def first_to_go(found: Graph, weights: Weights) -> tuple[str, int]:
    """The layer and index of the filter that is removed first by magnitude."""
    groups = groups_of(found, FILTERS)
    left = pruned_by_magnitude(found, weights, groups, SizeTarget(Size.of(found).operations - 1))
    ((some, number),) = ((one, i) for one in groups for i in (~alive(one, left.masks)).flatten().nonzero().flatten())
    return some.layer, int(number)


def test_magnitude_is_relative_to_the_layer() -> None:
    """The scale of a layer and the size of a group do not matter."""
    found = graph(LENET)
    weights = {n: {k: torch.ones_like(v) for k, v in named.items()} for n, named in random_weights(found).items()}
    for name in ("weight", "bias"):
        weights["y.conv_2"][name][5] = 0.5
    assert first_to_go(found, weights) == ("y.conv_2", 5), "larger than filters of fewer weights, but of smaller ones"
    for name in ("weight", "bias"):
        weights["y.conv"][name][2] = 0.1
        weights["y.conv"][name] *= 100
    assert first_to_go(found, weights) == ("y.conv", 2), "a tenth of what its layer has"


@settings(max_examples=12)
@given(found=networks(), seed=SEEDS)
def test_by_magnitude_something_gets_through(found: Graph, seed: int) -> None:
    weights = random_weights(found, seed % 2**16)
    left = pruned_by_magnitude(found, weights, groups_of(found, CHOSEN[seed % len(CHOSEN)]), ANY)
    assert depends_on_its_input(left.shrunk.graph, left.shrunk.tensors)


def test_a_network_of_zeros_has_nothing_to_lose() -> None:
    found = graph(LENET)
    weights = {n: {k: torch.zeros_like(v) for k, v in t.items()} for n, t in random_weights(found).items()}
    assert pruned_by_magnitude(found, weights, groups_of(found, USUAL), ANY).size.parameters < 100
