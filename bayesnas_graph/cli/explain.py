"""`explain`: the page about an error code."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.markdown import Markdown

from bayesnas_graph.cli import suggestions
from bayesnas_graph.cli.console import echo
from bayesnas_graph.cli.rich_output import rich_console
from bayesnas_graph.cli.terminal import bold
from bayesnas_graph.diagnostics import CODES
from bayesnas_graph.diagnostics.pages import error_page


def explain(
    code: Annotated[
        str | None,
        typer.Argument(
            metavar="CODE", help="Code such as NAS201 (default: list all codes).", autocompletion=suggestions.codes
        ),
    ] = None,
) -> None:
    """Explain an error code: its meaning, an example, and how to fix it."""
    if code is None:
        for known in CODES.values():
            echo(f"{bold(known.name)}  {known.title}", 8)
        return
    page = error_page(code)
    if sys.stdout.isatty():
        rich_console().print(Markdown(page))
    else:
        typer.echo(page, nl=False)
