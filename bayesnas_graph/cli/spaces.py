"""`spaces`: the shipped spaces, and the contents of a space."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from bayesnas_graph.cli import suggestions
from bayesnas_graph.cli.console import echo, show_diagnostics, unknown_space
from bayesnas_graph.cli.rich_output import show_fields, show_table, show_text
from bayesnas_graph.cli.terminal import bold
from bayesnas_graph.diagnostics import NasError, Report
from bayesnas_graph.diagnostics.resources import shipped_space, shipped_spaces
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.ir.constraint import Constraint
from bayesnas_graph.language.elaborate import Checker, Network
from bayesnas_graph.language.elaborate.values import show
from bayesnas_graph.language.elaborate.vocabulary import definition_signature
from bayesnas_graph.language.syntax import ast, parse
from bayesnas_graph.runs.recipes import settings_files

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
    file = Path(name) if Path(name).is_file() else shipped_space(name)
    if file is None:
        raise unknown_space(name)
    if path:
        typer.echo(file)
    elif text:
        typer.echo(file.read_text(encoding="utf-8"), nl=False)
    else:
        _describe(file)


def _list() -> None:
    rows = []
    for path in shipped_spaces():
        doc = parse(Source(path.name, path.read_text(encoding="utf-8")), Report()).doc
        rows.append((path.stem, doc.split("\n\n")[0].replace("\n", " ")))
    show_table(rows)


def _describe(file: Path) -> None:
    report = Report()
    space = Checker(report).path(file, str(file))
    if space is None or report.has_errors:
        raise NasError(report.diagnostics)
    show_diagnostics(report.diagnostics)
    if space.doc:
        show_text(space.doc)
    echo()
    show_table(_definition(definition) for definition in space.module.own.values())
    for network in space.networks:
        _network(network)
    recipes = settings_files(file)
    if recipes:
        echo(bold("\nrecipes"))
        show_table((f"  {path.name}", _first_comment(path)) for path in recipes)


def _first_comment(path: Path) -> str:
    """Return the first line of a settings file, if it is a comment."""
    with path.open(encoding="utf-8", errors="replace") as file:
        first = file.readline().strip()
    return first.lstrip("# ") if first.startswith("#") else ""


def _definition(definition: ast.Definition) -> tuple[str, str, str]:
    """Return the kind, signature and documentation of a definition."""
    doc = definition.doc.replace("\n", " ")
    match definition:
        case ast.Let():
            return "let", f"{definition_signature(definition)} = {definition.value.span.text}", doc
        case ast.Motif(role=role):
            return role, definition_signature(definition), doc
        case ast.SetDefinition():
            return "set", definition_signature(definition), doc
        case ast.PythonOperation():
            return "op", definition_signature(definition), doc


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
