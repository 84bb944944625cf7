"""The cost of each candidate against what a graph loses without it."""

from __future__ import annotations

import pytest

from bayesnas_graph import passes
from bayesnas_graph.api import load
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.analysis import cost, cost_by_switch
from tests.helpers import body, graph

ZEROS = ("before", "after")


def switched(whole: Graph, zero: str = "after") -> Graph:
    return passes.run(whole, passes.SWITCHES, passes.Options(zero=zero))  # type: ignore[arg-type]


@pytest.mark.parametrize("zero", ZEROS)
def test_without_a_candidate_its_weights_are_gone(zero: str) -> None:
    space = switched(load("quickstart").graph(), zero)
    costs = cost_by_switch(space)
    for group in (
        "block:h.1.entry.relu_conv_bn",
        "block:h.2.h_1.sep_conv",
        "block:h.1.entry.identity",
        "block:h.2.h_1.zero",
    ):
        left = cost(passes.prune(space, {group}))
        assert cost(space).parameters - left.parameters == costs[group].parameters, group
        assert cost(space).flops - left.flops == costs[group].flops, group


def test_a_zero_switch_costs_as_all_candidates() -> None:
    costs = cost_by_switch(switched(load("darts").graph()))
    zeros = [group for group in costs if group.endswith(".zero")]
    assert len(zeros) == 28
    for zero in zeros:
        choice = zero.removesuffix("zero")
        own = [group for group in costs if group.startswith(choice) and group != zero]
        assert costs[zero].parameters == sum(costs[group].parameters for group in own)


def test_a_choice_within_a_candidate_counts_for_both() -> None:
    text = body("x -> out : choose { conv(3, 3) > choose { bn, relu }, identity }")
    costs = cost_by_switch(switched(graph(text)))
    outer = next(cost for group, cost in costs.items() if group.endswith(".chain"))
    inner = next(cost for group, cost in costs.items() if group.endswith(".bn"))
    assert inner.parameters == 6
    assert outer.parameters == 3 * 3 * 9 + 6


def test_an_optional_operation() -> None:
    costs = cost_by_switch(
        switched(
            graph(
                body("x -> y : optional conv(3, 1)  y -> out", "image(3, 8, 8) -> image(3, 8, 8)").replace(
                    "{ in x", "{ in x node y"
                )
            )
        )
    )
    assert [cost.parameters for cost in costs.values()] == [9]


@pytest.mark.parametrize("zero", ZEROS)
def test_motifs_called_like_a_numbered_operation_or_a_zero_switch(zero: str) -> None:
    motifs = "motif conv_2 { in x x -> out : conv(4) > conv(4, 5) } motif nonzero { in x x -> out : conv(4, 1) > bn }"
    text = body("node y = x : choose { conv(4, 1), conv_2, nonzero } out y", "image(4, 8, 8) -> image(4, 8, 8)")
    costs = cost_by_switch(switched(graph(motifs + text), zero))
    assert {group: cost.parameters for group, cost in costs.items()} == {
        "y.conv": 16,
        "y.conv_2": 16 * (9 + 25),
        "y.nonzero": 16 + 8,
        "y.zero": 16 + 16 * (9 + 25) + 16 + 8,
    }
