"""Laws of the builder, on random spaces: its text is formatted, and gives the graph of a text written by other code."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph import api
from bayesnas_graph.language.elaborate import Network
from tests.builder.programs import Planner, as_text, build
from tests.helpers import formatted, network

randoms = st.randoms(use_true_random=False)


@given(randoms)
def test_the_text_gives_the_same_graph(random: Random) -> None:
    plan = Planner(random).space()
    built = build(plan)
    expected, found = network(as_text(plan)), api.load(built)
    assert found.graph() == expected.graph()
    assert budgets(found) == budgets(expected)


def budgets(network: Network) -> list[tuple[object, ...]]:
    return [(one.quantity, one.comparison, one.bound) for one in network.budgets]


@given(randoms)
def test_the_text_is_formatted_and_every_line_has_an_origin(random: Random) -> None:
    built = build(Planner(random).space())
    text = str(built)
    assert formatted(text) == text
    origins = built.as_text().origins
    assert origins
    assert all(place.startswith("programs.py:") for place in origins.values())
