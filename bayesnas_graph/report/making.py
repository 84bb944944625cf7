"""Which sections a page has: for a run of whatever kind, for several, and for a sweep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bayesnas_graph.diagnostics import Diagnostic
from bayesnas_graph.report import comparing, compressing, sweeping, training
from bayesnas_graph.report.cells import cells_section, figures_of, file_stem
from bayesnas_graph.report.charts.heat import Searched
from bayesnas_graph.report.charts.static import chart_picture
from bayesnas_graph.report.graph import graph_section
from bayesnas_graph.report.overview import lead, overview
from bayesnas_graph.report.packages import check_packages
from bayesnas_graph.report.page import page_text
from bayesnas_graph.report.pictures.words import counted
from bayesnas_graph.report.provenance import provenance
from bayesnas_graph.report.searching import curves_section, heat_section
from bayesnas_graph.report.section import Section
from bayesnas_graph.report.story import Story, read_story
from bayesnas_graph.runs.reading.compression import read_compression
from bayesnas_graph.runs.reading.sweep import is_sweep, read_sweep

MOST_DRAWN = 8  # runs whose cells are shown beside one another


@dataclass(frozen=True, eq=False)
class Report:
    """A page before it is written."""

    title: str
    lead: str
    sections: tuple[Section, ...]
    stories: tuple[Story, ...]

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What could not be shown."""
        problems = (problem for story in self.stories for problem in (*story.problems, *story.damage))
        return tuple(replace(problem, severity="warning") for problem in problems)

    def text(self) -> str:
        """The page."""
        return page_text(self.title, self.lead, self.sections)

    def pictures(self) -> Iterator[tuple[str, bytes]]:
        """Every chart and every derived cell as files, each with its name."""
        for section in self.sections:
            for chart in section.charts:
                yield f"{chart.key}.svg", chart_picture(chart, "svg")
                yield f"{chart.key}.pdf", chart_picture(chart, "pdf")
        for story in self.stories[:MOST_DRAWN]:
            for figure in figures_of(story):
                name = file_stem(figure, story.label if len(self.stories) > 1 else "")
                yield f"{name}.svg", figure.light.svg.encode()
                yield f"{name}.pdf", figure.pdf()


def report_on(paths: Sequence[Path], *, allow_python: bool = False) -> Report:
    """What there is to tell about some folders. Raises NasError if one is no run, or a package is not installed."""
    check_packages()
    if len(paths) == 1 and is_sweep(paths[0]):
        return _of_sweep(paths[0], allow_python=allow_python)
    labels = distinct_labels(paths)
    stories = [read_story(path, label, allow_python=allow_python) for path, label in zip(paths, labels, strict=True)]
    return _of_run(stories[0], allow_python=allow_python) if len(stories) == 1 else _of_runs(stories)


def _of_run(story: Story, *, allow_python: bool) -> Report:
    found, runs = story.found, {story.label: story.found}
    match story.kind:
        case "train":
            parts: Sequence[Section] = [training.section(runs), graph_section(story)]
        case "compress":
            parts = [*compressing.sections({story.label: read_compression(found)}), graph_section(story)]
        case _:
            heat = {story.label: Searched(found.switches, story.history, story.measure)}
            parts = [graph_section(story), cells_section(story), curves_section(runs), heat_section(heat)]
    sections = [overview(story), *parts, *provenance(story, allow_python=allow_python)]
    return Report(story.label, lead(story), tuple(sections), (story,))


def _of_runs(stories: Sequence[Story]) -> Report:
    runs = {story.label: story.found for story in stories}
    compressions = {story.label: read_compression(story.found) for story in stories if story.kind == "compress"}
    sections = [
        *comparing.sections(runs),
        *_cells(stories),
        *(compressing.sections(compressions) if compressions else ()),
    ]
    return Report(f"{len(stories)} runs side by side", " · ".join(runs), tuple(sections), tuple(stories))


def _of_sweep(path: Path, *, allow_python: bool) -> Report:
    asked, runs = read_sweep(path)
    done = [run for run in runs if run.state == "done"]
    stories = [read_story(path / run.point.name, run.point.name, allow_python=allow_python) for run in done]
    traces = {story.label: story.found for story in stories}
    sections = [
        *sweeping.sections(path),
        *comparing.agreements(traces),
        *_cells(stories),
        *([curves_section(traces)] if traces else []),
    ]
    subject = f"sweep of {asked.space}: {', '.join(asked.sweep) or 'seeds alone'}, {counted(asked.seeds, 'seed')}"
    return Report(path.name or str(path), subject, tuple(sections), tuple(stories))


def _cells(stories: Sequence[Story]) -> Iterator[Section]:
    """What searches have derived, side by side."""
    derived = [story for story in stories if story.kind == "search" and story.final]
    if derived:
        yield cells_section(*derived[:MOST_DRAWN], left_out=max(0, len(derived) - MOST_DRAWN))


def distinct_labels(paths: Sequence[Path]) -> list[str]:
    """What runs are called beside one another: as much of the ends of their paths as tells them apart.

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
