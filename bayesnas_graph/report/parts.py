"""Sections that are made of tables and charts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bayesnas_graph.report.html import filled
from bayesnas_graph.report.section import Chart, Section


@dataclass(frozen=True)
class Table:
    """Cells under headings. Columns of numbers are flush right."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: tuple[str, ...] = ()  # the headings of columns that hold words; the first always does
    title: str = ""
    folded: bool = False  # shown when its title is clicked

    def without_gaps(self) -> Table:
        """The same without columns that nothing stands in."""
        filled_in = [i for i in range(len(self.head)) if not i or any(row[i] for row in self.rows)]
        head = tuple(self.head[i] for i in filled_in)
        return replace(self, head=head, rows=tuple(tuple(row[i] for i in filled_in) for row in self.rows))

    def turned(self) -> Table:
        """Rows as columns and columns as rows."""
        head, *rows = zip(self.head, *self.rows, strict=True)
        return replace(self, head=head, rows=tuple(rows))

    @property
    def classes(self) -> tuple[str, ...]:
        """That of every column."""
        return tuple("number" if i and name not in self.words else "" for i, name in enumerate(self.head))


def section(
    key: str,
    title: str,
    *,
    notes: Sequence[str] = (),
    tables: Iterable[Table] = (),
    charts: Iterable[Chart | None] = (),
    wide: Iterable[Chart | None] = (),
) -> Section:
    """Sentences, tables, charts beside one another, and charts that need all the width.

    The keys of charts begin with that of the section. A chart that has nothing to show is left away.
    """
    beside, below = ([_named(key, chart) for chart in some if chart and _shows(chart)] for some in (charts, wide))
    body = filled(
        "parts.html",
        notes=notes,
        tables=[table for table in tables if table.rows],
        charts=beside,
        wide=below,
    )
    return Section(key, title, body, (*beside, *below))


def _named(key: str, chart: Chart) -> Chart:
    return replace(chart, key=f"{key}-{chart.key}")


def _shows(chart: Chart) -> bool:
    return bool(chart.spec["data"]["values"])
