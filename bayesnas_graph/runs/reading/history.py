"""The state of every switch at every update, from `switches.csv`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.runs.reading.run import read_rows

LARGEST = 3.4e38  # infinite numbers are written as the largest float, at least that of single precision


@dataclass(frozen=True)
class Moment:
    """A switch at an update. A number is None if it is infinite or missing."""

    iteration: int
    keep: bool
    why: str
    gamma: float | None
    s: float | None
    omega: float | None
    entropy: float | None  # also None if gamma is zero
    w: tuple[float | None, ...]  # of every use
    h: tuple[float | None, ...]
    worth: float | None = None  # if the strategy estimates it
    error: float | None = None  # the standard error of its worth


def read_history(paths: RunPaths) -> dict[str, tuple[Moment, ...]]:
    """Read the history of every switch, in order. It ends where the switch was closed."""
    moments_of: dict[str, dict[int, Moment]] = defaultdict(dict)
    for row in read_rows(paths.history):
        moment = _moment(row)
        if moment is not None and row.get("switch"):
            moments_of[row["switch"]][moment.iteration] = moment  # written again after a rollback
    return {name: tuple(moments[i] for i in sorted(moments)) for name, moments in moments_of.items()}


def _moment(row: Mapping[str, str]) -> Moment | None:
    """Parse a row; None if it is not part of a history."""
    if row.get("keep") not in ("0", "1"):
        return None
    try:
        return Moment(
            iteration=int(row["iteration"]),
            keep=row["keep"] == "1",
            why=row["why"],
            gamma=_number(row["gamma"]),
            s=_number(row["s"]),
            omega=_number(row["omega"]),
            entropy=_number(row["entropy"]),
            w=tuple(map(_number, row["w"].split())),
            h=tuple(map(_number, row["h"].split())),
            worth=_number(row.get("worth", "")),
            error=_number(row.get("error", "")),
        )
    except (KeyError, ValueError):
        return None


def _number(text: str) -> float | None:
    value = float(text) if text else None
    return value if value is not None and abs(value) < LARGEST else None
