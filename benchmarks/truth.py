"""Compare searches with the truth: `python -m benchmarks.truth RUN...`.

NAS-Bench-201 has the accuracy of every cell. For each update of a search of `nasbench201`, and for each ranking of its
candidates, this prints the cell that takes the best candidate of every edge, its accuracy and its rank among all
15,625 cells, and the rank correlation of a sum of scores with the accuracies. Several runs are also compared with each
other. It reads run folders only, so any search can be looked at again.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from bayesnas_graph.language.notations.nasbench201 import NASBENCH201, Cell, parse_cell
from bayesnas_graph.runs.paths import RunPaths
from bayesnas_graph.runs.reading.outline import Outline
from bayesnas_graph.runs.reading.run import read_rows
from benchmarks import tables
from benchmarks.trial import overlap

TABLE = Path(__file__).parent / "data" / "nasbench201_cifar10.csv.gz"
OPERATIONS = (*NASBENCH201.operations, "none")
EDGES = tuple(NASBENCH201.edges.values())

Scores = NDArray[np.float64]  # of every edge and operation; -inf for a closed candidate
Row = Mapping[str, str]  # of `switches.csv`


@dataclass(frozen=True, eq=False)
class Truth:
    """The accuracies of all cells."""

    cells: NDArray[np.int64]  # the operation of every edge, a row per cell
    accuracies: NDArray[np.float64]

    @staticmethod
    def load(path: Path = TABLE) -> Truth:
        """Load the table of CIFAR-10."""
        with gzip.open(path, "rt", newline="") as file:
            rows = list(csv.DictReader(file))
        cells = [[OPERATIONS.index(name) for name in parse_cell(row["cell"]).operations] for row in rows]
        return Truth(np.array(cells), np.array([float(row["accuracy"]) for row in rows]))

    @cached_property
    def _position(self) -> dict[tuple[int, ...], int]:
        return {tuple(cell): i for i, cell in enumerate(self.cells.tolist())}

    def accuracy(self, cell: Cell) -> float:
        """The accuracy of a cell in percent."""
        return float(self.accuracies[self._position[_numbers(cell)]])

    def rank(self, cell: Cell) -> int:
        """The rank of a cell; the best has rank 1."""
        return 1 + int((self.accuracies > self.accuracy(cell)).sum())

    def correlation(self, scores: Scores) -> float:
        """The rank correlation of the sum of scores over the edges with the accuracy, over all cells.

        Closed candidates count as much as `none`: no more than the worst open one of their edge.
        """
        worst = np.where(np.isfinite(scores), scores, np.inf).min(1, keepdims=True)
        whole = np.where(np.isfinite(scores), scores, np.minimum(worst, 0))
        return correlation(whole[np.arange(len(EDGES)), self.cells].sum(1), self.accuracies)


def _numbers(cell: Cell) -> tuple[int, ...]:
    return tuple(OPERATIONS.index(name) for name in cell.operations)


def correlation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """The rank correlation (Spearman); ties share their mean rank.

    >>> correlation(np.array([1.0, 2.0, 3.0]), np.array([10.0, 30.0, 20.0]))
    0.5
    """
    a, b = (_ranks(values) - (len(values) - 1) / 2 for values in (one, other))
    spread = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum()) / spread if spread else 0.0


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts + 1) / 2)[inverse]


def best_cell(scores: Scores) -> Cell:
    """The cell with the best open candidate of every edge; `none` where all are closed."""
    candidates = scores[:, :-1]
    return Cell(tuple(OPERATIONS[row.argmax()] if np.isfinite(row).any() else "none" for row in candidates))


def _column(name: str) -> Callable[[Row], float]:
    return lambda row: float(row[name])


def _curved(row: Row) -> float:
    """`w^2 h`, which every table has."""
    return sum(float(w) ** 2 * float(h) for w, h in zip(row["w"].split(), row["h"].split(), strict=True))


RANKINGS: dict[str, Callable[[Row], float]] = {
    "worth": _column("worth"),
    "gamma": _column("gamma"),
    "relevance": _column("relevance"),
    "removal": _column("removal"),
    "magnitude": _column("magnitude"),
    "w^2 h": _curved,
}


@dataclass(frozen=True)
class History:
    """The scores of a search at every update, by ranking, its finalists, and the cell it derived, if it has ended."""

    name: str
    updates: tuple[Mapping[str, Scores], ...]
    derived: Cell | None
    finalists: tuple[tuple[Cell, float], ...] = ()  # with their loss on the held-out samples

    @staticmethod
    def read(run: Path) -> History:
        """Read a run folder."""
        paths = RunPaths(run)
        places = _places(Outline.from_json(paths.outline.read_bytes()))
        found: dict[int, dict[str, Row]] = {}
        for row in read_rows(paths.history):
            found.setdefault(int(row["iteration"]), {})[row["switch"]] = row
        updates = tuple(_scores(rows, places) for _, rows in sorted(found.items()))
        return History(run.name, updates, _derived(paths, places), tuple(_finalists(paths, places)))


def _places(outline: Outline) -> dict[str, tuple[int, int]]:
    """The edge and operation of every candidate."""
    named = {label: name for name, label in NASBENCH201.operations.items()}
    return {
        switch.name: (EDGES.index(switch.choice), OPERATIONS.index(named[switch.operation]))
        for switch in outline.switches
        if not switch.is_zero
    }


def _scores(rows: Mapping[str, Row], places: Mapping[str, tuple[int, int]]) -> dict[str, Scores]:
    """The scores of open candidates by every ranking that the table has."""
    found = {}
    for name, score in RANKINGS.items():
        scores = np.full((len(EDGES), len(OPERATIONS)), -np.inf)
        scores[:, -1] = 0
        try:
            for switch, row in rows.items():
                if switch in places:
                    scores[places[switch]] = score(row)
        except (KeyError, ValueError):  # an older table, or a strategy without this ranking
            continue
        found[name] = scores
    return found


def _derived(paths: RunPaths, places: Mapping[str, tuple[int, int]]) -> Cell | None:
    if not paths.decision.is_file():
        return None
    verdicts = json.loads(paths.decision.read_text())["verdicts"]
    return _cell({verdict["name"] for verdict in verdicts if not verdict["keep"]}, places)


def _finalists(paths: RunPaths, places: Mapping[str, tuple[int, int]]) -> Iterator[tuple[Cell, float]]:
    for row in read_rows(paths.finalists):
        yield _cell(set(row["off"].split()), places), float(row["loss"])


def _cell(off: Collection[str], places: Mapping[str, tuple[int, int]]) -> Cell:
    """The cell without some switches."""
    operations = ["none"] * len(EDGES)
    for name, (edge, operation) in places.items():
        if name not in off:
            operations[edge] = OPERATIONS[operation]
    return Cell(tuple(operations))


def table(truth: Truth, history: History) -> str:
    """The accuracy, rank and correlation of every ranking at every update."""
    names = list(dict.fromkeys(name for scores in history.updates for name in scores))
    rows = []
    for number, by_ranking in enumerate(history.updates, 1):
        row = [str(number)]
        for name in names:
            scores = by_ranking[name]
            cell = best_cell(scores)
            row.append(f"{truth.accuracy(cell):.2f} ({truth.rank(cell):,}) {truth.correlation(scores):.2f}")
        rows.append(row)
    return tables.table(["update", *names], rows)


def finalists_table(truth: Truth, history: History) -> str:
    """The finalists with their losses, and what is true of them."""
    rows = [
        [str(number), f"{loss:.4f}", f"{truth.accuracy(cell):.2f}", f"{truth.rank(cell):,}", f"`{cell}`"]
        for number, (cell, loss) in enumerate(history.finalists, 1)
    ]
    return tables.table(["finalist", "held-out loss", "accuracy, %", "rank", "cell"], rows)


def agreement(histories: Iterable[History]) -> str:
    """The share of edges on which the cells of several runs agree, by ranking, at every update that all have."""
    all_runs = list(histories)
    names = [name for name in RANKINGS if all(name in scores for run in all_runs for scores in run.updates)]
    rows = []
    for number, looks in enumerate(zip(*(run.updates for run in all_runs), strict=False), 1):
        cells = {name: [str(best_cell(scores[name])) for scores in looks] for name in names}
        rows.append([str(number), *(f"{overlap(some):.0%}" for some in cells.values())])
    return tables.table(["update", *names], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("runs", type=Path, nargs="+", help="folders of searches of nasbench201")
    truth, histories = Truth.load(), [History.read(run) for run in parser.parse_args().runs]
    for history in histories:
        print(f"{history.name}: accuracy (rank) and correlation by update and ranking\n")
        print(table(truth, history))
        if history.finalists:
            print(finalists_table(truth, history))
        if history.derived is not None:
            found = history.derived
            print(f"derived {found}: {truth.accuracy(found):.2f}, rank {truth.rank(found):,}\n")
    ended = [truth.accuracy(history.derived) for history in histories if history.derived is not None]
    if len(ended) > 1:
        print(f"mean of {len(ended)} derived cells: {fmean(ended):.2f}, worst {min(ended):.2f}\n")
        print(f"share of edges on which seeds agree\n\n{agreement(histories)}")


if __name__ == "__main__":
    main()
