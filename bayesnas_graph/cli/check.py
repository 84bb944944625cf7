"""`check`: errors and warnings in search spaces."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from bayesnas_graph.cli import suggestions
from bayesnas_graph.cli.console import echo, show_diagnostics, space_files
from bayesnas_graph.cli.terminal import bold, green, paint
from bayesnas_graph.diagnostics import Report, as_json
from bayesnas_graph.diagnostics.json_text import json_text
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.diagnostics.words import counted
from bayesnas_graph.language.elaborate import Checker, Limits, Network, Space

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE",
        help="Files, folders or shipped spaces; - for standard input.",
        autocompletion=suggestions.spaces,
    ),
]


def check(
    files: Files,
    as_json_: Annotated[bool, typer.Option("--json", help="Print diagnostics and networks as JSON.")] = False,
    max_nodes: Annotated[
        int, typer.Option(min=1, metavar="N", help="Maximum number of nodes in a network.")
    ] = Limits().nodes,
    max_edges: Annotated[
        int, typer.Option(min=1, metavar="N", help="Maximum number of edges in a network.")
    ] = Limits().edges,
    max_depth: Annotated[
        int, typer.Option(min=1, max=500, metavar="N", help="Maximum nesting of motifs.")
    ] = Limits().depth,
    max_steps: Annotated[
        int, typer.Option(min=1, metavar="N", help="Maximum number of evaluation steps.")
    ] = Limits().steps,
    allow_python: Annotated[
        bool, typer.Option("--allow-python", help="Import the Python code named by files.")
    ] = False,
) -> None:
    """Check names, values, graphs and shapes in search spaces, for every alternative."""
    report = Report()
    limits = Limits(max_nodes, max_edges, max_depth, max_steps)
    checker = Checker(report, limits, allow_python=allow_python)
    checked: list[tuple[str, Space | None]] = []
    for path, name in space_files(files):
        if name == "-":
            checked.append(("<stdin>", checker.text(Source("<stdin>", sys.stdin.read()))))
        else:
            checked.append((name, checker.path(path, name)))
    if as_json_:
        typer.echo(json_text(_json(checked, report)))
    else:
        show_diagnostics(report.diagnostics)
        _summarise(checked, report)
    if report.has_errors:
        raise typer.Exit(1)


def _summarise(checked: list[tuple[str, Space | None]], report: Report) -> None:
    errors = sum(d.severity == "error" for d in report.diagnostics)
    faulty = {d.primary.span.source.name for d in report.diagnostics if d.primary and d.severity == "error"}
    for name, space in checked:
        if space is None or name in faulty or space.module.lost:
            continue
        if not space.networks and not space.module.networks:
            definitions = counted(len(space.module.own), "definition")
            echo(f"{name}: {green('ok')}, {definitions} and no network; bodies are checked only where they are used", 2)
        for network in space.networks:
            echo(f"{name}: {green('ok')}, network {bold(network.name)}: {describe(network)}", 2)
    if errors:
        total = paint("red", counted(errors, "error"), sys.stderr)
        echo(f"{total}; {paint('dim', '`bayesnas-graph explain CODE` explains each', sys.stderr)}", err=True)


def describe(network: Network) -> str:
    """Return the size of a network in one line."""
    block = network.block
    parts = [counted(block.nodes, "operation"), counted(block.edges, "edge")]
    parts.append(counted(block.choices, "choice") if block.choices else "no choices, a fixed network")
    return ", ".join(parts)


def _json(checked: list[tuple[str, Space | None]], report: Report) -> dict[str, Any]:
    return {
        "version": 1,
        "ok": not report.has_errors,
        "diagnostics": [as_json(diagnostic) for diagnostic in report.diagnostics],
        "files": [
            {
                "file": name,
                "networks": [
                    {
                        "name": network.name,
                        "operations": network.block.nodes,
                        "edges": network.block.edges,
                        "choices": network.block.choices,
                        "budgets": [str(budget) for budget in network.budgets],
                    }
                    for network in (space.networks if space else ())
                ],
            }
            for name, space in checked
        ],
    }
