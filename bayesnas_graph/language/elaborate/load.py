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
    shipped = None if file.is_file() else shipped_space(str(file))
    shown = called or (f"<shipped>/{shipped.name}" if shipped else str(file))
    report = Report()
    checker = Checker(report, Limits(), allow_python=allow_python)
    space = checker.path(shipped or file, shown)
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


def number(text: str) -> Number:
    """A value for a parameter: `36`, `2.5`, `1/3`, `true`. Raises ValueError.

    >>> number("2.5"), number("8"), number("true")
    (Fraction(5, 2), 8, True)
    """
    if text in ("true", "false"):
        return text == "true"
    try:
        found = Fraction(text)
    except ZeroDivisionError:
        raise ValueError(text) from None
    return found.numerator if found.denominator == 1 else found
