"""Options that name a network: a file, a network in it, and values of its parameters."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesnas_graph.cli.console import show_diagnostics
from bayesnas_graph.cli.suggestions import spaces
from bayesnas_graph.language.elaborate import Network, load
from bayesnas_graph.language.elaborate.values import Argument

if TYPE_CHECKING:
    from bayesnas_graph.runs.config.groups import DataSettings

SpaceFile = Annotated[Path, typer.Argument(metavar="FILE", help="File or shipped space.", autocompletion=spaces)]
NetworkName = Annotated[str | None, typer.Option("--network", help="Network to use (default: the first in the file).")]
Parameters = Annotated[
    list[str] | None,
    typer.Option("-p", "--param", metavar="NAME=VALUE", help="Value of a network parameter; may be repeated."),
]
AllowPython = Annotated[bool, typer.Option("--allow-python", help="Import the Python code named by files.")]


def load_network(file: Path, name: str | None, parameters: list[str] | None, *, allow_python: bool = False) -> Network:
    """Return a network, and print warnings. Raises NasError."""
    loaded = load.load_network(file, name, parameter_values(parameters or ()), allow_python=allow_python)
    show_diagnostics(loaded.warnings)
    return loaded.network


def parameter_values(texts: Iterable[str]) -> dict[str, Argument]:
    """Return the values of `-p` by name."""
    return dict(map(_parameter, texts))


def _parameter(text: str) -> tuple[str, Argument]:
    """Return the name and value in `width=36`."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise typer.BadParameter(f"`{text}` is not of the form NAME=VALUE", param_hint="-p")
    return name.strip(), argument(value.strip())


def check_parameters(config: DataSettings) -> None:
    """Raise BadParameter for values of network parameters that are not numbers or arrays of numbers."""
    for value in config.parameters.values():
        argument(load.as_text(value))


def argument(text: str) -> Argument:
    """Return the value of a parameter from the command line: `36`, `2.5`, `1/3`, `true` or `[3, 4, 6]`."""
    try:
        return load.argument(text)
    except ValueError as error:
        raise typer.BadParameter(f"`{error}` is not a number, `true` or `false`", param_hint="-p") from None
