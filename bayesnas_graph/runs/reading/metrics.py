"""The tables of a run as rows with typed values, such as `pandas.DataFrame` takes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import copysign, inf
from pathlib import Path
from typing import Any, TypedDict, TypeVar, cast, get_type_hints

from bayesnas_graph.runs.reading.history import LARGEST
from bayesnas_graph.runs.reading.run import read_rows

__all__ = [
    "EpochMetrics",
    "FinalistMetrics",
    "LoopMetrics",
    "StepMetrics",
    "SwitchMetrics",
    "UpdateMetrics",
    "read_metrics",
]


class StepMetrics(TypedDict):
    """Some steps of a search: a row of `metrics.csv`."""

    step: int  # the last of them
    iteration: int  # 0 during warm-up
    loss: float  # mean over these steps
    accuracy: float  # on training samples
    penalty: float
    rate: float
    seconds: float  # per step
    alive: int  # switches that are open


# Of a search: a row of `updates.csv`. The accuracy is on held-out samples.
UpdateMetrics = TypedDict(
    "UpdateMetrics",
    {
        "iteration": int,
        "accuracy": float,
        "parameters": int,
        "flops": int,
        "alive": int,
        "lambda": float,
        "seconds": float,
    },
)


class SwitchMetrics(TypedDict):
    """A switch at an update of a search: a row of `switches.csv`. A strategy that has no such number leaves it None."""

    iteration: int
    switch: str
    keep: bool
    why: str
    gamma: float | None
    s: float | None
    omega: float | None
    entropy: float | None
    w: tuple[float, ...]  # its gate in every use
    h: tuple[float, ...]  # the curvature along each of these
    worth: float | None
    error: float | None
    relevance: float | None
    removal: float | None
    magnitude: float | None


class FinalistMetrics(TypedDict):
    """A finalist of a search: a row of `finalists.csv`. Loss and accuracy are on held-out samples."""

    finalist: int
    loss: float
    accuracy: float
    parameters: int
    flops: int
    off: tuple[str, ...]  # closed switches


class EpochMetrics(TypedDict):
    """An epoch of a training or compression run: a row of `metrics.csv`, or of `rival.csv` for the baseline."""

    epoch: int
    step: int  # its last one
    loss: float  # mean over its steps
    accuracy: float  # on training samples
    test_loss: float
    test_accuracy: float
    rate: float  # of its last step
    seconds: float


# Of a compression run: a row of `loops.csv`. The loss is on held-out samples, before pruning.
LoopMetrics = TypedDict(
    "LoopMetrics",
    {
        "loop": int,
        "lambda": float,
        "loss": float,
        "groups": int,
        "parameters": int,
        "flops": int,
        "operations": int,
        "seconds": float,
    },
)
R = TypeVar("R")


def read_metrics(path: Path, kind: type[R]) -> list[R]:
    """Return the rows of a table, with the keys and types of a kind. Incomplete and malformed lines are skipped."""
    readers = {name: _READERS[hint] for name, hint in get_type_hints(kind).items()}
    found = []
    for row in read_rows(path):
        try:
            found.append(cast("R", {name: read(row.get(name, "")) for name, read in readers.items()}))
        except ValueError:
            continue
    return found


def _float(text: str) -> float:
    """Return a number; infinite ones are written as the largest float."""
    value = float(text)
    return copysign(inf, value) if abs(value) >= LARGEST else value


def _truth(text: str) -> bool:
    if text not in ("0", "1"):
        raise ValueError(text)
    return text == "1"


_READERS: Mapping[Any, Callable[[str], Any]] = {
    int: int,
    str: str,
    float: _float,
    bool: _truth,
    float | None: lambda text: _float(text) if text else None,
    tuple[float, ...]: lambda text: tuple(map(_float, text.split())),
    tuple[str, ...]: lambda text: tuple(text.split()),
}
