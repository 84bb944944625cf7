"""Builds the page for a run of any kind, for several runs, or for a sweep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bayesnas_graph.diagnostics import Diagnostic
from bayesnas_graph.diagnostics.packages import check_packages
from bayesnas_graph.report.cells import Figure, cells_section, figures_of, file_stem
from bayesnas_graph.report.charts.heatmaps import SearchHistory
from bayesnas_graph.report.charts.vega import render_chart
from bayesnas_graph.report.comparison_sections import comparison_sections, overlap_sections
from bayesnas_graph.report.compression_sections import compression_sections
from bayesnas_graph.report.graph_section import graph_section
from bayesnas_graph.report.headline import Headline, comparison_headline, most_accurate, run_headline, sweep_headline
from bayesnas_graph.report.movie import movie_file
from bayesnas_graph.report.overview import overview
from bayesnas_graph.report.page import render_page
from bayesnas_graph.report.provenance import provenance
from bayesnas_graph.report.random_section import random_section
from bayesnas_graph.report.reported_run import ReportedRun, read_reported_run
from bayesnas_graph.report.search_sections import curves_section, heat_section
from bayesnas_graph.report.section import Section
from bayesnas_graph.report.sweep_section import sweep_section
from bayesnas_graph.report.training_section import training_section
from bayesnas_graph.runs.reading.compression import read_compression
from bayesnas_graph.runs.reading.sweep import is_sweep, read_sweep

MAX_CELL_RUNS = 8  # runs whose cells are shown side by side


@dataclass(frozen=True, eq=False)
class ReportPage:
    """The contents of a page."""

    headline: Headline
    sections: tuple[Section, ...]
    runs: tuple[ReportedRun, ...]
    figures: tuple[Figure, ...] = ()  # of a search; the first is shown beside the headline
    shown: str = ""  # the run that they are of, if there are several

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """Warnings about files that cannot be read."""
        problems = (problem for run in self.runs for problem in (*run.problems, *run.damage))
        return tuple(replace(problem, severity="warning") for problem in problems)

    def html(self) -> str:
        """The page as one HTML file."""
        top = overview(
            self.headline, [problem for run in self.runs for problem in run.damage], self.figures, self.shown
        )
        return render_page(self.headline.title, top, self.sections)

    def pictures(self) -> Iterator[tuple[str, bytes]]:
        """File names and contents of all charts and derived cells."""
        for section in self.sections:
            for chart in section.charts:
                yield f"{chart.key}.svg", render_chart(chart, "svg")
                yield f"{chart.key}.pdf", render_chart(chart, "pdf")
        for run in self.runs[:MAX_CELL_RUNS]:
            for figure in figures_of(run):
                name = file_stem(figure, run.label if len(self.runs) > 1 else "")
                yield f"{name}.svg", figure.light.svg.encode()
                yield f"{name}.pdf", figure.pdf()

    def files(self, path: Path, figures: Path | None = None, movie: Path | None = None) -> list[tuple[Path, bytes]]:
        """The contents of the page's file, of those of all pictures in a folder, and of a movie, if they are wanted.

        Raises NasError if a picture cannot be converted, or if there is no movie of the run.
        """
        found = [(path, self.html().encode())]
        if figures is not None:
            found += [(figures / name, content) for name, content in self.pictures()]
        if movie is not None:
            found.append((movie, movie_file(self.runs[0], movie)))
        return found


def build_page(paths: Sequence[Path], *, allow_python: bool = False) -> ReportPage:
    """Build the page on some folders. Raises NasError if one is not a run, or a package is not installed."""
    check_packages("report", "reports need")
    if len(paths) == 1 and is_sweep(paths[0]):
        return _sweep_page(paths[0], allow_python=allow_python)
    labels = distinct_labels(paths)
    runs = [
        read_reported_run(path, label, allow_python=allow_python) for path, label in zip(paths, labels, strict=True)
    ]
    return _run_page(runs[0], allow_python=allow_python) if len(runs) == 1 else _comparison_page(runs)


def _run_page(run: ReportedRun, *, allow_python: bool) -> ReportPage:
    record, label = run.record, run.label
    match run.kind:
        case "train":
            curves = training_section({label: record.rows}, metric=record.metric)
            parts: Sequence[Section] = [curves, graph_section(run)]
        case "compress":
            parts = [*compression_sections({label: read_compression(record)}), graph_section(run)]
        case _:
            history = SearchHistory(record.switches, run.history, run.measure)
            parts = [graph_section(run), cells_section(run), curves_section({label: record}), heat_section(history)]
            parts[2:2] = random_section(record.comparison)
    sections = (*parts, *provenance(run, allow_python=allow_python))
    return ReportPage(run_headline(label, record), sections, (run,), tuple(figures_of(run)))


def _comparison_page(runs: Sequence[ReportedRun]) -> ReportPage:
    records = {run.label: run.record for run in runs}
    compressions = {run.label: read_compression(run.record) for run in runs if run.kind == "compress"}
    sections = [
        *comparison_sections(records),
        *_cells(runs),
        *(compression_sections(compressions) if compressions else ()),
    ]
    return _with_best_cell(ReportPage(comparison_headline(records), tuple(sections), tuple(runs)))


def _sweep_page(path: Path, *, allow_python: bool) -> ReportPage:
    request, points = read_sweep(path)
    done = [run.point.name for run in points if run.state == "done"]
    runs = [read_reported_run(path / name, name, allow_python=allow_python) for name in done]
    records = {run.label: run.record for run in runs}
    sections = [
        sweep_section(path),
        *overlap_sections(records),
        *_cells(runs),
        *([curves_section(records)] if records else []),
    ]
    headline = sweep_headline(path.name or str(path), request, points)
    return _with_best_cell(ReportPage(headline, tuple(sections), tuple(runs)))


def _with_best_cell(page: ReportPage) -> ReportPage:
    """Show the cell of the most accurate run beside the headline."""
    best = most_accurate({run.label: run.record for run in page.runs})
    figures = next((figures_of(run) for run in page.runs if run.label == best), [])
    return replace(page, figures=tuple(figures), shown=best or "")


def _cells(runs: Sequence[ReportedRun]) -> Iterator[Section]:
    derived = [run for run in runs if run.kind == "search" and run.final]
    if derived:
        yield cells_section(*derived[:MAX_CELL_RUNS], left_out=max(0, len(derived) - MAX_CELL_RUNS))


def distinct_labels(paths: Sequence[Path]) -> list[str]:
    """Labels for runs: the shortest ends of their paths that differ.

    >>> distinct_labels([Path("a/run"), Path("b/run")]), distinct_labels([Path("runs/x-1"), Path("runs/x-2")])
    (['a/run', 'b/run'], ['x-1', 'x-2'])
    >>> distinct_labels([Path("x"), Path("x")])
    ['x', 'x (2)']
    """
    parts = [path.absolute().parts for path in paths]
    longest = max(map(len, parts))
    length = next(
        (n for n in range(1, longest) if len({path_parts[-n:] for path_parts in parts}) == len(set(parts))), longest
    )
    labels = ["/".join(path_parts[-length:]) for path_parts in parts]
    return [
        label if label not in labels[:i] else f"{label} ({labels[:i].count(label) + 1})"
        for i, label in enumerate(labels)
    ]
