"""`ops`: operations and functions, with signatures and documentation."""

from __future__ import annotations

from typing import Annotated

import typer

from bayesnas_graph.cli import suggestions
from bayesnas_graph.cli.rich_output import show_table
from bayesnas_graph.diagnostics.json_text import json_text
from bayesnas_graph.diagnostics.plugins import OP_PLUGINS, installed_plugins, state_of
from bayesnas_graph.ir.ops import PRIMITIVES
from bayesnas_graph.language.elaborate.vocabulary import entries_named, vocabulary


def ops(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Operation to show (default: all).", autocompletion=suggestions.operations),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List the operations: primitives, the library `std.nas`, and functions."""
    entries = vocabulary() if name is None else entries_named(name)
    if as_json:
        typer.echo(json_text([vars(entry) for entry in entries]))
        return
    titles = {"primitive": "Primitives", "library": 'Library: import "std.nas"', "function": "Functions"}
    added = [(one.name, state_of(one, PRIMITIVES)) for one in installed_plugins(OP_PLUGINS)]
    shown = False
    for kind, title in titles.items():
        chosen = [entry for entry in entries if entry.kind == kind]
        if chosen:
            if shown:
                typer.echo()
            show_table(((entry.signature, entry.doc.replace("\n", " ")) for entry in chosen), title)
            shown = True
    if name is None and added:
        typer.echo()
        show_table(added, "Plug-ins")
