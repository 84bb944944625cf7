"""`report`: what runs have done, as one page for a browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from bayesnas_graph.cli.console import show_diagnostics
from bayesnas_graph.cli.target import AllowPython
from bayesnas_graph.diagnostics.atomic_files import atomic_write, exists_error


def report(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN", help="Folders of runs, or of a sweep; several are compared.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="OUT", help="The page; RUN/report.html or comparison.html if left out."),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option("--figures", metavar="DIR", help="Write all charts and derived cells there, as SVG and PDF."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are already there.")] = False,
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    allow_python_ops: AllowPython = False,
) -> None:
    """Write what runs have done as one HTML file: the space update by update, curves, derived cells, source."""
    from bayesnas_graph.report.making import report_on

    own = output is None and len(runs) == 1  # the page of a run is made of nothing but its folder, and may be made anew
    path = output or (runs[0] / "report.html" if own else Path("comparison.html"))
    if path.exists() and not (force or own):
        raise exists_error(path)
    found = report_on(runs, allow_python=allow_python_ops)
    show_diagnostics(found.warnings)
    text = found.text()
    pictures = list(found.pictures()) if figures is not None else []
    if figures is not None and not force:
        for name, _ in pictures:
            if (figures / name).exists():
                raise exists_error(figures / name)
    _write(path, text.encode())
    for name, content in pictures:
        assert figures is not None, "there are none otherwise"
        _write(figures / name, content)
    if show:
        webbrowser.open(path.resolve().as_uri())


def _write(path: Path, content: bytes) -> None:
    with atomic_write(path) as file:
        file.write(content)
    typer.echo(f"wrote {path}")
