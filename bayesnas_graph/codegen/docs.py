"""The documentation of a network and its motifs, for the files they are written to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bayesnas_graph.ir import Scope


@dataclass(frozen=True)
class Docs:
    """What a text says about a network and its motifs."""

    network: str = ""
    motifs: Mapping[str, str] = field(default_factory=dict)  # by name

    def of(self, scope: Scope) -> str:
        """What it says about the motif of a scope."""
        return "" if scope.role == "choice" else self.motifs.get(scope.kind, "")


NO_DOCS = Docs()
