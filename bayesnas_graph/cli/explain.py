"""`explain`: the page about a diagnostic's code."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from bayesnas_graph.cli.console import console
from bayesnas_graph.diagnostics import CODES, Diagnostic, NasError, did_you_mean
from bayesnas_graph.diagnostics.resources import folder


def explain(
    code: Annotated[str | None, typer.Argument(help="A code such as NAS201. Without one, all are listed.")] = None,
) -> None:
    """Explain a diagnostic: what it means, an example, and how to mend it."""
    if code is None:
        for known in CODES.values():
            typer.echo(f"{known.name}  {known.title}")
        return
    name = code.upper()
    if name.isdigit():
        name = f"NAS{name:0>3}"
    if name not in CODES:
        help = did_you_mean(name, CODES) or "`bayesnas-graph explain` lists them all"
        raise NasError([Diagnostic("NAS101", f"there is no code `{code}`", help=help)])
    page = (folder("errors") / f"{name}.md").read_text(encoding="utf-8")
    if sys.stdout.isatty():
        from rich.markdown import Markdown

        console().print(Markdown(page))
    else:
        typer.echo(page, nl=False)
