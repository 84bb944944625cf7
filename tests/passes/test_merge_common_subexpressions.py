"""Common work without weights is done once."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayesnas_graph import passes
from bayesnas_graph.ir.ops import BatchNorm
from tests.equivalence import assert_same_function
from tests.helpers import body, graph
from tests.passes.cases import check_golden, golden, shipped


@pytest.mark.parametrize("case", golden("merge_common_subexpressions"), ids=lambda path: path.stem)
def test_golden(case: Path, update_golden: bool) -> None:
    check_golden(case, lambda graph, _: passes.merge_common_subexpressions(graph), update_golden)


def test_merging_computes_pools_and_activations_once() -> None:
    """Three edges from one source: one ReLU, one pool with its norm, and three convolutions."""
    found = graph(
        body(
            "let options = { relu > conv(3), relu > conv(3, 5), max_pool(3) > bn(false) }"
            "node h[3] = x : choose options h -> out"
        )
    )
    merged = passes.merge_common_subexpressions(found)
    count = {kind: sum(node.op.name == kind for node in merged) for kind in ("relu", "max_pool", "bn", "conv")}
    assert count == {"relu": 1, "max_pool": 1, "bn": 1, "conv": 6}
    assert len(merged) < len(found)


def test_merging_keeps_weights_and_gates_apart() -> None:
    found = graph(body("x -> out : choose { relu, tanh } x -> out : choose { relu, tanh } x -> out : bn x -> out : bn"))
    merged = passes.merge_common_subexpressions(found)
    count = {kind: sum(node.op.name == kind for node in merged) for kind in ("relu", "tanh", "bn", "choice")}
    assert count == {"relu": 1, "tanh": 1, "bn": 2, "choice": 2}
    assert not BatchNorm().mergeable
    assert BatchNorm(affine=False).mergeable


def test_merging_shrinks_the_search_network_of_darts() -> None:
    before = shipped("darts", "search")
    after = passes.merge_common_subexpressions(before)
    pools = [sum(node.op.name.endswith("pool") for node in found) for found in (before, after)]
    assert pools[1] < pools[0] / 2


def test_what_is_merged_moves_out_of_its_motifs() -> None:
    text = "motif m { in x x -> out : relu > conv(3) } " + body("node p = x : tanh node q = sum(m(p), m(p)) q -> out")
    merged = passes.merge_common_subexpressions(graph(text))
    (relu,) = (node for node in merged if node.op.name == "relu")
    assert relu.name == "p_relu"
    assert relu.stands_for == (("m.relu", "m_2.relu"),)


def test_what_is_made_of_a_motif_stays_in_it() -> None:
    """If it were moved out, the motif that its input comes from would have to read the ReLU."""
    text = "motif m { in x node v = x : conv(3) node w = v : relu > tanh out v, w }" + body(
        "node v, w = m(x) w -> out v -> out : relu > conv(3)"
    )
    before = graph(text)
    merged = passes.merge_common_subexpressions(before)
    assert sum(node.op.name == "relu" for node in merged) == 1
    assert_same_function(before, merged)
