"""Diagnostics, and the report that collects them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal, NoReturn

from bayesnas_graph.diagnostics.codes import CODES
from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.diagnostics.suggest import nearest

Severity = Literal["error", "warning"]

MOST_SUGGESTIONS = 50  # of the nearest name; comparing a name with all others takes a while


@dataclass(frozen=True, slots=True)
class Label:
    """A span of source text with a note."""

    span: Span
    text: str = ""


@dataclass(frozen=True, slots=True)
class Fix:
    """A change to the text that fixes a problem: `text` replaces the span."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem: what is wrong, where, related places, and how to fix it."""

    code: str
    message: str  # states the problem, never the fix
    primary: Label | None = None  # None if the problem is not in a text, such as a file that cannot be opened
    secondary: tuple[Label, ...] = ()
    help: str | None = None  # states the fix
    severity: Severity = "error"
    fix: Fix | None = None  # the help as a change to the text, if that is all there is to do

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"unknown diagnostic code {self.code}")

    @property
    def identity(self) -> object:
        """Equal for diagnostics that report the same problem at the same place."""
        if self.primary is None:
            return self.code, self.message
        return self.code, self.primary.span


class NasError(Exception):
    """Raised for user errors, with their `diagnostics`."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("; ".join(f"{d.code}: {d.message}" for d in self.diagnostics))


@dataclass(slots=True)
class Report:
    """Collected diagnostics, without duplicates."""

    _by_identity: dict[object, Diagnostic] = field(default_factory=dict)
    _suggested: int = 0

    def add(self, diagnostic: Diagnostic) -> None:
        """Add a diagnostic unless an equal one was reported before."""
        self._by_identity.setdefault(diagnostic.identity, diagnostic)

    def nearest_name(self, name: str, known: Callable[[], Iterable[str]]) -> str | None:
        """The nearest known name, for the first errors only: a file may have thousands."""
        self._suggested += 1
        return nearest(name, known()) if self._suggested <= MOST_SUGGESTIONS else None

    def has(self, code: str) -> bool:
        """Return whether a diagnostic with this code was reported."""
        return any(diagnostic.code == code for diagnostic in self._by_identity.values())

    def replace(self, old: Diagnostic, new: Diagnostic) -> None:
        """Replace a diagnostic, if it was reported."""
        if self._by_identity.get(old.identity) is old:
            self._by_identity[old.identity] = new

    def fail(self, diagnostic: Diagnostic) -> NoReturn:
        """Add a diagnostic and raise NasError."""
        self.add(diagnostic)
        raise NasError([diagnostic])

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All diagnostics sorted by file and position; those without a position come first."""

        def position(diagnostic: Diagnostic) -> tuple[str, int]:
            if diagnostic.primary is None:
                return "", 0
            return diagnostic.primary.span.source.name, diagnostic.primary.span.start

        return tuple(sorted(self._by_identity.values(), key=position))

    @property
    def has_errors(self) -> bool:
        """Whether any diagnostic is an error, not just a warning."""
        return any(d.severity == "error" for d in self._by_identity.values())
