"""The progress of a training run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from pydantic import TypeAdapter

from bayesnas_graph.runs.loop import Progress


@dataclass(frozen=True)
class TrainProgress(Progress):
    """Everything that is not a tensor. Together with a learner it is the whole state of a training run."""

    epoch: int = 0  # finished epochs, including their tests
    loss: float = 0.0  # summed over the steps of the current epoch
    terms: tuple[float, ...] = ()  # of the metric, summed over the steps of the current epoch; none before the first

    def to_plain(self) -> dict[str, Any]:
        """Return numbers by name."""
        return asdict(self)

    @staticmethod
    def from_plain(plain: object) -> TrainProgress:
        """Restore the progress from `to_plain`. Raises pydantic's ValidationError."""
        if isinstance(plain, dict) and "right" in plain:  # of an older version, which knew only accuracy
            plain = {name: value for name, value in plain.items() if name != "right"} | {"terms": (plain["right"],)}
        return TypeAdapter(TrainProgress).validate_python(plain)
