"""The verbs that show networks and runs: pictures, pages, and the progress of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bayesnas_graph.api.arguments import AnyNetwork, AnyResult, File, as_path, folder_of
from bayesnas_graph.api.texts import loaded
from bayesnas_graph.builder import Space
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.outputs import check_outputs, write_outputs
from bayesnas_graph.language.elaborate import Network, Text

if TYPE_CHECKING:
    from bayesnas_graph.report.builder import ReportPage
    from bayesnas_graph.report.drawing import Drawing
    from bayesnas_graph.report.pictures import Theme
    from bayesnas_graph.runs.reading.run import RunRecord
    from bayesnas_graph.runs.reading.sweep_record import SweepRecord
    from bayesnas_graph.runs.sweep.schedule import Sweep


def draw(
    source: AnyResult | AnyNetwork,
    path: File | None = None,
    *,
    architecture: str | Sequence[str] | None = None,
    keep: Sequence[str] | None = None,
    whole: bool = False,
    cells: Sequence[str] = (),
    theme: Theme = "auto",
    force: bool = False,
    allow_python: bool = False,
) -> Drawing:
    """Draw a network with its cells and the candidates of each edge, or the result of a run.

    The source is a loaded network, a file, a shipped space, a text, or a run; `whole` draws the whole space of a run.
    An `architecture` of a space is given as for `derive`, or by the switches to `keep`. `cells` names the motifs to
    draw, by default all. Notebooks show a drawing; it has its picture in other formats, and figures for papers.

    With `path`, the picture is written in the format of its ending and in the colours of `theme`, and an existing file
    that would change is replaced only with `force`. Raises NasError for what cannot be loaded, drawn or written.
    """
    from bayesnas_graph.report.drawing import Drawing, drawing_of, given_drawing, kept_drawing
    from bayesnas_graph.report.pictures.files import ENDINGS, format_of

    if architecture is not None and keep is not None:
        raise TypeError("draw takes an architecture or the switches to keep, not both")
    given = architecture if architecture is not None else keep
    if isinstance(source, Network | Text | Space):
        network = loaded(source, allow_python=allow_python)
        drawing = Drawing.of(network) if given is None else kept_drawing(network, given)
    elif given is not None:
        drawing = given_drawing(folder_of(source), None, {}, given, allow_python=allow_python)
    else:
        drawing = drawing_of(folder_of(source), None, {}, whole=whole, allow_python=allow_python)
    drawing = drawing.only(cells)
    if path is not None:
        format = format_of(Path(path))
        if format is None:
            message = f"cannot draw `{path}`: its name has no known ending"
            raise NasError([Diagnostic("NAS012", message, help=f"use {', '.join(ENDINGS)}")])
        write_outputs([(Path(path), drawing.page(format, theme))], force=force)
    return drawing


def report(
    runs: AnyResult | Sweep | File | Sequence[AnyResult | File],
    output: File | None = None,
    *,
    figures: File | None = None,
    movie: File | None = None,
    force: bool = False,
    allow_python: bool = False,
) -> ReportPage:
    """Return the page on a run or a sweep, or on several runs that it compares, as HTML and as pictures.

    `runs` are results or folders. With `output`, the page is written to a file, `figures` is a folder for all of its
    charts and cells, and `movie` a file for the search as an animated picture. Existing files that would change are
    replaced only with `force`. Raises NasError for a folder that is not a run, for what cannot be drawn or written, and
    without the extra `report`.
    """
    from bayesnas_graph.report.builder import build_page
    from bayesnas_graph.report.movie import movie_problem

    if output is None and (figures is not None or movie is not None):
        raise TypeError("report writes figures and movies beside a page: pass `output` as well")
    several = runs if isinstance(runs, Sequence) and not isinstance(runs, str) else [runs]
    folders = [folder_of(run) for run in several]
    problem = movie_problem(Path(movie), folders) if movie is not None else None
    if problem is not None:
        raise NasError([Diagnostic("NAS012", problem)])
    check_outputs([(Path(file), None) for file in (output, movie) if file is not None], force=force)
    page = build_page(folders, allow_python=allow_python)
    if output is not None:
        write_outputs(page.files(Path(output), as_path(figures), as_path(movie)), force=force)
    return page


def status(run: AnyResult | File) -> RunRecord:
    """Return what is recorded about a run, while it runs or afterwards: its state, progress, sizes and switches.

    Files that cannot be read, or have changed since the run finished, are among its `warnings`. Raises NasError if the
    folder is not that of a run.
    """
    from bayesnas_graph.runs.paths import RunPaths
    from bayesnas_graph.runs.reading.damage import damage
    from bayesnas_graph.runs.reading.run import read_run_record

    record = read_run_record(RunPaths(folder_of(run)))
    return replace(record, warnings=damage(record))


def sweep_status(sweep: Sweep | File) -> SweepRecord:
    """Return what is recorded about a sweep and each of its runs, while it runs or afterwards.

    Raises NasError if the folder is not that of a sweep.
    """
    from bayesnas_graph.runs.reading.sweep_record import read_sweep_record

    return read_sweep_record(folder_of(sweep))
