"""The network that a verb works on: a file, the name of a network in it, and values for its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from bayesnas_graph.cli.console import show_diagnostics
from bayesnas_graph.language.elaborate import Loaded, Network, load
from bayesnas_graph.language.elaborate.load import Number

SpaceFile = Annotated[Path, typer.Argument(metavar="FILE", help="A file, or the name of a shipped space.")]
NetworkName = Annotated[str | None, typer.Option("--network", help="Which network of the file; the first if left out.")]
Parameters = Annotated[
    list[str] | None,
    typer.Option("-p", "--param", metavar="NAME=VALUE", help="A value for a parameter."),
]
AllowPython = Annotated[bool, typer.Option("--allow-python-ops", help="Import the Python code that the file names.")]


def load_network(file: Path, name: str | None, parameters: list[str] | None, *, allow_python: bool = False) -> Network:
    """The network, written out. Warnings are shown; errors are raised."""
    return load_with_files(file, name, parameter_values(parameters or ()), allow_python=allow_python).network


def parameter_values(given: Iterable[str]) -> dict[str, Number]:
    """What `-p` was given, by name."""
    return dict(map(_parameter, given))


def load_with_files(
    file: Path,
    name: str | None,
    overrides: Mapping[str, Number],
    *,
    called: str | None = None,
    allow_python: bool = False,
) -> Loaded:
    """The network, and the files that it was read from. Warnings are shown; errors are raised."""
    loaded = load.load_network(file, name, overrides, called=called, allow_python=allow_python)
    show_diagnostics(loaded.warnings)
    return loaded


def _parameter(text: str) -> tuple[str, Number]:
    """`width=36` as a name and a value."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise typer.BadParameter(f"`{text}` is not of the form NAME=VALUE", param_hint="-p")
    return name.strip(), number(value.strip())


def number(text: str) -> Number:
    """The value of a parameter, as it is written on the command line: `36`, `2.5`, `1/3`, `true`."""
    try:
        return load.number(text)
    except ValueError:
        raise typer.BadParameter(f"`{text}` is not a number, `true` or `false`", param_hint="-p") from None
