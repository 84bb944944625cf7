"""The differences between two spaces, with both graphs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.language.json import Difference, compare, read_graph, summary


@dataclass(frozen=True)
class SpaceDiff:
    """The graphs of two spaces, and how they differ."""

    before: Graph
    after: Graph
    difference: Difference

    @property
    def same(self) -> bool:
        """Whether the spaces are the same; names may differ."""
        return self.difference.same

    @property
    def lines(self) -> tuple[str, ...]:
        """The differences in a few lines; none if the spaces are the same."""
        return () if self.same else tuple(summary(self.difference, self.before, self.after))

    def as_json(self) -> dict[str, Any]:
        """Every difference as plain values."""
        return self.difference.as_json()


def compare_spaces(before: Network | Path, after: Network | Path) -> SpaceDiff:
    """Compare two networks, or graphs in `.json` files. Raises NasError for a file that is not a graph.

    A file has no budgets, so those are compared only between networks.
    """
    (old, old_budgets), (new, new_budgets) = _parts(before), _parts(after)
    budgets = ((), ()) if old_budgets is None or new_budgets is None else (old_budgets, new_budgets)
    return SpaceDiff(old, new, compare(old, new, budgets))


def is_graph_file(file: Path) -> bool:
    """Return whether a file is a graph rather than a space."""
    return file.suffix.lower() == ".json"


def _parts(space: Network | Path) -> tuple[Graph, tuple[str, ...] | None]:
    """Return a graph and its budgets."""
    if isinstance(space, Path):
        return read_graph(space, str(space)), None
    return space.graph(), tuple(map(str, space.budgets))
