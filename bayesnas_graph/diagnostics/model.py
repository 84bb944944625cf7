"""What a diagnostic is, and the report that collects them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NoReturn

from bayesnas_graph.diagnostics.codes import CODES
from bayesnas_graph.diagnostics.source import Span

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Label:
    """A place in a text and what there is to say about it."""

    span: Span
    text: str = ""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem, complete: what is wrong, where, what else matters, and what would mend it."""

    code: str
    message: str  # states the problem, never the fix
    primary: Label | None = None  # None where no text is at fault: a file that cannot be opened
    secondary: tuple[Label, ...] = ()
    help: str | None = None  # states the fix
    severity: Severity = "error"

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"{self.code} is not in the table of codes")

    @property
    def identity(self) -> object:
        """Equal for diagnostics that tell a reader the same thing at the same place."""
        if self.primary is None:
            return self.code, self.message
        return self.code, self.primary.span


class NasError(Exception):
    """Raised where work cannot go on. What is wrong stands in `diagnostics`."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("; ".join(f"{d.code}: {d.message}" for d in self.diagnostics))


@dataclass(slots=True)
class Report:
    """The diagnostics of one run, in the order in which they were found, each told once."""

    _found: dict[object, Diagnostic] = field(default_factory=dict)

    def add(self, diagnostic: Diagnostic) -> None:
        """Keep a diagnostic, unless the same was said before."""
        self._found.setdefault(diagnostic.identity, diagnostic)

    def replace(self, old: Diagnostic, new: Diagnostic) -> None:
        """Say `new` where `old` was said; nothing happens if it was not."""
        if self._found.get(old.identity) is old:
            self._found[old.identity] = new

    def fail(self, diagnostic: Diagnostic) -> NoReturn:
        """Keep a diagnostic and abandon what is being done."""
        self.add(diagnostic)
        raise NasError([diagnostic])

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All of them, by file and place; those without a place come first."""

        def place(diagnostic: Diagnostic) -> tuple[str, int]:
            if diagnostic.primary is None:
                return "", 0
            return diagnostic.primary.span.source.name, diagnostic.primary.span.start

        return tuple(sorted(self._found.values(), key=place))

    @property
    def has_errors(self) -> bool:
        """Whether anything worse than a warning was found."""
        return any(d.severity == "error" for d in self._found.values())
