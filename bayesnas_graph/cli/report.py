"""`report`: runs as one HTML page."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from bayesnas_graph.cli.console import show_diagnostics
from bayesnas_graph.cli.network_options import AllowPython
from bayesnas_graph.diagnostics.atomic_files import atomic_write, exists_error
from bayesnas_graph.report.builder import build_page


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
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    allow_python: AllowPython = False,
) -> None:
    """Write an HTML page on runs: the space update by update, curves, derived cells, source."""
    in_run_folder = output is None and len(runs) == 1  # the page in a run folder can always be written again
    path = output or (runs[0] / "report.html" if in_run_folder else Path("comparison.html"))
    if path.exists() and not (force or in_run_folder):
        raise exists_error(path)
    page = build_page(runs, allow_python=allow_python)
    show_diagnostics(page.warnings)
    text = page.html()
    pictures = list(page.pictures()) if figures is not None else []
    if figures is not None and not force:
        for name, _ in pictures:
            if (figures / name).exists():
                raise exists_error(figures / name)
    _write(path, text.encode())
    for name, content in pictures:
        assert figures is not None, "pictures are made only for --figures"
        _write(figures / name, content)
    if show:
        webbrowser.open(path.resolve().as_uri())


def _write(path: Path, content: bytes) -> None:
    with atomic_write(path) as file:
        file.write(content)
    typer.echo(f"wrote {path}")
