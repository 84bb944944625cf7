"""Finalists: architectures that are trained from scratch and compared, once a search has decided.

The first finalist is the architecture that the search has decided on. Every other one is proposed with the best one so
far as its model, by the odds that the strategy gives to candidates. Where a choice keeps a limited number, some choices
are drawn again, each with as many candidates as before. Where choices keep any number, open candidates change places
with closed ones anywhere in the network. So lambda and size limits decide how much is kept, and finalists what. Of
several proposals, the one with the largest expected improvement is trained (`bayes/improvement.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from pydantic import TypeAdapter

from bayesnas_graph.bayes import Decision, Why, close_dead_ends, expected_improvement, keep_enough, predict, swaps
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes import Disconnected, Misfit, plain, prune
from bayesnas_graph.passes.analysis import ChoiceSwitches, choices, violated

PROPOSALS = 64  # per finalist
MOST_CHANGES = 3  # choices of a proposal that are drawn again
MOST_EXCHANGED = 2  # candidates that are closed, and opened, where choices keep any number

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
    parts = _parts(graph, model)
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


@dataclass(frozen=True, slots=True)
class _Part:
    """Switches of an architecture that are drawn again together, and how many of them are kept."""

    switches: tuple[str, ...]
    count: int | None = None  # None: each by itself, kept or not

    def redrawn(self, kept: frozenset[str], odds: Odds, numbers: torch.Generator) -> frozenset[str]:
        """Return what is kept once these switches have been drawn again."""
        # With this noise the best of several is drawn by the softmax of their odds, and one is positive by its own.
        noise = _gumbel(len(self.switches), numbers)
        if self.count is None:
            noise = [a - b for a, b in zip(noise, _gumbel(len(self.switches), numbers), strict=True)]
        scores = {name: odds[name] + extra for name, extra in zip(self.switches, noise, strict=True)}
        ranked = sorted(self.switches, key=lambda name: -scores[name])
        stay = ranked[: self.count] if self.count is not None else [name for name in ranked if scores[name] > 0]
        return kept.difference(self.switches).union(stay)


@dataclass(frozen=True, slots=True)
class _Pool:
    """All candidates of choices that keep any number, each with the zero switch of its choice."""

    zeros: Mapping[str, str | None]

    def redrawn(self, kept: frozenset[str], odds: Odds, numbers: torch.Generator) -> frozenset[str]:
        """Close one or two candidates, and open one or two others."""
        leave, enter = (1 + torch.randint(MOST_EXCHANGED, (2,), generator=numbers)).tolist()
        noise = dict(zip(self.zeros, _gumbel(len(self.zeros), numbers), strict=True))
        closing = sorted(kept & self.zeros.keys(), key=lambda name: odds[name] - noise[name])[:leave]
        opening = sorted(self.zeros.keys() - kept, key=lambda name: -odds[name] - noise[name])[:enter]
        zeros = (self.zeros[name] for name in opening)
        return kept.difference(closing).union(opening, (zero for zero in zeros if zero is not None))


def _parts(graph: Graph, kept: frozenset[str]) -> list[_Part | _Pool]:
    """Return the parts of an architecture that can be drawn again.

    An optional operation is a part of its own. The pool is listed once for each of its choices, so that all choices
    are drawn equally often.
    """
    seen: set[str] = set()
    parts: list[_Part | _Pool] = []
    free: list[ChoiceSwitches] = []
    for choice in choices(graph):
        seen.update(choice.candidates, [] if choice.zero is None else [choice.zero])
        count = len(kept.intersection(choice.candidates))
        if choice.most is None:
            free.append(choice)
        elif 0 < count < len(choice.candidates):
            parts.append(_Part(choice.candidates, count))
    zeros = {name: choice.zero for choice in free for name in choice.candidates}
    if not zeros.keys() <= kept:
        parts += [_Pool(zeros)] * len(free)
    return parts + [_Part((group,)) for group in graph.switches if group not in seen]


def _redrawn(
    kept: frozenset[str], parts: Sequence[_Part | _Pool], odds: Odds, numbers: torch.Generator
) -> frozenset[str]:
    """Draw one to three parts of an architecture again."""
    count = 1 + int(torch.randint(min(MOST_CHANGES, len(parts)), (), generator=numbers))
    for i in torch.randperm(len(parts), generator=numbers)[:count].tolist():
        kept = parts[i].redrawn(kept, odds, numbers)
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
