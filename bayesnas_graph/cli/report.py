"""`report`: runs as one HTML page."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from bayesnas_graph.cli.console import echo, show_diagnostics, written
from bayesnas_graph.cli.network_options import AllowPython
from bayesnas_graph.cli.output_options import Force
from bayesnas_graph.cli.terminal import dim, link, waiting
from bayesnas_graph.diagnostics.outputs import check_outputs, write_outputs
from bayesnas_graph.report.builder import build_page
from bayesnas_graph.report.movie import movie_problem
from bayesnas_graph.runs.paths import RunPaths


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="Folders of runs or sweeps; several are compared.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="OUT", help="Page (default: RUN/report.html or comparison.html)."),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option("--figures", metavar="DIR", help="Also write all charts and derived cells here, as SVG and PDF."),
    ] = None,
    movie: Annotated[
        Path | None,
        typer.Option("--movie", metavar="OUT", help="Also write the search as an animated picture, .svg or .gif."),
    ] = None,
    force: Force = False,
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    allow_python: AllowPython = False,
) -> None:
    """Write an HTML page on runs: the space update by update, curves, derived cells, source."""
    in_run_folder = output is None and len(runs) == 1
    path = output or (runs[0] / "report.html" if in_run_folder else Path("comparison.html"))
    own = [path] if in_run_folder else []  # the page in a run folder can always be written again
    if movie is not None:
        problem = movie_problem(movie, runs)
        if problem is not None:
            raise typer.BadParameter(problem, param_hint="--movie")
    named = [*([] if in_run_folder else [path]), *([] if movie is None else [movie])]
    check_outputs([(each, None) for each in named], force=force)
    with waiting("reading the run" if len(runs) == 1 else "reading the runs"):
        page = build_page(runs, allow_python=allow_python)
    show_diagnostics(page.warnings)
    outputs = page.files(path, figures, movie)
    if in_run_folder:
        RunPaths(runs[0]).check_there()
    write_outputs(outputs, force=force, own=own)
    echo(f"wrote {dim(link(path))}")
    for line in written(one for one, _ in outputs[1:]):
        echo(line, 2)
    if show:
        webbrowser.open(path.resolve().as_uri())
