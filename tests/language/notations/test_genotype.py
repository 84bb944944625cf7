"""Genotypes are read and written as in DARTS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph import passes
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.ir import Graph
from bayesnas_graph.ir.ops import Choice, Zero
from bayesnas_graph.language.notations import Genotype, genotype_of, parse_genotype, read_architecture
from bayesnas_graph.language.notations.genotype import CONCAT, DARTS, Pairs, groups_of
from bayesnas_graph.passes.analysis import cost, violated
from tests.helpers import graph
from tests.language.notations.shipped import DARTS_V2, compiled, elaborated, groups

V2 = parse_genotype(DARTS_V2)
SMALL = {"width": 4, "cells": 3}


def small() -> Graph:
    return compiled("darts", **SMALL)


# ------------------------------------------------------------------------------------- DARTS_V2


def test_darts_v2_is_the_shipped_network() -> None:
    space = compiled("darts", "evaluation")
    found = passes.prune(space, groups(space) - read_architecture(DARTS_V2, space))
    shipped = elaborated("darts_v2", "darts_v2")
    assert cost(found).parameters == 3_349_342
    assert cost(found).parameters == cost(shipped).parameters
    assert cost(found).flops == cost(shipped).flops
    assert operations(found) == operations(shipped)


def operations(graph: Graph) -> Counter[tuple[str, tuple[int, ...]]]:
    """The number of operations of each kind and shape, without leftover choices."""
    return Counter((str(node.op), node.shape) for node in graph if not isinstance(node.op, Choice | Zero))


@pytest.mark.parametrize("space", ["darts", "darts_imagenet"])
@pytest.mark.parametrize("network", ["search", "evaluation"])
def test_every_network_has_the_same_groups(space: str, network: str) -> None:
    graph = compiled(space, network, **SMALL)
    kept = groups_of(V2, graph)
    assert kept == groups_of(V2, small())
    assert len(kept) == 2 * 16
    assert {"normal:h.3.h_0.dil_conv_3", "normal:h.3.h_0.zero", "reduction:h.1.q.max_pool_3x3"} <= kept
    assert groups_of(genotype_of(kept, graph), graph) == kept


def test_pairs_are_written_in_the_order_of_what_they_read() -> None:
    found = genotype_of(groups_of(V2, small()), small())
    assert V2.normal[4:6] == (("sep_conv_3x3", 1), ("skip_connect", 0))
    assert found.normal[4:6] == (("skip_connect", 0), ("sep_conv_3x3", 1))
    assert found == in_order(V2) != V2


def in_order(genotype: Genotype) -> Genotype:
    def pairs(given: Pairs) -> Pairs:
        nodes = [given[i : i + 2] for i in range(0, len(given), 2)]
        return tuple(pair for node in nodes for pair in sorted(node, key=lambda pair: (pair[1], pair[0])))

    return replace(genotype, normal=pairs(genotype.normal), reduce=pairs(genotype.reduce))


# ----------------------------------------------------------------------------- there and back


def cells() -> st.SearchStrategy[Pairs]:
    names = st.sampled_from([name for name in sorted(DARTS.operations) if not DARTS.missing([name], small())])

    def pairs(node: int) -> st.SearchStrategy[list[tuple[str, int]]]:
        inputs = st.permutations(range(node)).map(lambda order: order[:2])
        return st.tuples(names, names, inputs).map(lambda drawn: list(zip(drawn[:2], drawn[2], strict=True)))

    return st.tuples(*map(pairs, CONCAT)).map(lambda nodes: tuple(pair for node in nodes for pair in node))


GENOTYPES = st.builds(Genotype, cells(), st.just(CONCAT), cells(), st.just(CONCAT))
ANY_CELL = st.lists(st.tuples(st.from_regex(r"[A-Za-z_][A-Za-z_0-9]{0,9}", fullmatch=True), st.integers(0, 999)))
ANY_CONCAT = st.lists(st.integers(0, 999), max_size=9).map(tuple) | st.just(CONCAT)


@given(GENOTYPES)
def test_random_genotypes_survive(genotype: Genotype) -> None:
    kept = groups_of(genotype, small())
    assert genotype_of(kept, small()) == in_order(genotype)
    left = passes.prune(small(), groups(small()) - kept)
    assert genotype_of(groups(left), left) == in_order(genotype), "what pruning has left is enough"


@given(st.builds(Genotype, ANY_CELL.map(tuple), ANY_CONCAT, ANY_CELL.map(tuple), ANY_CONCAT))
def test_random_texts_survive(genotype: Genotype) -> None:
    assert parse_genotype(str(genotype)) == genotype


def test_printed_as_darts_prints() -> None:
    assert str(V2) == DARTS_V2
    assert "normal_concat=[2, 4], " in str(replace(V2, normal_concat=(2, 4)))
    assert "normal_concat=[], " in str(replace(V2, normal_concat=()))


# ------------------------------------------------------------------------ what is in the space


def test_none_keeps_nothing() -> None:
    without = replace(V2, normal=(("none", 0), *V2.normal[1:]))
    lost = groups_of(V2, small()) - groups_of(without, small())
    assert lost == {"normal:h.0.p.sep_conv_3", "normal:h.0.p.zero"}


def test_a_space_without_zero_switches() -> None:
    graph = elaborated("darts", "search", **SMALL)
    kept = groups_of(V2, graph)
    assert kept == {group for group in groups_of(V2, small()) if not group.endswith(".zero")}
    assert genotype_of(kept, graph) == in_order(V2)


def test_a_closed_zero_switch_closes_its_candidates() -> None:
    kept = groups_of(V2, small())
    more = kept | {"normal:h.0.p.skip", "normal:h.3.q.skip", "normal:h.3.q.sep_conv_3"}
    assert genotype_of(more - {"normal:h.0.p.skip"}, small()) == in_order(V2)
    with pytest.raises(NasError, match="node 2 of `normal` keeps 3 operations on 2 edges"):
        genotype_of(more, small())


def test_a_network_without_normal_cells() -> None:
    graph = compiled("darts", width=4, cells=2)
    kept = groups_of(V2, graph)
    assert kept == {group for group in groups_of(V2, small()) if group.startswith("reduction:")}
    with pytest.raises(NasError, match="NAS702: network `search` has no switches of cell `normal`"):
        genotype_of(kept, graph)


NORMAL = V2.normal


@pytest.mark.parametrize(
    ("genotype", "message", "help"),
    [
        (replace(V2, normal=NORMAL[:7]), "`normal` has 7 pairs, not 8", "4 nodes"),
        (replace(V2, reduce_concat=(2, 3)), "`reduce_concat` is `range(2, 4)`, not `range(2, 6)`", "all their nodes"),
        (replace(V2, normal_concat=(3, 2, 4, 5)), "`normal_concat` is `[3, 2, 4, 5]`, not `range(2, 6)`", "order"),
        (replace(V2, normal=(("sepconv_3x3", 0), *NORMAL[1:])), "no operation `sepconv_3x3`", "`sep_conv_3x3`?"),
        (replace(V2, reduce=(("frob", 0), *NORMAL[1:])), "no operation `frob`", "it has `max_pool_3x3`, "),
        (replace(V2, normal=(("none", 2), *NORMAL[1:])), "node 2 of `normal` uses input `2`", "inputs 0 to 1"),
        (replace(V2, reduce=(*NORMAL[:7], ("none", -1))), "node 5 of `reduce` uses input `-1`", "inputs 0 to 4"),
        (replace(V2, normal=(("none", 10**99), *NORMAL[1:])), "uses input `1000000", "can use"),
        (replace(V2, normal=(NORMAL[1], *NORMAL[1:])), "node 2 of `normal` uses input `1` twice", "different edges"),
        (replace(V2, normal=(("a\x1b`" * 99, 0), *NORMAL[1:])), "no operation `a\N{REPLACEMENT CHARACTER}`a", "it has"),
    ],
)
def test_what_the_space_does_not_have(genotype: Genotype, message: str, help: str) -> None:
    with pytest.raises(NasError) as error:
        groups_of(genotype, small())
    (found,) = error.value.diagnostics
    assert found.code == "NAS702"
    assert message in found.message
    assert len(found.message) < 150
    assert help in (found.help or "")


@pytest.mark.parametrize(
    "make",
    [
        lambda: compiled("nasbench201", cells=1, width=4),
        lambda: compiled("darts_v2", "darts_v2", **SMALL),
        lambda: passes.group_switches(small(), passes.Options(mode="proxyless")),
    ],
    ids=["other switches", "no switches", "not shared"],
)
def test_other_graphs(make: Callable[[], Graph]) -> None:
    graph = make()
    for attempt in (lambda: groups_of(V2, graph), lambda: genotype_of([], graph)):
        with pytest.raises(NasError, match=r"NAS702: network `.*` does not have the switches of DARTS"):
            attempt()


def test_a_candidate_that_was_pruned() -> None:
    left = passes.prune(small(), {"normal:h.0.p.sep_conv_3"})
    with pytest.raises(NasError, match=r"NAS702: network `search` has no switch `normal h\[0\] <- p: sep_conv_3`"):
        groups_of(V2, left)


@pytest.mark.parametrize(
    ("more", "less", "message"),
    [
        ((), ("skip", "zero"), "node 4 of `normal` keeps 1 operation on 1 edge"),
        (("sep_conv_5",), (), "node 4 of `normal` keeps 3 operations on 2 edges"),
        (("sep_conv_5", "sep_conv_3"), ("skip",), "node 4 of `normal` keeps 3 operations on 2 edges"),
    ],
)
def test_what_a_genotype_cannot_say(more: tuple[str, ...], less: tuple[str, ...], message: str) -> None:
    edge = "normal:h.2.p."
    kept = (groups_of(V2, small()) | {edge + label for label in more}) - {edge + label for label in less}
    with pytest.raises(NasError, match=message) as error:
        genotype_of(kept, small())
    assert "--keep-per-node 2" in (error.value.diagnostics[0].help or "")


def test_two_operations_on_one_edge_are_two_pairs() -> None:
    kept = groups_of(V2, small()) - {"normal:h.0.q.sep_conv_3", "normal:h.0.q.zero"} | {"normal:h.0.p.skip"}
    found = genotype_of(kept, small())
    assert found.normal[:2] == (("sep_conv_3x3", 0), ("skip_connect", 0))
    assert groups_of(found, small()) == kept


# ---------------------------------------------------------------------- NASNet-A and AmoebaNet-A

# As DARTS writes them. The papers: B. Zoph, V. Vasudevan, J. Shlens, Q. V. Le: Learning Transferable Architectures for
# Scalable Image Recognition. CVPR 2018. E. Real, A. Aggarwal, Y. Huang, Q. V. Le: Regularized Evolution for Image
# Classifier Architecture Search. AAAI 2019.
NASNET = """
Genotype(
  normal=[('sep_conv_5x5', 1), ('sep_conv_3x3', 0), ('sep_conv_5x5', 0), ('sep_conv_3x3', 0), ('avg_pool_3x3', 1),
          ('skip_connect', 0), ('avg_pool_3x3', 0), ('avg_pool_3x3', 0), ('sep_conv_3x3', 1), ('skip_connect', 1)],
  normal_concat=[2, 3, 4, 5, 6],
  reduce=[('sep_conv_5x5', 1), ('sep_conv_7x7', 0), ('max_pool_3x3', 1), ('sep_conv_7x7', 0), ('avg_pool_3x3', 1),
          ('sep_conv_5x5', 0), ('skip_connect', 3), ('avg_pool_3x3', 2), ('sep_conv_3x3', 2), ('max_pool_3x3', 1)],
  reduce_concat=[4, 5, 6])
