"""The final decision about every switch, from `decision.json`."""

from __future__ import annotations

from dataclasses import dataclass

from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.runs.reading.run import read_object


@dataclass(frozen=True)
class Final:
    """Whether a switch is kept, and why."""

    keep: bool
    why: str


def read_final(paths: RunPaths) -> dict[str, Final]:
    """Read the decision by name of switch; empty if it is missing or cannot be read."""
    decision = read_object(paths.decision, {"verdicts": list}) or {"verdicts": []}
    kinds = {"name": str, "keep": bool, "why": str}
    return {
        verdict["name"]: Final(verdict["keep"], verdict["why"])
        for verdict in decision["verdicts"]
        if isinstance(verdict, dict) and all(isinstance(verdict.get(key), kind) for key, kind in kinds.items())
    }
