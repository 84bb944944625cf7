"""Siblings taken out of their graph, and answers about them."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit import build, emit, transfer
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Checker
from tests.equivalence import assert_same_function
from tests.helpers import body, graph
from tests.passes.cases import small
from tests.programs import programs

FOUR = "node h[4] = x : conv(5, 3) > bn > relu > conv(3) h -> out"
UNTIL_FUSED = passes.FASTER[: passes.FASTER.index(passes.fuse_siblings) + 1]


def test_the_key_says_all_that_matters() -> None:
    (site,) = passes.fusion_sites(graph(body(FOUR)))
    assert site.key.startswith("4 of 3x8x8; 0: conv(")
    assert site.key.endswith(" 3x8x8 of 2, 4 read")
    (other,) = passes.fusion_sites(graph(body("node y = x : relu " + FOUR.replace("= x", "= y").replace("h", "k"))))
    assert other.key == site.key, "names and what is around them do not matter"
    for old, new in (("5, 3", "5, 5"), ("conv(5", "conv(6"), ("h[4]", "h[3]"), ("bn > ", "")):
        (changed,) = passes.fusion_sites(graph(body(FOUR.replace(old, new))))
        assert changed.key != site.key
    (smaller,) = passes.fusion_sites(graph(body(FOUR, "image(3, 4, 4) -> image(3, 4, 4)")))
    assert smaller.key != site.key


def test_a_site_is_a_graph_of_its_own() -> None:
    before = graph(body(FOUR))
    (site,) = passes.fusion_sites(before)
    passes.verify(site.graph)
    assert len(site.graph) == 1 + 4 * 4
    fused = passes.fuse_siblings(site.graph, passes.Options(device="cuda"))
    assert [node.op for node in fused][1:5] == [node.op for node in passes.fuse_siblings(before)][1:5]
    assert_same_function(site.graph, fused)


def test_uses_of_a_cell_are_one_site() -> None:
    text = f"cell c {{ in x {FOUR} }}" + body("x -> out : c > c > c")
    assert len(passes.fusion_sites(graph(text))) == 1


def test_an_answer_counts_more_than_the_size() -> None:
    before = graph(body(FOUR))
    (site,) = passes.fusion_sites(before)
    for device in ("cpu", "cuda"):
        for batch in (1, 10**6):
            for fused in (True, False):
                options = passes.Options(device=device, batch=batch, sites=((site.key, fused),))
                assert (passes.fuse_siblings(before, options) != before) is fused


def test_siblings_without_an_answer_follow_the_table() -> None:
    before = graph(body(FOUR))
    answers = (("another site", False),)
    assert passes.fuse_siblings(before, passes.Options(batch=1, sites=answers)) == passes.fuse_siblings(before)
    assert passes.fuse_siblings(before, passes.Options(batch=10**6, sites=answers)) == before


def chosen(before: Graph, random: Random) -> passes.Options:
    """Random answers about the siblings of a graph."""
    options = passes.Options(device="cuda")
    sites = passes.fusion_sites(passes.run(before, UNTIL_FUSED[:-1], options))
    return replace(options, sites=tuple((site.key, random.random() < 0.5) for site in sites))


@settings(max_examples=40)
@given(text=programs(fault=0), random=st.randoms(use_true_random=False))
def test_no_choice_changes_a_random_network(text: str, random: Random) -> None:
    for network in Checker(Report()).text(Source("t", text)).networks:
        before = network.graph()
        assert_same_function(before, passes.run(before, UNTIL_FUSED, chosen(before, random)))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("space", "network"), [("darts", "search"), ("nasbench201", "search")])
def test_no_choice_changes_a_shipped_space(space: str, network: str, seed: int) -> None:
    before = small(space, network)
    options = chosen(before, Random(seed))
    assert {fused for _, fused in options.sites} == {True, False}
    assert_same_function(before, passes.run(before, UNTIL_FUSED, options))


def test_weights_move_between_programs_of_different_choices() -> None:
    whole = small("darts", "search")
    programs = [emit(passes.run(whole, passes.FASTER, chosen(whole, Random(seed)))) for seed in range(3)]
    assert len({program.text for program in programs}) == 3
    torch.manual_seed(0)
    start = build(programs[0]).double().state_dict()
    there = start
    for old, new in zip(programs, [*programs[1:], programs[0]], strict=True):
        there = transfer(there, old, new)
        build(new).double().load_state_dict(there)
    assert all(torch.equal(there[name], value) for name, value in start.items())
