"""What a compression leaves of a layer."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Part:
    """How much there is of something, and how much is left."""

    kept: int
    of: int

    def __str__(self) -> str:
        return f"{self.kept:,}/{self.of:,}"


@dataclass(frozen=True)
class LayerReport:
    """A layer before and after. Groups are those of its patterns; a layer that is gone has nothing left."""

    name: str
    kind: str
    outputs: Part  # filters or neurons that the smaller layer has
    inputs: Part  # channels or features that it reads
    groups: dict[str, Part]  # pattern -> its groups
    zeros: float  # the part of the weights of the whole layer that are zero or gone
    parameters: Part
    operations: Part

    @property
    def is_gone(self) -> bool:
        """Whether nothing is left."""
        return self.outputs.kept == 0

    def to_plain(self) -> dict[str, Any]:
        """Dictionaries, strings and numbers."""
        return asdict(self)