"""
# B. Zoph, V. Vasudevan, J. Shlens, Q. V. Le: Learning Transferable Architectures for Scalable Image Recognition. CVPR
# 2018, figure 4.
NASNET_A = """NASNet_A = Genotype(
    normal=[('sep_conv_5x5', 1), ('sep_conv_3x3', 0), ('sep_conv_5x5', 0), ('sep_conv_3x3', 0), ('avg_pool_3x3', 1),
            ('skip_connect', 0), ('avg_pool_3x3', 0), ('avg_pool_3x3', 0), ('sep_conv_3x3', 1), ('skip_connect', 1)],
    normal_concat=[2, 3, 4, 5, 6],
    reduce=[('sep_conv_5x5', 1), ('sep_conv_7x7', 0), ('max_pool_3x3', 1), ('sep_conv_7x7', 0), ('avg_pool_3x3', 1),
            ('sep_conv_5x5', 0), ('skip_connect', 3), ('avg_pool_3x3', 2), ('sep_conv_3x3', 2), ('max_pool_3x3', 1)],
    reduce_concat=[4, 5, 6])"""
AMOEBANET = """
Genotype(
  normal=[('avg_pool_3x3', 0), ('max_pool_3x3', 1), ('sep_conv_3x3', 0), ('sep_conv_5x5', 2), ('sep_conv_3x3', 0),
          ('avg_pool_3x3', 3), ('sep_conv_3x3', 1), ('skip_connect', 1), ('skip_connect', 0), ('avg_pool_3x3', 1)],
  normal_concat=[4, 5, 6],
  reduce=[('avg_pool_3x3', 0), ('sep_conv_3x3', 1), ('max_pool_3x3', 0), ('sep_conv_7x7', 2), ('sep_conv_7x7', 0),
          ('avg_pool_3x3', 1), ('max_pool_3x3', 0), ('max_pool_3x3', 1), ('conv_7x1_1x7', 0), ('sep_conv_3x3', 5)],
  reduce_concat=[3, 4, 6])
