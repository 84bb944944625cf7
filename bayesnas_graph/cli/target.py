"""The network that a verb works on: a file, the name of a network in it, and values for its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from bayesnas_graph.cli.console import show_diagnostics, space_files
from bayesnas_graph.diagnostics import Diagnostic, NasError, Report
from bayesnas_graph.elaborate import Checker, Limits, Module, Network

Number = int | Fraction | bool

SpaceFile = Annotated[Path, typer.Argument(metavar="FILE", help="A file, or the name of a shipped space.")]
NetworkName = Annotated[str | None, typer.Option("--network", help="Which network of the file; the first if left out.")]
Parameters = Annotated[
    list[str] | None,
    typer.Option("-p", "--param", metavar="NAME=VALUE", help="A value for a parameter."),
]
AllowPython = Annotated[bool, typer.Option("--allow-python-ops", help="Import the Python code that the file names.")]


def load_network(file: Path, name: str | None, parameters: list[str] | None, *, allow_python: bool = False) -> Network:
    """The network, written out. Warnings are shown; errors are raised."""
    overrides = dict(_parameter(text) for text in parameters or [])
    return load_with_files(file, name, overrides, allow_python=allow_python)[0]


def load_with_files(
    file: Path,
    name: str | None,
    overrides: Mapping[str, Number],
    *,
    called: str | None = None,
    allow_python: bool = False,
) -> tuple[Network, tuple[Module, ...]]:
    """The network, and the files that it was read from, the one that defines it first.

    A copy may be called what the file was called that it is a copy of.
    """
    report = Report()
    checker = Checker(report, Limits(), allow_python=allow_python)
    ((path, shown),) = space_files([file])[:1]
    shown = called or shown
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
    return network, (space.module, *(module for module in checker.loader if module is not space.module))


def _parameter(text: str) -> tuple[str, Number]:
    """`width=36` as a name and a value."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise typer.BadParameter(f"`{text}` is not of the form NAME=VALUE", param_hint="-p")
    return name.strip(), number(value.strip())


def number(text: str) -> Number:
    """The value of a parameter, as it is written on the command line: `36`, `2.5`, `1/3`, `true`."""
    if text in ("true", "false"):
        return text == "true"
    try:
        found = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise typer.BadParameter(f"`{text}` is no number, `true` or `false`", param_hint="-p") from None
    return found.numerator if found.denominator == 1 else found
