"""The magnitude of each gate's input, and how much of it is the same for all samples and positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Moments:
    """Means of each gate's input over samples and positions.

    They cover all samples, however these are divided into batches or among processes.
    """

    squares: Tensor  # mean squares
    means: tuple[Tensor, ...]  # of every channel

    @property
    def spreads(self) -> Tensor:
        """The variance around the mean of each channel, averaged over channels.

        >>> Moments(torch.tensor([5.0]), (torch.tensor([1.0, -1.0]),)).spreads
        tensor([4.])
        """
        levels = [mean.square().mean() for mean in self.means]
        return (self.squares - torch.stack(levels)).clamp(min=0) if levels else self.squares

    @staticmethod
    def average(parts: Sequence[tuple[float, Moments]]) -> Moments:
        """The moments of several sets of samples together, each with a weight."""
        total = sum(weight for weight, _ in parts)
        shares = [part._numbers * (weight / total) for weight, part in parts]
        return parts[0][1].mapped(lambda _: torch.stack(shares).sum(0))

    def mapped(self, change: Callable[[Tensor], Tensor]) -> Moments:
        """The moments with a function applied to all numbers, as one vector."""
        sizes = [len(self.squares), *map(len, self.means)]
        squares, *means = torch.split(change(self._numbers), sizes)
        return Moments(squares, tuple(means))

    @property
    def _numbers(self) -> Tensor:
        return torch.cat([self.squares, *self.means])
