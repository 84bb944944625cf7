"""Sections of a page: HTML with tables and charts, and data for its scripts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from bayesnas_graph.report.charts.height import drawn_height
from bayesnas_graph.report.templates import render_template

if TYPE_CHECKING:
    from markupsafe import Markup

Spec = Mapping[str, Any]  # of Vega-Lite, without a width or the colours of the page


@dataclass(frozen=True)
class Chart:
    """A chart with its data. The page supplies colours and width."""

    key: str  # letters, digits and dashes: its anchor and file name
    title: str
    caption: str  # how to read it
    spec: Spec
    time: Literal["step", "update"] | None = None  # on its x axis, where it shows the cursor of the page

    @property
    def height(self) -> int:
        """The pixels to reserve for it, so that nothing moves when it is drawn."""
        return drawn_height(self.spec)


@dataclass(frozen=True)
class Section:
    """A heading and what follows it."""

    key: str  # the anchor
    title: str
    body: Markup
    charts: tuple[Chart, ...] = ()  # `body` has a `chart.html` for each
    data: Mapping[str, object] = field(default_factory=dict)  # JSON values for scripts, by key


@dataclass(frozen=True)
class Table:
    """A table; columns of numbers are right-aligned."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    text_columns: tuple[str, ...] = ()  # besides the first
    title: str = ""
    folded: bool = False  # expanded by a click on its title

    def without_empty_columns(self) -> Table:
        """The same table without empty columns."""
        used = [i for i in range(len(self.head)) if not i or any(row[i] for row in self.rows)]
        head = tuple(self.head[i] for i in used)
        return replace(self, head=head, rows=tuple(tuple(row[i] for i in used) for row in self.rows))

    def transposed(self) -> Table:
        """The same table with rows and columns exchanged."""
        head, *rows = zip(self.head, *self.rows, strict=True)
        return replace(self, head=head, rows=tuple(rows))

    @property
    def classes(self) -> tuple[str, ...]:
        """The CSS class of each column."""
        return tuple("number" if i and name not in self.text_columns else "" for i, name in enumerate(self.head))


@dataclass(frozen=True)
class Fold:
    """Charts that a click on a title shows."""

    title: str
    charts: tuple[Chart, ...]
    wide: bool = False  # one below the other, in full width
    is_open: bool = False  # before any click


def build_section(
    key: str,
    title: str,
    *,
    notes: Sequence[str] = (),
    tables: Iterable[Table] = (),
    charts: Iterable[Chart | None] = (),
    wide: Iterable[Chart | None] = (),
    folds: Iterable[Fold] = (),
) -> Section:
    """A section of sentences, tables, charts side by side, charts of full width, and charts under folds.

    Empty tables, charts and folds are left out. The key of the section is prepended to those of its charts.
    """

    def prefixed(some: Iterable[Chart | None]) -> list[Chart]:
        return [replace(chart, key=f"{key}-{chart.key}") for chart in some if chart and chart.spec["data"]["values"]]

    beside, below = prefixed(charts), prefixed(wide)
    tables = [table for table in tables if table.rows]
    below_folds = [replace(fold, charts=tuple(prefixed(fold.charts))) for fold in folds]
    below_folds = [fold for fold in below_folds if fold.charts]
    body = render_template(
        "tables_and_charts.html", notes=notes, tables=tables, charts=beside, wide=below, folds=below_folds
    )
    return Section(key, title, body, (*beside, *below, *(chart for fold in below_folds for chart in fold.charts)))
