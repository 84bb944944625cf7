"""Loading a network from a file or a text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from bayesnas_graph.diagnostics import Diagnostic, NasError, Report
from bayesnas_graph.diagnostics.resources import folder, shipped_space
from bayesnas_graph.language.elaborate.files import Module
from bayesnas_graph.language.elaborate.limits import Limits
from bayesnas_graph.language.elaborate.space import Checker, Network
from bayesnas_graph.language.elaborate.text import Text
from bayesnas_graph.language.elaborate.values import Argument

Number = int | Fraction | bool

LONGEST_SHOWN = 40  # characters of a text in a message
_NUMBER = re.compile(
    r"[-+]?\d{1,40}(/\d{1,40}|(\.\d{0,40})?(e[-+]?\d{1,2})?)|[-+]?\.\d{1,40}(e[-+]?\d{1,2})?", re.I | re.A
)


@dataclass(frozen=True, eq=False)
class Loaded:
    """An elaborated network, and the files it was read from."""

    network: Network
    modules: tuple[Module, ...]  # first the one that defines the network
    warnings: tuple[Diagnostic, ...]

    @property
    def own_files(self) -> tuple[tuple[Path, str], ...]:
        """The files that are not shipped with this program, with their texts; first the file of the network."""
        library = folder("spaces").resolve()
        own, *imported = self.modules
        modules = [own, *(module for module in imported if module.path and library not in module.path.parents)]
        return tuple((module.path, module.file.source.text) for module in modules if module.path is not None)


def load_network(
    file: Path | Text,
    name: str | None = None,
    parameters: Mapping[str, Argument] | None = None,
    *,
    called: str | None = None,
    allow_python: bool = False,
) -> Loaded:
    """Load the named network, or the first, from a file, a shipped space or a text. Raises NasError.

    Only this network is elaborated. `called` is the file name shown in messages, if the file is a copy of another.
    """
    report = Report()
    checker = Checker(report, Limits(), allow_python=allow_python)
    module: Module | None
    if isinstance(file, Text):
        shown = file.name
        module = checker.text_module(file.source(), file.path())
    else:
        path, shown = _located(file)
        shown = called or shown
        module = checker.module(path, shown)
    if module is None or report.has_errors:
        raise NasError(report.diagnostics)
    if name is None and not module.networks:
        help = "`bayesnas-graph spaces` lists files with networks"
        raise NasError([Diagnostic("NAS107", f"{shown} defines no network", help=help)])
    network = checker.network(module, name or module.networks[0].name.name, parameters or {})
    if network is None or report.has_errors:
        raise NasError(report.diagnostics)
    modules = (module, *(other for other in checker.loader if other is not module))
    return Loaded(network, modules, report.diagnostics)


def _located(file: Path) -> tuple[Path, str]:
    """Return the file at a path and its name for messages. A folder stands for its first `.nas` file."""
    if file.is_file():
        return file, str(file)
    inside = sorted(file.rglob("*.nas")) if file.is_dir() else []
    if inside:
        return inside[0], str(inside[0])
    shipped = shipped_space(str(file))
    if shipped is not None:
        return shipped, f"<shipped>/{shipped.name}"
    if file.is_dir():
        raise NasError([Diagnostic("NAS011", f"there is no `.nas` file in `{file}`")])
    return file, str(file)


def with_argument(network: Network, name: str, value: int) -> Network | None:
    """Return the network with another value of one of its parameters; None if it has errors then."""
    if network.module is None:
        return None
    return Checker(Report()).network(network.module, network.name, {**dict(network.given), name: value})


def check_fixed(network: Network) -> None:
    """Raise NasError if a network has choices."""
    if network.block.choices:
        message = f"network `{network.name}` still has {network.block.choices:,} choices"
        help = "derive an architecture first: `bayesnas-graph search`, then `bayesnas-graph derive`"
        raise NasError([Diagnostic("NAS610", message, help=help)])


def argument(text: str) -> Argument:
    """Return the value of a parameter: a number, `true` or `false`, or an array of them. Raises ValueError.

    >>> argument("36"), argument("[3, 4, 6, 3]"), argument("[]")
    (36, (3, 4, 6, 3), ())
    """
    if not (text.startswith("[") and text.endswith("]")):
        return number(text)
    inside = text[1:-1].strip()
    return tuple(number(item.strip()) for item in inside.split(",")) if inside else ()


def as_text(value: object) -> str:
    """Return a value from a settings file or from Python as `argument` reads it.

    >>> as_text(True), as_text((1, Fraction(1, 3)))
    ('true', '[1, 1/3]')
    """
    return f"[{', '.join(map(as_text, value))}]" if isinstance(value, list | tuple) else str(value).lower()


def number(text: str) -> Number:
    """Return the number in a text, or a truth value: `36`, `2.5`, `1/3`, `true`. Raises ValueError.

    >>> number("2.5"), number("8"), number("true")
    (Fraction(5, 2), 8, True)
    """
    if text in ("true", "false"):
        return text == "true"
    try:
        value = Fraction(text) if _NUMBER.fullmatch(text) else None
    except ZeroDivisionError:
        value = None
    if value is None:
        raise ValueError(text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}...")
    return value.numerator if value.denominator == 1 else value