"""
FIVE_NODES = """
import "darts.nas" as darts
import "std.nas"

set candidates(stride) = darts.candidates(stride, true) | { sep_conv(7, stride), conv_7x1_1x7(stride) }

motif conv_7x1_1x7(stride) {
    in x
    x -> out : relu > conv(k = 7, stride = stride) > bn
}

cell normal(width, after_reduction, affine) {
    in a, b
    node p, q = darts.preprocess(width, after_reduction, affine)(a, b)
    node h[5]
    for j in 0..5 { p, q, h[0..j] -> h[j] : choose candidates(1) }
    out : concat
    h -> out : optional identity
}

cell reduction(width, after_reduction, affine) {
    in a, b
    node p, q = darts.preprocess(width, after_reduction, affine)(a, b)
    node h[5]
    for j in 0..5 {
        p, q -> h[j] : choose candidates(2)
        h[0..j] -> h[j] : choose candidates(1)
    }
    out : concat
    h -> out : optional identity
}

network net : image(3, 16, 16) -> classes(10) {
    in x
    out darts.backbone(normal, reduction, 4, 3, affine = true)(x)
}
"""


@cache
def five_nodes() -> Graph:
    return passes.run(graph(FIVE_NODES), passes.SWITCHES)


@pytest.mark.parametrize("text", [NASNET, AMOEBANET], ids=["NASNet-A", "AmoebaNet-A"])
def test_published_genotypes(text: str) -> None:
    genotype = parse_genotype(text)
    kept = groups_of(genotype, five_nodes())
    assert genotype_of(kept, five_nodes()) == in_order(genotype)
    left = passes.prune(five_nodes(), groups(five_nodes()) - kept)
    assert groups(left) == kept, "all of it is used"
    assert parse_genotype(str(genotype)) == genotype


@pytest.mark.parametrize("text", [NASNET, AMOEBANET], ids=["NASNet-A", "AmoebaNet-A"])
def test_published_genotypes_in_a_space_without_their_operations(text: str) -> None:
    with pytest.raises(NasError) as error:
        groups_of(parse_genotype(text), small())
    operations, pairs = error.value.diagnostics
    assert operations.message.startswith("network `search` has no operation `sep_conv_7x7`")
    assert "its candidates are `sep_conv_3`, " in (operations.help or "")
    assert pairs.message == "`normal` has 10 pairs, not 8"


@pytest.mark.parametrize("concat", [(), (2,), (6,), (2, 3, 4, 5, 6), (3, 5)])
def test_any_nodes_can_be_the_output(concat: tuple[int, ...]) -> None:
    genotype = replace(parse_genotype(AMOEBANET), normal_concat=concat)
    assert genotype_of(groups_of(genotype, five_nodes()), five_nodes()) == in_order(genotype)


@pytest.mark.parametrize("text", [NASNET_A, AMOEBANET])
def test_the_shipped_nasnet_holds_what_was_published(text: str) -> None:
    """Nodes read an input twice, even with the same operation."""
    space, genotype = compiled("nasnet", width=4, cells=3), parse_genotype(text)
    kept = groups_of(genotype, space)
    assert genotype_of(kept, space) == genotype, "pairs are in order: each has a branch of its own"
    assert str(genotype_of(kept, space)) == str(genotype)
    assert not violated(space, groups(space) - kept)


def test_genotypes_of_the_shipped_nasnet() -> None:
    """It has five nodes, any of which may be the output."""
    space = compiled("nasnet", width=4, cells=3)
    pairs: Pairs = (("sep_conv_7x7", 0), ("max_pool_3x3", 1), ("conv_1x1", 0), ("avg_pool_3x3", 2), ("skip_connect", 1))
    pairs += (("dil_conv_3x3", 3), ("conv_3x3", 0), ("max_pool_5x5", 1), ("max_pool_7x7", 1), ("sep_conv_3x3", 4))
    genotype = Genotype(pairs, (5, 6), pairs, (5, 6))
    kept = groups_of(genotype, space)
    assert genotype_of(kept, space) == genotype
    assert not violated(space, groups(space) - kept)
    with pytest.raises(NasError, match="NAS702: network `search` has no operation `dil_conv_5x5`"):
        groups_of(replace(genotype, normal=(("dil_conv_5x5", 0), *pairs[1:])), space)


@pytest.mark.parametrize("concat", [(7,), (0, 2), (3, 2), (2, 2)])
def test_what_cannot_be_the_output(concat: tuple[int, ...]) -> None:
    with pytest.raises(NasError, match="NAS702: `normal_concat` is "):
        groups_of(replace(parse_genotype(AMOEBANET), normal_concat=concat), five_nodes())


def test_a_switch_that_is_not_there() -> None:
    with pytest.raises(NasError, match=r"NAS702: network `search` has no switch `normal:h\.0\.p\.skp`") as error:
        genotype_of({"normal:h.0.p.skp"}, small())
    assert error.value.diagnostics[0].help == "did you mean `normal:h.0.p.skip`?"
