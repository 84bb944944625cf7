"""Compare the shipped spaces with published figures: `python -m benchmarks.published`.

It counts every figure of `published_figures.py` and updates the table and the citations of docs/published.md. The text
of the page is written by hand. `--check` changes nothing and fails if the page is out of date. It takes half a minute.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bayesnas_graph.cli.stats import scientific
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.resources import shipped_space
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.elaborate import Network, load_network
from bayesnas_graph.language.elaborate.values import show
from bayesnas_graph.language.syntax import parse
from benchmarks.page import fill
from benchmarks.published_figures import FIGURES, Figure
from benchmarks.tables import table

PAGE = Path(__file__).parent.parent / "docs" / "published.md"
MOST_DIGITS = 12  # of a number that is written out

HEADINGS = ("space", "network", "figure", "source of the figure", "published", "counted", "agreement")


@dataclass(frozen=True)
class Comparison:
    """A published figure and the number that is counted."""

    figure: Figure
    network: Network
    counted: int
    is_exact: bool  # otherwise the number is a bound

    @staticmethod
    def of(figure: Figure) -> Comparison:
        """Count a figure."""
        network = load_network(Path(figure.space), figure.network, figure.arguments).network
        graph, measure = network.graph(), figure.measure
        return Comparison(figure, network, measure.count(graph), measure.is_exact(graph))

    @property
    def agreement(self) -> str:
        """How far the two agree."""
        published, unit = self.figure.published, self.figure.unit
        if published is None:
            return ""
        if self.counted == published:
            return "exact"
        cut, rounded = self.counted // unit * unit, (self.counted + unit // 2) // unit * unit
        if published in (cut, rounded):
            return "to the last digit"
        return f"{100 * (self.counted / published - 1):+.1f} %"

    @property
    def row(self) -> list[str]:
        """Its row in the table."""
        figure = self.figure
        given = ", ".join(f"{name} = {show(value)}" for name, value in figure.arguments.items())
        return [
            f"`{figure.space}`",
            f"`{self.network.name}`{' with ' * bool(given)}{given}",
            figure.measure.name,
            figure.source,
            "none" if figure.published is None else short(figure.published, figure.unit),
            ("" if self.is_exact else "at most ") + short(self.counted),
            self.agreement,
        ]


def short(number: int, unit: int = 1) -> str:
    """A number with all its digits, or with as many as are known, if there are not too many.

    >>> short(423624), short(3_800_000_000, 100_000_000), short(10**18, 10**18), short(2**196)
    ('423,624', '3.8G', '1e18', '1.00e59')
    """
    for suffix, scale in (("G", 10**9), ("M", 10**6), ("K", 10**3)):
        if scale <= number < 1000 * scale and unit > 1:
            digits = max(0, len(str(scale)) - len(str(unit)))
            return f"{number / scale:.{digits}f}{suffix}"
    if len(str(number)) <= MOST_DIGITS:
        return f"{number:,}"
    return f"{number // unit}e{len(str(unit)) - 1}" if unit > 1 else scientific(number)


def citations(spaces: Iterable[str]) -> str:
    """The first paragraph after the title of each space, as a list."""
    lines = []
    for name in dict.fromkeys(spaces):
        path = shipped_space(name)
        assert path is not None
        doc = parse(Source(path.name, path.read_text(encoding="utf-8")), Report()).doc
        lines.append(f"- `{name}`: {' '.join(doc.split(chr(10) * 2)[1].split())}")
    return "\n".join(lines) + "\n"


def generated(page: str) -> str:
    """The page with a new table and new citations."""
    rows = [Comparison.of(figure).row for figure in FIGURES]
    parts = {"figures": table(HEADINGS, rows, words=4), "citations": citations(figure.space for figure in FIGURES)}
    return fill(page, parts.__getitem__)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail if something would change")
    options = parser.parse_args()
    before = PAGE.read_text()
    after = generated(before)
    if options.check:
        sys.exit("docs/published.md is out of date: run python -m benchmarks.published" if after != before else 0)
    PAGE.write_text(after)


if __name__ == "__main__":
    main()
