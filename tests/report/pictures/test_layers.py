"""Graphs in layers."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.report.pictures.layers import crossings

HOPS = st.lists(st.tuples(st.integers(0, 5), st.integers(6, 11)), max_size=20)


@given(first=HOPS, order=st.permutations(range(6, 12)))
def test_crossings_are_pairs_in_opposite_order(first: list[tuple[int, int]], order: list[int]) -> None:
    place = {vertex: i for i, vertex in enumerate(order)}
    crossed = sum((a - c) * (place[b] - place[d]) < 0 for (a, b), (c, d) in combinations(first, 2))
    second = [(vertex, 12) for vertex in order]  # these meet at one vertex, and cross nothing
    assert crossings([range(6), order, [12]], [*first, *second]) == crossed
