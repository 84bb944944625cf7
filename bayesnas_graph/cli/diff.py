"""`diff`: what is different between two spaces, told of their graphs and not of their texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesnas_graph.cli.check import count
from bayesnas_graph.cli.target import AllowPython, NetworkName, load_network

if TYPE_CHECKING:
    from bayesnas_graph.ir import Graph
    from bayesnas_graph.language.json import Difference

MOST_LINES = 40

Operand = Annotated[
    Path, typer.Argument(metavar="FILE", help="A file, the name of a shipped space, or a graph in a .json file.")
]


def diff(
    before: Operand,
    after: Operand,
    network: NetworkName = None,
    as_json_: Annotated[bool, typer.Option("--json", help="Print every difference as JSON.")] = False,
    show_all: Annotated[bool, typer.Option("--all", help=f"Print more than {MOST_LINES} lines.")] = False,
    allow_python_ops: AllowPython = False,
) -> None:
    """Say what is different between two search spaces: operations, switches, wiring, budgets."""
    # Here, because what only reads text should not wait for these.
    from bayesnas_graph.language.json import compare, summary

    old, old_budgets = _load(before, network, allow_python_ops)
    new, new_budgets = _load(after, network, allow_python_ops)
    budgets = ((), ()) if old_budgets is None or new_budgets is None else (old_budgets, new_budgets)
    difference = compare(old, new, budgets)
    if as_json_:
        typer.echo(json.dumps(difference.as_json(), indent=2))
    elif difference.same:
        typer.echo(f"the same space{_renamed(difference)}")
    else:
        typer.echo(_headline(old, new, same_graph=difference.same_graph))
        lines = summary(difference, old, new)
        shown = lines if show_all or len(lines) <= MOST_LINES else lines[: MOST_LINES - 1]
        for line in shown:
            typer.echo(f"  {line}")
        if len(shown) < len(lines):
            typer.echo(f"  and {count(len(lines) - len(shown), 'more line')}, which `--all` shows")
    if not difference.same:
        raise typer.Exit(1)


def _load(file: Path, network: str | None, allow_python: bool) -> tuple[Graph, tuple[str, ...] | None]:
    """A graph and the budgets that go with it; a graph that was written out has none."""
    if file.suffix.lower() == ".json":
        from bayesnas_graph.language.json import read_graph

        return read_graph(file, str(file)), None
    found = load_network(file, network, None, allow_python=allow_python)
    return found.graph(), tuple(map(str, found.budgets))


def _renamed(difference: Difference) -> str:
    """What is called otherwise: a found architecture names its switches."""
    counts = {"node": len(difference.renamed), "switch": len(difference.switches.renamed)}
    told = [_count(number, noun) for noun, number in counts.items() if number]
    return f", {' and '.join(told)} renamed" if told else ""


def _headline(old: Graph, new: Graph, *, same_graph: bool) -> str:
    if same_graph:
        return "the same graph, other budgets:"
    sizes = [
        f"{_count(len(graph), 'node')} and {_count(len({gate.group for gate in graph.gates}), 'switch')}"
        for graph in (old, new)
    ]
    return f"different: {sizes[0]} before, {sizes[1]} after"


def _count(number: int, noun: str) -> str:
    return count(number, noun) if noun != "switch" or number == 1 else f"{number:,} switches"
