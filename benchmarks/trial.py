"""A trial for comparing strategies: search, derive a network of a given size, train it from scratch.

The space is `rivals.nas`. The cell of each search is put into a network wide enough for the same number of parameters,
within a few percent, and trained from scratch with the same settings.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from bayesnas_graph import api
from bayesnas_graph.bayes import Ranking, Why
from bayesnas_graph.derive import Architecture
from bayesnas_graph.report.results import SearchResult

SPACE = Path(__file__).with_name("rivals.nas")
WEIGHTS = 12_000  # parameters of every trained network
WIDTHS = (4, 8, 12)  # determine the number of parameters at any width, which is a parabola

SEARCH: dict[str, Any] = {
    "batch": 32,
    "warmup": 400,
    "iterations": 3,
    "steps": 200,
    "finish": 0,
    "rate": 0.1,
    "gate_rate": 0.3,
    "lambda": 0.01,
    "logit_rate": 0.02,
}
# Training by epochs would take too long here; a search of a network without choices trains for a given number of steps.
TRAIN: dict[str, Any] = {"batch": 64, "rate": 0.2, "iterations": 1, "steps": 600, "finish": 0}
DATA: dict[str, dict[str, Any]] = {
    "cifar10": {"channels": 3, "size": 32, "crop": 4, "flip": True},
    "fashion-mnist": {"channels": 1, "size": 28, "crop": 2, "flip": True},
    "mnist": {"channels": 1, "size": 28, "crop": 2, "flip": False},
}


@dataclass(frozen=True)
class Trial:
    """The data, the seed, and settings that differ from `SEARCH`."""

    data: str
    seed: int
    settings: Mapping[str, Any] = field(default_factory=dict)

    def row(self, data_dir: Path, ranks: tuple[Ranking | None, ...] = (None,)) -> list[dict[str, Any]]:
        """A row for each ranking that selects the best candidates; None is the decision of the search."""
        about = DATA[self.data]
        augment = {"crop": about["crop"], "flip": about["flip"], "seed": self.seed, "threads": 1, "data": self.data}
        inputs = {"channels": about["channels"], "size": about["size"]}
        settings = {**SEARCH, **augment, "parameters": inputs, **self.settings}
        with TemporaryDirectory() as folder:
            start = time.process_time()
            found = api.search(SPACE, output=Path(folder) / "search", data_dir=data_dir, **settings)
            spent = time.process_time() - start
            verdicts = found.outcome.decision.verdicts
            accuracies: dict[str, float] = {}  # by cell, since two rankings may select the same
            rows = []
            for rank in ranks:
                network = fitted(found, rank, inputs)
                cell = network.string or ""
                if cell not in accuracies:
                    text = network.save(Path(folder) / f"derived-{rank}")["network.nas"]
                    trained = api.search(text, output=Path(folder) / f"{rank}", data_dir=data_dir, **TRAIN, **augment)
                    accuracies[cell] = trained.outcome.accuracy
                rows.append(
                    {
                        "accuracy": accuracies[cell],
                        "weights": network.cost.parameters,
                        "multiply_adds": network.cost.flops,
                        "at_width_8": found.outcome.cost.parameters,
                        "cell": cell,
                        "closed": sum(verdict.why in (Why.OWN, Why.ZERO, Why.BEFORE) for verdict in verdicts),
                        "bridges": sum(verdict.why == Why.BRIDGE for verdict in verdicts),
                        "search_seconds": spent,
                    }
                )
        return rows


def fitted(found: SearchResult, rank: Ranking | None, inputs: Mapping[str, int]) -> Architecture:
    """The cell of a search in a network of about `WEIGHTS` parameters, as wide as fits, with a wider second cell."""

    def at(**widths: int) -> Architecture:
        given: dict[str, Any] = {**widths, **inputs}
        return api.derive(found, **given) if rank is None else api.derive(found, keep_per_edge=1, rank=rank, **given)

    sizes = [at(width=width).cost.parameters for width in WIDTHS]
    width = max(width for width in range(2, WEIGHTS) if parabola(WIDTHS, sizes, width) <= WEIGHTS)
    seconds = (2 * width, 2 * width + 1, 2 * width + 2)
    sizes = [at(width=width, wide=wide).cost.parameters for wide in seconds]
    wide = min(range(2 * width, 4 * width), key=lambda wide: abs(parabola(seconds, sizes, wide) - WEIGHTS))
    return at(width=width, wide=wide)


def parabola(xs: tuple[int, int, int], ys: list[int], x: int) -> float:
    """The value at `x` of the parabola through three points.

    >>> parabola((1, 2, 3), [1, 4, 9], 7)
    49.0
    """
    total = 0.0
    for i, y in enumerate(ys):
        part = float(y)
        for j, other in enumerate(xs):
            if i != j:
                part *= (x - other) / (xs[i] - other)
        total += part
    return total


def overlap(cells: list[str]) -> float:
    """The share of edges on which two cells agree, averaged over all pairs; cells are NAS-Bench-201 strings.

    >>> overlap(["|none~0|+|none~0|none~1|", "|none~0|+|none~0|skip_connect~1|"])
    0.6666666666666666
    """
    edges = [[edge for edge in cell.split("|") if "~" in edge] for cell in cells]
    pairs = [(one, other) for i, one in enumerate(edges) for other in edges[i + 1 :]]
    return fmean(fmean(a == b for a, b in zip(*pair, strict=True)) for pair in pairs)
