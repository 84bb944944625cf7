"""`spaces`: the shipped spaces, and the contents of a space."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from bayesnas_graph.cli import suggestions
from bayesnas_graph.cli.console import echo, show_diagnostics
from bayesnas_graph.cli.rich_output import show_fields, show_table, show_text
from bayesnas_graph.cli.terminal import bold
from bayesnas_graph.ir.constraint import Constraint
from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.language.elaborate.values import show
from bayesnas_graph.report.space_description import describe_space, find_space, list_spaces

MOST_CONDITIONS = 10  # that are listed for a network


def spaces(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME|FILE", help="Shipped space or file to describe.", autocompletion=suggestions.spaces
        ),
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="Print the source of the space instead.")] = False,
    path: Annotated[bool, typer.Option("--path", help="Print the path of the file instead.")] = False,
) -> None:
    """List the shipped spaces, or describe a space."""
    if name is None:
        _list()
        return
    file = find_space(name)
    if path:
        typer.echo(file)
    elif text:
        typer.echo(file.read_text(encoding="utf-8"), nl=False)
    else:
        _describe(file)


def _list() -> None:
    show_table((space.name, space.doc) for space in list_spaces())


def _describe(file: Path) -> None:
    space = describe_space(file)
    show_diagnostics(space.warnings)
    if space.doc:
        show_text(space.doc)
    echo()
    show_table((one.kind, one.signature, one.doc) for one in space.definitions)
    for network in space.networks:
        _network(network)
    if space.settings:
        echo(bold("\nrecipes"))
        show_table((f"  {one.path.name}", one.doc) for one in space.settings)


def _conditions(constraints: Iterable[Constraint]) -> list[str]:
    """Return the conditions on edges, or their number in each part if there are many."""
    texts = {str(constraint): constraint.part for constraint in constraints}
    if len(texts) <= MOST_CONDITIONS:
        return list(texts)
    counts = Counter(texts.values())
    return [f"{part}: {count} conditions on edges, which `stats` lists" for part, count in counts.items()]


def _network(network: Network) -> None:
    graph = network.graph()
    groups = {gate.group for gate in graph.gates}
    rows = [
        ("inputs", ", ".join(map(show, network.inputs))),
        ("outputs", ", ".join(map(show, network.outputs))),
        ("arguments", network.arguments_text),
        ("operations", f"{network.block.nodes:,}"),
        ("edges", f"{network.block.edges:,}"),
        ("choices", f"{network.block.choices:,}" if network.block.choices else "none: a fixed network"),
    ]
    if graph.gates:
        rows.append(("switches", f"{len(groups):,} ({len(graph.gates):,} counting every use of a cell)"))
    rows += [("requires", str(budget)) for budget in network.budgets]
    rows += [("requires", text) for text in _conditions(graph.constraints)]
    echo(bold(f"\nnetwork {network.name}"))
    show_fields(((name, value) for name, value in rows if value), 11)
