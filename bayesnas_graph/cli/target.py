"""The network that a verb works on: a file, the name of a network in it, and values for its parameters."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from bayesnas_graph.cli.console import show_diagnostics, space_files
from bayesnas_graph.diagnostics import Diagnostic, NasError, Report
from bayesnas_graph.elaborate import Checker, Limits, Network

SpaceFile = Annotated[Path, typer.Argument(metavar="FILE", help="A file, or the name of a shipped space.")]
NetworkName = Annotated[str | None, typer.Option("--network", help="Which network of the file; the first if left out.")]
Parameters = Annotated[
    list[str] | None,
    typer.Option("-p", "--param", metavar="NAME=VALUE", help="A value for a parameter."),
]
AllowPython = Annotated[bool, typer.Option("--allow-python-ops", help="Import the Python code that the file names.")]


def load_network(file: Path, name: str | None, parameters: list[str] | None, *, allow_python: bool = False) -> Network:
    """The network, written out. Warnings are shown; errors are raised."""
    report = Report()
    checker = Checker(report, Limits(), allow_python=allow_python)
    overrides = dict(_parameter(text) for text in parameters or [])
    ((path, shown),) = space_files([file])[:1]
    space = checker.path(path, shown)
    if space is None or report.has_errors:
        raise NasError(report.diagnostics)
    if name is None and not space.module.networks:
        help = "`bayesnas-graph spaces` lists files with networks"
        raise NasError([Diagnostic("NAS107", f"there is no network in {shown}", help=help)])
    wanted = name or space.module.networks[0].name.name
    network = checker.network(space.module, wanted, overrides)
    if network is None:
        raise NasError(report.diagnostics)
    show_diagnostics(report.diagnostics)
    return network


def _parameter(text: str) -> tuple[str, int | Fraction | bool]:
    """`width=36` as a name and a value."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise typer.BadParameter(f"`{text}` is not of the form NAME=VALUE", param_hint="-p")
    value = value.strip()
    if value in ("true", "false"):
        return name.strip(), value == "true"
    try:
        number = Fraction(value)
    except (ValueError, ZeroDivisionError):
        raise typer.BadParameter(f"`{value}` is no number, `true` or `false`", param_hint="-p") from None
    return name.strip(), number.numerator if number.denominator == 1 else number
