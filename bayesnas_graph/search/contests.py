"""Competing switches as tensors, for softmax and sampling."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.analysis import choices
from bayesnas_graph.runtime.precision import gate_dtype, tiny


@dataclass(frozen=True, slots=True, eq=False)
class Contests:
    """The choices of a graph, each with one winner, or with as many as it must keep.

    The entrants of a choice are its candidates and `none`, which its zero switch represents. A choice that must keep
    candidates has no `none`. An optional operation has its own contest, with a `none` that is not a switch. Switches
    come first, in the order of the groups.
    """

    contest: Tensor  # of every entrant
    is_none: Tensor  # of every entrant
    groups: int  # entrants that are switches
    count: int
    more: tuple[Tensor, ...] = ()  # for every winner after the first, the entrants of contests that have one

    @staticmethod
    def of(graph: Graph, groups: tuple[str, ...]) -> Contests:
        """Return the contests of a graph whose switches have this order, on the CPU."""
        number = {name: i for i, name in enumerate(groups)}
        contest: dict[str, int] = {}
        nones: set[str] = set()
        found = choices(graph)
        for i, choice in enumerate(found):
            contest.update(dict.fromkeys(choice.candidates, i))
            if choice.zero is not None:
                contest[choice.zero] = i
                nones.add(choice.zero)
        alone = [name for name in groups if name not in contest]
        contest.update({name: len(found) + i for i, name in enumerate(alone)})
        of_groups = [contest[name] for name in sorted(groups, key=number.__getitem__)]
        added = range(len(found), len(found) + len(alone))
        of_entrants = torch.tensor([*of_groups, *added], dtype=torch.long)
        seats = torch.tensor([max(1, choice.least) for choice in found] + [1] * len(alone), dtype=torch.long)
        return Contests(
            contest=of_entrants,
            is_none=torch.tensor([name in nones for name in groups] + [True] * len(alone), dtype=torch.bool),
            groups=len(groups),
            count=len(found) + len(alone),
            more=tuple(seats[of_entrants] > turn for turn in range(1, max(seats.tolist(), default=1))),
        )

    def to(self, device: torch.device | str) -> Contests:
        """Return the same on another device."""
        more = tuple(entrants.to(device) for entrants in self.more)
        return replace(self, contest=self.contest.to(device), is_none=self.is_none.to(device), more=more)

    @property
    def is_optional(self) -> Tensor:
        """A mask of the switches of optional operations."""
        return torch.isin(self.contest[: self.groups], self.contest[self.groups :])

    def entered(self, of_groups: Tensor) -> Tensor:
        """Return the numbers of all entrants, given those of the switches; zero for a `none` that is not a switch."""
        return torch.cat([of_groups, of_groups.new_zeros(len(self.contest) - self.groups)])

    def gates(self, weights: Tensor) -> Tensor:
        """Return the gates of all groups, given the weights of the entrants; the weight of `none` is dropped."""
        return torch.where(self.is_none, 1.0, weights)[: self.groups]

    def softmax(self, logits: Tensor) -> Tensor:
        """Return the share of every entrant in its contest.

        >>> one = Contests(torch.tensor([0, 0, 1]), torch.tensor([False, True, False]), 3, 2)
        >>> one.softmax(torch.tensor([0.0, 0.0, 5.0]))
        tensor([0.5000, 0.5000, 1.0000])
        """
        powers = (logits - self._best(logits.detach())).exp()
        return powers / powers.new_zeros(self.count).index_add(0, self.contest, powers)[self.contest]

    def winners(self, scores: Tensor) -> Tensor:
        """Return a mask of the entrants with the highest score in their contest; of several, the first.

        >>> one = Contests(torch.tensor([0, 0, 1]), torch.tensor([False, True, False]), 3, 2)
        >>> one.winners(torch.tensor([2.0, 2.0, 1.0]))
        tensor([ True, False,  True])
        >>> replace(one, more=(torch.tensor([True, True, False]),)).winners(torch.tensor([2.0, 2.0, 1.0]))
        tensor([True, True, True])
        """
        won = self._first(scores)
        for more in self.more:
            won = won | (more & self._first(scores.masked_fill(won, -torch.inf)))
        return won

    def _first(self, scores: Tensor) -> Tensor:
        """Return a mask of the best entrant of every contest; of several, the first."""
        place = torch.arange(len(scores), device=scores.device)
        among = torch.where(scores == self._best(scores), place, len(scores))
        first = place.new_full((self.count,), len(scores)).scatter_reduce(0, self.contest, among, "amin")
        return place == first[self.contest]

    def must_win(self, of_groups: Tensor) -> Tensor:
        """Return a mask of the switches with the highest scores in choices without `none`, which must keep some."""
        may_be_empty = torch.zeros(self.count, dtype=torch.bool, device=self.contest.device)
        may_be_empty = may_be_empty.index_fill(0, self.contest[self.is_none], True)
        return (self.winners(self.entered(of_groups)) & ~may_be_empty[self.contest])[: self.groups]

    def winners_among(self, groups: Sequence[str], off: Collection[str]) -> Tensor:
        """Return a mask of the candidates that are not off, and of `none` where a contest has none of them."""
        kept = [group not in off for group in groups] + [False] * (len(self.contest) - self.groups)
        won = torch.tensor(kept, dtype=torch.bool, device=self.contest.device) & ~self.is_none
        is_empty = torch.ones(self.count, dtype=torch.bool, device=won.device)
        is_empty = is_empty.index_fill(0, self.contest[won], False)
        return won | (self.is_none & is_empty[self.contest])

    def best_candidates(self, scores: Tensor) -> Tensor:
        """Return a mask of the winners among candidates, without `none`."""
        return self.winners(scores.masked_fill(self.is_none, -torch.inf)) & ~self.is_none

    def _best(self, scores: Tensor) -> Tensor:
        """Return the highest score in the contest of every entrant."""
        most = scores.new_full((self.count,), -torch.inf).scatter_reduce(0, self.contest, scores, "amax")
        return most[self.contest]


def gumbel(contests: Contests, numbers: torch.Generator) -> Tensor:
    """Return noise such that the winner of `logits + noise` is drawn with the probabilities of their softmax.

    The random numbers must come from the device of the contests: copying them there would make every step wait.
    """
    device = contests.contest.device
    dtype = gate_dtype(device)
    uniform = torch.rand(len(contests.contest), generator=numbers, dtype=dtype, device=device)
    return -(-uniform.clamp(tiny(dtype), 1 - torch.finfo(dtype).eps / 2).log()).log()
