"""The remains of a layer after a compression run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Share:
    """The remaining part of a total."""

    kept: int
    of: int

    def __str__(self) -> str:
        return f"{self.kept:,}/{self.of:,}"


@dataclass(frozen=True)
class PrunedLayer:
    """A layer before and after pruning. Nothing is left of a removed layer."""

    name: str
    kind: str
    outputs: Share  # filters or neurons
    inputs: Share  # channels or features
    groups: dict[str, Share]  # by pattern
    zeros: float  # fraction of its weights that are zero or removed
    parameters: Share
    operations: Share

    @property
    def is_gone(self) -> bool:
        """Whether nothing is left."""
        return self.outputs.kept == 0

    def to_plain(self) -> dict[str, Any]:
        """Return dictionaries, strings and numbers."""
        return asdict(self)
