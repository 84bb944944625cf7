"""`diff`: differences between the graphs of two spaces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayesnas_graph.cli import suggestions
from bayesnas_graph.cli.console import echo
from bayesnas_graph.cli.network_options import AllowPython, NetworkName, load_network
from bayesnas_graph.cli.terminal import bold, dim, green
from bayesnas_graph.diagnostics.json_text import json_text
from bayesnas_graph.diagnostics.words import counted
from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.language.json import Difference
from bayesnas_graph.report.space_diff import SpaceDiff, compare_spaces, is_graph_file

MOST_LINES = 40

Operand = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="File, shipped space, or graph in a .json file.", autocompletion=suggestions.spaces
    ),
]


def diff(
    before: Operand,
    after: Operand,
    network: NetworkName = None,
    as_json_: Annotated[bool, typer.Option("--json", help="Print every difference as JSON.")] = False,
    show_all: Annotated[bool, typer.Option("--all", help=f"Print more than {MOST_LINES} lines.")] = False,
    allow_python: AllowPython = False,
) -> None:
    """Compare two search spaces: operations, switches, wiring and budgets."""
    found = compare_spaces(_load(before, network, allow_python), _load(after, network, allow_python))
    if as_json_:
        typer.echo(json_text(found.as_json()))
    elif found.same:
        echo(f"{green('the same space')}{_renamed(found.difference)}")
    else:
        echo(bold(_headline(found)), 2)
        lines = found.lines
        shown = lines if show_all or len(lines) <= MOST_LINES else lines[: MOST_LINES - 1]
        for line in shown:
            echo(f"  {line}", 4)
        if len(shown) < len(lines):
            echo(dim(f"  and {counted(len(lines) - len(shown), 'more line')}; `--all` shows them"))
    if not found.same:
        raise typer.Exit(1)


def _load(file: Path, network: str | None, allow_python: bool) -> Network | Path:
    return file if is_graph_file(file) else load_network(file, network, None, allow_python=allow_python)


def _renamed(difference: Difference) -> str:
    """Return the number of renamed nodes and switches."""
    counts = {"node": len(difference.renamed), "switch": len(difference.switches.renamed)}
    renamed = [counted(number, noun) for noun, number in counts.items() if number]
    return f", {' and '.join(renamed)} renamed" if renamed else ""


def _headline(found: SpaceDiff) -> str:
    if found.difference.same_graph:
        return "the same graph with different budgets:"
    sizes = [
        f"{counted(len(graph), 'node')} and {counted(len({gate.group for gate in graph.gates}), 'switch')}"
        for graph in (found.before, found.after)
    ]
    return f"different: {sizes[0]} before, {sizes[1]} after"
