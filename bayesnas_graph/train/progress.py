"""How far a training has come."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Progress:
    """Everything that is not a tensor. With a learner it is the whole state of a training."""

    step: int = 0  # steps that were taken
    epoch: int = 0  # epochs that were ended with a test
    loss: float = 0.0  # summed over the steps of the epoch so far
    right: float = 0.0  # likewise the part of the samples that were right
    slowdown: float = 1.0  # factor on the learning rate, after the loss has exploded
    explosions: int = 0
    first_loss: float | None = None  # what an explosion is compared with

    def to_plain(self) -> dict[str, Any]:
        """Numbers by name."""
        return asdict(self)
