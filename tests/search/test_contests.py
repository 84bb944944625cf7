"""Which switches compete, and how one is sampled."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.search.contests import Contests, gumbel
from tests.search.spaces import problem
from tests.search.test_variants import MIXED


@st.composite
def contests(draw: st.DrawFn) -> Contests:
    """A few contests with a few entrants each, in any order."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=5))
    entrants = draw(st.permutations([i for i, size in enumerate(sizes) for _ in range(size)]))
    nones = draw(st.lists(st.booleans(), min_size=len(entrants), max_size=len(entrants)))
    return Contests(torch.tensor(entrants), torch.tensor(nones), len(entrants), len(sizes))


def numbers(drawn: st.DataObject, count: int) -> torch.Tensor:
    values = drawn.draw(st.lists(st.floats(-50, 50), min_size=count, max_size=count))
    return torch.tensor(values, dtype=torch.float64)


@given(contests(), st.data())
def test_a_softmax_is_taken_in_every_contest(found: Contests, drawn: st.DataObject) -> None:
    logits = numbers(drawn, len(found.contest))
    parts = found.softmax(logits)
    for number in range(found.count):
        own = found.contest == number
        torch.testing.assert_close(parts[own], logits[own].softmax(0))


@given(contests(), st.data())
def test_one_wins_in_every_contest(found: Contests, drawn: st.DataObject) -> None:
    scores = numbers(drawn, len(found.contest))
    winners = found.winners(scores)
    for number in range(found.count):
        own = (found.contest == number).nonzero().flatten()
        (winner,) = own[winners[own]].tolist()
        assert winner == own[scores[own].argmax()]


@given(contests(), st.data())
def test_none_is_not_a_candidate(found: Contests, drawn: st.DataObject) -> None:
    scores = numbers(drawn, len(found.contest))
    best = found.best_candidates(scores)
    assert not (best & found.is_none).any()
    for number in range(found.count):
        candidates = (found.contest == number) & ~found.is_none
        assert int(best[candidates].sum()) == int(candidates.any())
        if candidates.any():
            assert scores[best & candidates].max() == scores[candidates].max()


def test_winners_are_drawn_with_the_chances_of_a_softmax() -> None:
    one = Contests(torch.tensor([0, 0, 0, 1, 1]), torch.tensor([False, False, True, False, True]), 5, 2)
    logits = torch.tensor([0.0, 1.0, -1.0, 2.0, 0.0], dtype=torch.float64)
    generator, draws = torch.Generator().manual_seed(0), 20_000
    counts = sum((one.winners(logits + gumbel(one, generator)).double() for _ in range(draws)), torch.zeros(5))
    torch.testing.assert_close(counts / draws, one.softmax(logits), rtol=0, atol=0.015)


def test_what_competes_in_a_graph() -> None:
    """Candidates and the zero switch of a choice; an optional operation competes only with its own `none`."""
    graph = problem(MIXED).graph
    groups = tuple(dict.fromkeys(gate.group for gate in graph.gates))
    found = Contests.of(graph, groups)
    sides: dict[int, set[str]] = {}
    for group, contest in zip(groups, found.contest.tolist(), strict=False):
        sides.setdefault(contest, set()).add(group.rpartition(".")[2])
    optional = [number for number, names in sides.items() if "zero" not in names]
    assert len(optional) == 1
    for number, names in sides.items():
        entrants = found.contest == number
        assert int(found.is_none[entrants].sum()) == 1, names
        assert int(entrants.sum()) == len(names) + (number in optional)
    gates = found.gates(torch.full((len(found.contest),), 0.25))
    assert [float(gate) for gate in gates] == [1.0 if group.endswith(".zero") else 0.25 for group in groups]
