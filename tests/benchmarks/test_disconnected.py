"""A zero candidate disconnects architectures with the published probability; switches do not."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from bayesnas_graph.bayes import Decision, Verdict, Why
from benchmarks.disconnected import FOUR_NODES, NASBENCH201, chance, choices, graph_of, is_whole, measure, stray


def test_the_published_chance() -> None:
    assert chance(graph_of(FOUR_NODES), FOUR_NODES.nodes) == Fraction(511, 1024)


def test_which_operation_an_edge_takes_makes_no_difference() -> None:
    """So the probability can be computed with one operation per edge."""
    graph = graph_of(NASBENCH201)
    edges = choices(graph)
    random = Random(0)
    for _ in range(30):
        there = [random.random() < 0.7 for _ in edges]
        found = {is_whole(graph, NASBENCH201.nodes, _others(edges, there, random)) for _ in range(3)}
        assert len(found) == 1


def _others(edges: list[tuple[str, ...]], there: list[bool], random: Random) -> set[str]:
    """The switches that are off if each present edge keeps one operation."""
    taken = {random.choice(candidates) for candidates, on in zip(edges, there, strict=True) if on}
    return {name for candidates in edges for name in candidates} - taken


@pytest.mark.parametrize("space", ["four nodes", "NAS-Bench-201, cell"])
def test_nothing_that_is_derived_falls_apart(space: str) -> None:
    found = measure(space, priors=60, seed=1)
    assert found["derived"] == found["derived, on no path"] == 0
    assert found["zero by argmax"]
    assert found["switches alone"], "so that there was something to mend"


def test_what_is_on_no_path_is_seen() -> None:
    """Only the last edge from `h[1]` remains, and `h[1]` has no input."""
    graph = graph_of(FOUR_NODES)
    closed = {name for name in {gate.group for gate in graph.gates} if name.startswith(("h.0", "h.1"))}
    verdicts = (
        Verdict(name, why.keep, why, 1.0, 1.0, 1.0, None, (name,), (1.0,), (1.0,), ())
        for name in dict.fromkeys(gate.group for gate in graph.gates)
        for why in (Why.OWN if name in closed else Why.KEPT,)
    )
    assert stray(graph, Decision(tuple(verdicts))) > 0
