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
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.json import Difference, compare, read_graph, summary

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
    old, old_budgets = _load(before, network, allow_python)
    new, new_budgets = _load(after, network, allow_python)
    budgets = ((), ()) if old_budgets is None or new_budgets is None else (old_budgets, new_budgets)
    difference = compare(old, new, budgets)
    if as_json_:
        typer.echo(json_text(difference.as_json()))
    elif difference.same:
        echo(f"{green('the same space')}{_renamed(difference)}")
    else:
        echo(bold(_headline(old, new, same_graph=difference.same_graph)), 2)
        lines = summary(difference, old, new)
        shown = lines if show_all or len(lines) <= MOST_LINES else lines[: MOST_LINES - 1]
        for line in shown:
            echo(f"  {line}", 4)
        if len(shown) < len(lines):
            echo(dim(f"  and {counted(len(lines) - len(shown), 'more line')}; `--all` shows them"))
    if not difference.same:
        raise typer.Exit(1)


def _load(file: Path, network: str | None, allow_python: bool) -> tuple[Graph, tuple[str, ...] | None]:
    """Return a graph and its budgets; a graph read from JSON has none."""
    if file.suffix.lower() == ".json":
        return read_graph(file, str(file)), None
    loaded = load_network(file, network, None, allow_python=allow_python)
    return loaded.graph(), tuple(map(str, loaded.budgets))


def _renamed(difference: Difference) -> str:
    """Return the number of renamed nodes and switches."""
    counts = {"node": len(difference.renamed), "switch": len(difference.switches.renamed)}
    renamed = [counted(number, noun) for noun, number in counts.items() if number]
    return f", {' and '.join(renamed)} renamed" if renamed else ""


def _headline(old: Graph, new: Graph, *, same_graph: bool) -> str:
    if same_graph:
        return "the same graph with different budgets:"
    sizes = [
        f"{counted(len(graph), 'node')} and {counted(len({gate.group for gate in graph.gates}), 'switch')}"
        for graph in (old, new)
    ]
    return f"different: {sizes[0]} before, {sizes[1]} after"
