"""Finalists: architectures that are trained from scratch and compared, once a search has decided.

The first finalist is the architecture that the search has decided on. Every other one is proposed with the best one so
far as its model: some of its choices are drawn again, by the odds that the strategy gives to their candidates. A choice
keeps as many candidates as before, so lambda and size limits decide how many there are, and finalists which. Of several
proposals, the one with the largest expected improvement is trained (`bayes/improvement.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from pydantic import TypeAdapter

from bayesnas_graph.bayes import Decision, Why, close_dead_ends, expected_improvement, keep_enough, predict, swaps
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes import Disconnected, Misfit, plain, prune
from bayesnas_graph.passes.analysis import choices, violated

PROPOSALS = 64  # per finalist
MOST_CHANGES = 3  # choices of a proposal that are drawn again

Odds = Mapping[str, float]  # the logarithms of the odds of every switch


@dataclass(frozen=True, slots=True)
class Finalist:
    """An architecture that was trained from scratch, and its results on the held-out samples."""

    off: tuple[str, ...]  # the switches that it closes
    parameters: int
    flops: int
    loss: float
    accuracy: float

    @staticmethod
    def from_plain(plain: dict[str, Any]) -> Finalist:
        """Restore a finalist from its fields. Raises an error if they are anything else."""
        return _adapter().validate_python(plain | {"off": tuple(plain["off"])})


@cache
def _adapter() -> TypeAdapter[Finalist]:
    return TypeAdapter(Finalist)


def finalist_graph(graph: Graph, off: Iterable[str]) -> Graph:
    """The network of a finalist: an architecture without switches, as if all gates were 1."""
    return plain(prune(graph, frozenset(off)))


def best_of(finalists: Sequence[Finalist]) -> int:
    """The number of the finalist with the smallest loss, the first if there are several."""
    return min(range(len(finalists)), key=lambda i: finalists[i].loss)


def chosen(decided: Decision, finalist: Finalist) -> Decision:
    """The decision for a finalist, with reasons where it differs from what the search has decided."""
    off = frozenset(finalist.off)
    return decided.changed(decided.off - off, Why.WON).changed(off - decided.off, Why.LOST)


def propose(
    graph: Graph,
    decided: Decision,
    finalists: Sequence[Finalist],
    odds: Odds,
    fits: Callable[[Graph], bool],
    numbers: torch.Generator,
) -> tuple[str, ...] | None:
    """The switches that the next finalist closes; None if there are no proposals that were not tried before."""
    groups = frozenset(verdict.name for verdict in decided.verdicts)
    tried = [groups - frozenset(finalist.off) for finalist in finalists]
    model = tried[best_of(finalists)]
    parts = list(_parts(graph, model))
    if not parts:
        return None
    must_fit = fits(prune(graph, groups - model))
    new: dict[frozenset[str], None] = {}  # in the order of proposals
    for _ in range(PROPOSALS):
        kept = _sound(graph, decided, _redrawn(model, parts, odds, numbers), odds)
        if kept is None or kept in tried or (must_fit and not fits(prune(graph, groups - kept))):
            continue
        new[kept] = None
    if not new:
        return None
    proposals = list(new)
    losses = torch.tensor([finalist.loss for finalist in finalists], dtype=torch.float64)
    gains = expected_improvement(predict(swaps([*tried, *proposals]), losses), len(tried))
    return tuple(sorted(groups - proposals[int(gains.argmax())]))


def _parts(graph: Graph, kept: frozenset[str]) -> Iterator[tuple[tuple[str, ...], int | None]]:
    """The parts of an architecture that can be drawn again: switches, and how many of them are kept.

    An optional operation is a part of its own, which may be kept or not.
    """
    seen: set[str] = set()
    for choice in choices(graph):
        seen.update(choice.candidates, [] if choice.zero is None else [choice.zero])
        count = len(kept.intersection(choice.candidates))
        if 0 < count < len(choice.candidates):
            yield choice.candidates, count
    yield from (((group,), None) for group in graph.switches if group not in seen)


def _redrawn(
    kept: frozenset[str], parts: Sequence[tuple[tuple[str, ...], int | None]], odds: Odds, numbers: torch.Generator
) -> frozenset[str]:
    """Draw one to three parts of an architecture again."""
    count = 1 + int(torch.randint(min(MOST_CHANGES, len(parts)), (), generator=numbers))
    for i in torch.randperm(len(parts), generator=numbers)[:count].tolist():
        switches, limit = parts[i]
        # With this noise the best of several is drawn by the softmax of their odds, and one is positive by its own.
        noise = _gumbel(len(switches), numbers)
        if limit is None:
            noise = [a - b for a, b in zip(noise, _gumbel(len(switches), numbers), strict=True)]
        scores = {name: odds[name] + extra for name, extra in zip(switches, noise, strict=True)}
        ranked = sorted(switches, key=lambda name: -scores[name])
        stay = ranked[:limit] if limit is not None else [name for name in switches if scores[name] > 0]
        kept = kept.difference(switches).union(stay)
    return kept


def _gumbel(count: int, numbers: torch.Generator) -> list[float]:
    uniform = torch.rand(count, generator=numbers, dtype=torch.float64).clamp(1e-300, 1 - 1e-16)
    found: list[float] = (-(-uniform.log()).log()).tolist()
    return found


def _sound(graph: Graph, decided: Decision, kept: frozenset[str], odds: Odds) -> frozenset[str] | None:
    """The switches that are left without dead ends; None if an output is lost.

    A choice that is used again gets the candidates that it must keep.
    """
    groups = frozenset(verdict.name for verdict in decided.verdicts)
    wanted = decided.changed(kept, Why.KEPT).changed(groups - kept, Why.LOST)
    try:
        sound = close_dead_ends(graph, keep_enough(graph, wanted, odds))
    except (Disconnected, Misfit):
        return None
    return None if graph.constraints and violated(graph, sound.off) else groups - sound.off
