"""A network out of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from bayesnas_graph.diagnostics import Diagnostic, NasError, Report
from bayesnas_graph.diagnostics.resources import folder, shipped_space
from bayesnas_graph.language.elaborate.files import Module
from bayesnas_graph.language.elaborate.limits import Limits
from bayesnas_graph.language.elaborate.space import Checker, Network

Number = int | Fraction | bool


@dataclass(frozen=True, eq=False)
class Loaded:
    """A network that is written out, and where it was read."""

    network: Network
    modules: tuple[Module, ...]  # the one that defines it first
    warnings: tuple[Diagnostic, ...]

    @property
    def own_files(self) -> tuple[tuple[Path, str], ...]:
        """The files that do not come with this program, the one that defines the network first, with their texts."""
        library = folder("spaces").resolve()
        own, *imported = self.modules
        kept = [own, *(module for module in imported if module.path and library not in module.path.parents)]
        return tuple((module.path, module.file.source.text) for module in kept if module.path is not None)


def load_network(
    file: Path,
    name: str | None = None,
    parameters: Mapping[str, Number] | None = None,
    *,
    called: str | None = None,
    allow_python: bool = False,
) -> Loaded:
    """A network of a file, or of a shipped space of that name; the first one if none is named. Raises NasError.

    Messages call the file `called`, which for a copy is what the original was called.
    """
    path, shown = _located(file)
    shown = called or shown
    report = Report()
    checker = Checker(report, Limits(), allow_python=allow_python)
    space = checker.path(path, shown)
    if space is None or report.has_errors:
        raise NasError(report.diagnostics)
    if name is None and not space.module.networks:
        help = "`bayesnas-graph spaces` lists files with networks"
        raise NasError([Diagnostic("NAS107", f"there is no network in {shown}", help=help)])
    network = checker.network(space.module, name or space.module.networks[0].name.name, parameters or {})
    if network is None:
        raise NasError(report.diagnostics)
    modules = (space.module, *(module for module in checker.loader if module is not space.module))
    return Loaded(network, modules, report.diagnostics)


def _located(file: Path) -> tuple[Path, str]:
    """Return the file that is meant, and the name it is shown by. A folder stands for the first `.nas` file in it."""
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


def check_fixed(network: Network) -> None:
    """Raise NasError if a network has choices."""
    if network.block.choices:
        message = f"network `{network.name}` still has {network.block.choices:,} choices"
        help = "derive an architecture first: `bayesnas-graph search`, then `bayesnas-graph derive`"
        raise NasError([Diagnostic("NAS610", message, help=help)])


def number(text: str) -> Number:
    """A value for a parameter: `36`, `2.5`, `1/3`, `true`. Raises ValueError.

    >>> number("2.5"), number("8"), number("true")
    (Fraction(5, 2), 8, True)
    """
    if text in ("true", "false"):
        return text == "true"
    try:
        found = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ValueError(text) from None
    return found.numerator if found.denominator == 1 else found
