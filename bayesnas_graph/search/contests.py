"""Which switches compete, as numbers: what a softmax is taken over, and what one is drawn from."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.analysis import choices


@dataclass(frozen=True, slots=True, eq=False)
class Contests:
    """The choices of a graph, in each of which one entrant wins.

    The entrants of a choice are its candidates and `none`, which is what its zero switch stands for. An optional
    operation has a contest of its own with a `none` that is no switch. Entrants that are switches come first, in the
    order of the groups; the others follow.
    """

    contest: Tensor  # of every entrant
    is_none: Tensor  # of every entrant
    groups: int  # entrants that are switches
    count: int

    @staticmethod
    def of(graph: Graph, groups: tuple[str, ...]) -> Contests:
        """The contests of a graph whose switches have this order, on the CPU."""
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
        return Contests(
            contest=torch.tensor([*of_groups, *added], dtype=torch.long),
            is_none=torch.tensor([name in nones for name in groups] + [True] * len(alone), dtype=torch.bool),
            groups=len(groups),
            count=len(found) + len(alone),
        )

    def to(self, device: torch.device | str) -> Contests:
        """The same on another device."""
        return replace(self, contest=self.contest.to(device), is_none=self.is_none.to(device))

    def entered(self, of_groups: Tensor) -> Tensor:
        """Numbers of all entrants, given those of the switches; a `none` that is no switch has zero."""
        return torch.cat([of_groups, of_groups.new_zeros(len(self.contest) - self.groups)])

    def gates(self, weights: Tensor) -> Tensor:
        """The gates of all groups, given the weights of the entrants: that of `none` goes to nobody."""
        return torch.where(self.is_none, 1.0, weights)[: self.groups]

    def softmax(self, logits: Tensor) -> Tensor:
        """The part that every entrant has of its contest.

        >>> one = Contests(torch.tensor([0, 0, 1]), torch.tensor([False, True, False]), 3, 2)
        >>> one.softmax(torch.tensor([0.0, 0.0, 5.0]))
        tensor([0.5000, 0.5000, 1.0000])
        """
        powers = (logits - self._best(logits.detach())).exp()
        return powers / powers.new_zeros(self.count).index_add(0, self.contest, powers)[self.contest]

    def winners(self, scores: Tensor) -> Tensor:
        """Which entrant has the most in its contest; of equals the first.

        >>> one = Contests(torch.tensor([0, 0, 1]), torch.tensor([False, True, False]), 3, 2)
        >>> one.winners(torch.tensor([2.0, 2.0, 1.0]))
        tensor([ True, False,  True])
        """
        place = torch.arange(len(scores), device=scores.device)
        among = torch.where(scores == self._best(scores), place, len(scores))
        first = place.new_full((self.count,), len(scores)).scatter_reduce(0, self.contest, among, "amin")
        return place == first[self.contest]

    def best_candidates(self, scores: Tensor) -> Tensor:
        """Which entrant wins where `none` does not take part."""
        return self.winners(scores.masked_fill(self.is_none, -torch.inf)) & ~self.is_none

    def _best(self, scores: Tensor) -> Tensor:
        """For every entrant, the most that there is in its contest."""
        most = scores.new_full((self.count,), -torch.inf).scatter_reduce(0, self.contest, scores, "amax")
        return most[self.contest]


def gumbel(contests: Contests, numbers: torch.Generator) -> Tensor:
    """Noise such that the winner of `logits + noise` is drawn with the chances of their softmax."""
    uniform = torch.rand(len(contests.contest), generator=numbers, dtype=torch.float64)
    return -(-uniform.clamp(1e-300, 1 - 1e-16).log()).log().to(contests.contest.device)
