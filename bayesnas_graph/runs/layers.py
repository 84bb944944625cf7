"""What a compression run leaves of a layer."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Share:
    """How much of something is left."""

    kept: int
    of: int

    def __str__(self) -> str:
        return f"{self.kept:,}/{self.of:,}"


@dataclass(frozen=True)
class Layer:
    """A layer before and after pruning. Nothing is left of a removed layer."""

    name: str
    kind: str
    outputs: Share  # filters or neurons
    inputs: Share  # channels or features that it reads
    groups: dict[str, Share]  # by pattern
    zeros: float  # fraction of its weights that are zero or gone
    parameters: Share
    operations: Share

    @property
    def is_gone(self) -> bool:
        """Whether nothing is left."""
        return self.outputs.kept == 0

    def to_plain(self) -> dict[str, Any]:
        """Return dictionaries, strings and numbers."""
        return asdict(self)
