"""Builds the page for a run of any kind, for several runs, or for a sweep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bayesnas_graph.diagnostics import Diagnostic
from bayesnas_graph.report.cells import cells_section, figures_of, file_stem
from bayesnas_graph.report.charts.heatmaps import SearchHistory
from bayesnas_graph.report.charts.vega import render_chart
from bayesnas_graph.report.comparison_sections import comparison_sections, overlap_sections
from bayesnas_graph.report.compression_sections import compression_sections
from bayesnas_graph.report.graph_section import graph_section
from bayesnas_graph.report.overview import lead, overview
from bayesnas_graph.report.packages import check_packages
from bayesnas_graph.report.page import render_page
from bayesnas_graph.report.pictures.words import counted
from bayesnas_graph.report.provenance import provenance
from bayesnas_graph.report.search_sections import curves_section, heat_section
from bayesnas_graph.report.section import Section
from bayesnas_graph.report.story import Story, read_story
from bayesnas_graph.report.sweep_section import sweep_section
from bayesnas_graph.report.training_section import training_section
from bayesnas_graph.runs.reading.compression import read_compression
from bayesnas_graph.runs.reading.sweep import is_sweep, read_sweep

MAX_CELL_RUNS = 8  # runs whose cells are shown side by side


@dataclass(frozen=True, eq=False)
class ReportPage:
    """The contents of a page."""

    title: str
    lead: str
    sections: tuple[Section, ...]
    stories: tuple[Story, ...]

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What could not be read."""
        problems = (problem for story in self.stories for problem in (*story.problems, *story.damage))
        return tuple(replace(problem, severity="warning") for problem in problems)

    def html(self) -> str:
        """The page as one HTML file."""
        return render_page(self.title, self.lead, self.sections)

    def pictures(self) -> Iterator[tuple[str, bytes]]:
        """File names and contents of all charts and derived cells."""
        for section in self.sections:
            for chart in section.charts:
                yield f"{chart.key}.svg", render_chart(chart, "svg")
                yield f"{chart.key}.pdf", render_chart(chart, "pdf")
        for story in self.stories[:MAX_CELL_RUNS]:
            for figure in figures_of(story):
                name = file_stem(figure, story.label if len(self.stories) > 1 else "")
                yield f"{name}.svg", figure.light.svg.encode()
                yield f"{name}.pdf", figure.pdf()


def build_page(paths: Sequence[Path], *, allow_python: bool = False) -> ReportPage:
    """Build the page on some folders. Raises NasError if one is not a run, or a package is not installed."""
    check_packages()
    if len(paths) == 1 and is_sweep(paths[0]):
        return _sweep_page(paths[0], allow_python=allow_python)
    labels = distinct_labels(paths)
    stories = [read_story(path, label, allow_python=allow_python) for path, label in zip(paths, labels, strict=True)]
    return _run_page(stories[0], allow_python=allow_python) if len(stories) == 1 else _comparison_page(stories)


def _run_page(story: Story, *, allow_python: bool) -> ReportPage:
    run, label = story.found, story.label
    match story.kind:
        case "train":
            parts: Sequence[Section] = [training_section({label: run.rows}), graph_section(story)]
        case "compress":
            parts = [*compression_sections({label: read_compression(run)}), graph_section(story)]
        case _:
            history = {label: SearchHistory(run.switches, story.history, story.measure)}
            parts = [graph_section(story), cells_section(story), curves_section({label: run}), heat_section(history)]
    sections = [overview(story), *parts, *provenance(story, allow_python=allow_python)]
    return ReportPage(label, lead(story), tuple(sections), (story,))


def _comparison_page(stories: Sequence[Story]) -> ReportPage:
    runs = {story.label: story.found for story in stories}
    compressions = {story.label: read_compression(story.found) for story in stories if story.kind == "compress"}
    sections = [
        *comparison_sections(runs),
        *_cells(stories),
        *(compression_sections(compressions) if compressions else ()),
    ]
    return ReportPage(f"{len(stories)} runs compared", " · ".join(runs), tuple(sections), tuple(stories))


def _sweep_page(path: Path, *, allow_python: bool) -> ReportPage:
    asked, runs = read_sweep(path)
    done = [run.point.name for run in runs if run.state == "done"]
    stories = [read_story(path / name, name, allow_python=allow_python) for name in done]
    traces = {story.label: story.found for story in stories}
    sections = [
        sweep_section(path),
        *overlap_sections(traces),
        *_cells(stories),
        *([curves_section(traces)] if traces else []),
    ]
    subject = f"sweep of {asked.space}: {', '.join(asked.sweep) or 'seeds only'}, {counted(asked.seeds, 'seed')}"
    return ReportPage(path.name or str(path), subject, tuple(sections), tuple(stories))


def _cells(stories: Sequence[Story]) -> Iterator[Section]:
    derived = [story for story in stories if story.kind == "search" and story.final]
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
    length = next((n for n in range(1, longest) if len({own[-n:] for own in parts}) == len(set(parts))), longest)
    labels = ["/".join(own[-length:]) for own in parts]
    return [
        label if label not in labels[:i] else f"{label} ({labels[:i].count(label) + 1})"
        for i, label in enumerate(labels)
    ]
