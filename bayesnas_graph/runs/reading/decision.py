"""What was decided in the end about every switch, as `decision.json` has it."""

from __future__ import annotations

from dataclasses import dataclass

from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.runs.reading.run import read_json


@dataclass(frozen=True)
class Final:
    """Whether a switch stays, and why."""

    keep: bool
    why: str


def read_final(paths: RunPaths) -> dict[str, Final]:
    """By the name of the switch; nothing if the run has not come to a decision, or if it cannot be read."""
    found = read_json(paths.decision, {"verdicts": list}) or {"verdicts": []}
    kinds = {"name": str, "keep": bool, "why": str}
    return {
        verdict["name"]: Final(verdict["keep"], verdict["why"])
        for verdict in found["verdicts"]
        if isinstance(verdict, dict) and all(isinstance(verdict.get(key), kind) for key, kind in kinds.items())
    }
