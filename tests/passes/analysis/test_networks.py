"""The number of distinct connected networks, against pruning every setting."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.analysis import limits, networks, shortages, switches
from bayesnas_graph.passes.analysis.networks import Networks
from bayesnas_graph.passes.prune import Disconnected, Misfit, prune
from tests.helpers import body, check, graph
from tests.passes.analysis.test_extremes import Space
from tests.passes.cases import shipped


def pruned(found: Graph) -> set[frozenset[str]]:
    """The switches of every connected network within the limits: those that pruning a setting leaves."""
    groups = sorted(found.switches)
    left: set[frozenset[str]] = set()
    for size in range(len(groups) + 1):
        for on in combinations(groups, size):
            off = set(groups) - set(on)
            try:
                kept = frozenset(gate.group for gate in prune(found, off).gates)
            except (Disconnected, Misfit):
                continue
            closed = set(groups) - kept
            if not any(limit.exceeded(kept) for limit in limits(found)) and not shortages(found, closed):
                left.add(kept)
    return left


class ExactSpace(Space):
    """A random space, some of whose choices must keep candidates."""

    def _edge(self, width: int | str) -> str:
        text = super()._edge(width)
        kind = self.random.random()
        if text.startswith("choose 1") and kind < 0.5:
            return text.replace("choose 1", "choose exactly 1")
        if text.startswith("choose {") and kind < 0.3 and text.count(",") > 1:
            return text.replace("choose", "choose exactly 2", 1)
        return text


def random_space(random: Random, most: int = 9) -> Graph | None:
    """The graph of a random space with a moderate number of switches."""
    space, diagnostics = check(ExactSpace(random).text())
    if diagnostics:
        return None
    found = space.networks[0].graph()
    return found if 0 < len(found.switches) <= most else None


SPACES = st.randoms(use_true_random=False).map(random_space)


@settings(max_examples=150, deadline=None)
@given(found=SPACES)
def test_all_networks_of_random_spaces(found: Graph | None) -> None:
    assume(found is not None)
    assert found is not None
    expected = pruned(found)
    told = networks(found)
    assert told.exact
    assert told.count == len(expected)
    space = Networks(found)
    if not space.may_misfit:
        listed = list(space.all())
        assert len(set(listed)) == len(listed), "every number is another network"
        assert set(listed) == expected


@pytest.mark.parametrize(
    ("space", "network", "count"),
    [
        ("nasbench201", "search", 9_444),
        ("quickstart", "digits", 15_674_895),
        ("densenet", "search", 2**45),
        ("lenet5", "lenet5", 1),
    ],
)
def test_shipped_spaces(space: str, network: str, count: int) -> None:
    told = networks(shipped(space, network))
    assert (told.count, told.exact) == (count, True)


def test_what_cannot_be_enumerated_has_a_bound() -> None:
    found = shipped("darts", "search")
    told = networks(found)
    assert not told.exact
    assert told.count <= switches(found).settings == 2**196


def test_a_chain_of_exactly_one() -> None:
    layers = " > ".join(["choose exactly 1 { conv(3, 1), conv(3, 3), relu }"] * 8)
    found = graph(body(f"x -> out : {layers}"))
    assert switches(found).settings == networks(found).count == 6_561


def test_a_choice_inside_a_candidate_that_is_off_counts_once() -> None:
    inner = "(bn > choose exactly 1 { conv(3, 1), conv(3, 3), conv(3, 5) })"
    found = graph(body(f"x -> out : choose exactly 1 {{ {inner}, relu }}"))
    assert switches(found).settings == networks(found).count == 4
    found = graph(body(f"x -> out : choose {{ {inner}, relu }}"))
    assert switches(found).settings == 4 * 2
    assert networks(found).count == 4 * 2 - 1, "all off is not connected"


def test_shared_choices_in_several_candidates() -> None:
    cell = "cell c { in x x -> out : choose exactly 1 { conv(3, 1), conv(3, 3) } } "
    found = graph(cell + body("x -> out : choose exactly 1 { c > bn, c > relu, tanh }"))
    assert networks(found).count == 2 + 2 + 1
    assert switches(found).settings == 2 * 3, "counted as if it were in all of them"


def test_shapes_that_do_not_fit() -> None:
    halves = "node h[2] = x : optional conv(3, 1) node y = concat(h)"
    found = graph(body(f"{halves} sum(y, conv(6, 1)(x)) -> out : conv(3, 1)"))
    assert Networks(found).may_misfit
    assert networks(found).count == 2, "both or none of the two are left"


def test_a_long_chain_is_exact() -> None:
    step = "h[i] -> h[i + 1] : choose { conv(3, 3), conv(3, 1), relu }"
    text = f"node h[301] x -> h[0] for i in 0..300 {{ {step} }} out h[300]"
    told = networks(graph(body(text)))
    assert (told.count, told.exact) == (7**300, True)
