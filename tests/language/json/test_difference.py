"""Differences of two graphs, node by node and as a summary."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesnas_graph.ir import Graph
from bayesnas_graph.language.json import Difference, compare, fingerprint, summary
from bayesnas_graph.passes import plain
from tests.conftest import LONG
from tests.helpers import graph
from tests.language.json.graphs import MUTATIONS, disguised, graphs, mutated

RANDOMS = st.randoms(use_true_random=False)

TEXT = """
cell block(w) {
    in x
    node a = x : conv(w, 3) > bn
    node h[2]
    for j in 0..2 { a, h[0..j] -> h[j] : choose {relu, tanh, max_pool(3)} }
    out concat(h)
}
network n : image(3, 8, 8) -> classes(10) {
    in x
    node stem = x : conv(8, 3)
    node y = stem : block(8) > block(8)
    node z = y : optional swish
    z -> out : global_avg_pool > linear(10)
}
"""


def told(old: str, new: str) -> list[str]:
    before, after = graph(TEXT), graph(TEXT.replace(old, new))
    assert TEXT.replace(old, new) != TEXT
    return summary(compare(before, after), before, after)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("conv(8, 3)", "conv(8, 5)", "changed stem: conv(width = 8) -> conv(width = 8, k = 5)"),
        ("bn", "bn(false)", "changed cell block: a.bn: bn -> bn(affine = false) (2 times)"),
        ("choose", "choose 1", "changed cell block: h.0, h.1.a, h.1.h_0: choice -> choice(limit = 1) (6 times)"),
        (", max_pool(3)", "", "switches cell block: h[0], h[1] <- a, h[1] <- h[0]: - max_pool (6 times, 6 operations)"),
        ("concat(h)", "concat(h[1], h[0])", "rewired cell block: concat: reads in another order (2 times)"),
        ("image(3, 8, 8)", "image(1, 8, 8)", "input 0: x 3x8x8 -> x 1x8x8"),
    ],
)
def test_one_line(old: str, new: str, line: str) -> None:
    assert told(old, new) == [line]


def test_candidates() -> None:
    assert told("max_pool(3)", "avg_pool(3), bn") == [
        "switches cell block: h[0], h[1] <- a, h[1] <- h[0]: + avg_pool, + bn, - max_pool (6 times, 18 operations)"
    ]


def test_switches_that_are_no_longer_shared() -> None:
    assert told("cell block", "motif block") == [
        "cell block: 2 -> 0 uses",
        "switches cell block: h[0]: relu, h[0]: tanh, h[0]: max_pool and 6 more: one switch is now 2",
    ]


def test_what_was_optional() -> None:
    assert told("optional swish", "swish") == [
        "switches z: - optional (1 operation)",
        "changed z: maybe -> swish",
        "rewired z: also reads concat",
    ]


def test_a_choice_that_was_removed_around_its_candidates() -> None:
    before = graph(TEXT)
    after = plain(before)
    lines = summary(compare(before, after), before, after)
    assert "removed cell block: h.1.a, h.1.h_0: choice (4 times)" in lines


def test_an_operation_in_between() -> None:
    assert told("conv(w, 3) > bn", "conv(w, 3) > bn > gelu") == [
        "added cell block: a.gelu: gelu (2 times)",
        "rewired cell block: h.0.relu, h.0.tanh, h.0.max_pool and 3 more: reads a.gelu instead of a.bn (12 times)",
    ]


def test_a_name_that_grew() -> None:
    assert told("conv(8, 3)", "conv(8, 3) > relu") == [
        "added stem.relu: relu",
        "rewired cell block: a.conv: reads stem.relu instead of stem.conv",
        "renamed stem -> stem.conv",
    ]


def test_outputs() -> None:
    assert told("10", "12") == [
        "output 0: linear 10 -> linear 12",
        "changed linear: linear(width = 10) -> linear(width = 12)",
    ]


def test_many_shapes_are_one_line() -> None:
    lines = told("8, 8)", "16, 16)")
    assert lines[0] == "input 0: x 3x8x8 -> x 3x16x16"
    assert sum(line.startswith("shape") for line in lines) == 2
    assert len(lines) == 3


def test_mere_renaming_is_no_difference() -> None:
    after = graph(TEXT.replace("stem", "entry").replace("h[", "inner[").replace("(h)", "(inner)"))
    difference = compare(graph(TEXT), after)
    assert difference.same
    assert summary(difference, graph(TEXT), after) == []
    assert ("stem", "entry") in difference.renamed
    assert ("y.block.h.0.relu", "y.block.inner.0.relu") in difference.renamed
    assert not difference.added + difference.removed + difference.changed + difference.rewired


def test_renaming_is_told_beside_a_change() -> None:
    text = TEXT.replace("node a", "node entry").replace("{ a,", "{ entry,").replace("bn", "bn(false)")
    before, after = graph(TEXT), graph(text)
    lines = summary(compare(before, after), before, after)
    assert "changed cell block: entry.bn: bn -> bn(affine = false) (2 times)" in lines
    assert any(line.startswith("renamed a -> entry") for line in lines)
    assert not any(line.startswith(("added", "removed")) for line in lines)


@settings(max_examples=60 * LONG)
@given(graphs(), RANDOMS)
def test_a_disguised_graph_has_its_nodes_renamed(original: Graph, random: Random) -> None:
    other = disguised(original, random)
    difference = compare(original, other)
    assert difference.same
    assert not difference.added + difference.removed + difference.changed


@pytest.mark.parametrize("mutation", MUTATIONS)
@settings(max_examples=40 * LONG)
@given(original=graphs(), random=RANDOMS)
def test_every_difference_is_told(mutation: str, original: Graph, random: Random) -> None:
    changed = mutated(original, MUTATIONS[mutation], random)
    if changed is None:
        return
    difference = compare(original, changed)
    assert difference.same == (fingerprint(original) == fingerprint(changed))
    lines = summary(difference, original, changed)
    assert bool(lines) != difference.same
    assert "the same operations, joined in another way" not in lines
    assert _mirrored(difference) == _mirrored(compare(changed, original), back=True)


def _mirrored(difference: Difference, *, back: bool = False) -> tuple[object, ...]:
    """The parts of a difference that must be symmetric."""
    added, removed = difference.added, difference.removed
    changed = {(c.before.name, c.after.name) if not back else (c.after.name, c.before.name) for c in difference.changed}
    return (len(removed), len(added), changed) if back else (len(added), len(removed), changed)


def test_budgets() -> None:
    before = graph(TEXT)
    difference = compare(before, before, (["params < 10", "depth < 3"], ["params < 20", "depth < 3"]))
    assert difference.same_graph
    assert not difference.same
    assert summary(difference, before, before) == ["budget + params < 20", "budget - params < 10"]
