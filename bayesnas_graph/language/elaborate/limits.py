"""Limits on evaluation, so that no file can hang the machine or exhaust its memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NoReturn

from bayesnas_graph.diagnostics import Diagnostic, Label, NasError, Report
from bayesnas_graph.diagnostics.source import Span

LARGEST_NUMBER = 10**18  # for any number, numerator or denominator
LARGEST_FILE = 4 * 2**20  # bytes
MOST_FILES = 1000  # of a space, with all that it imports
DEEPEST_IMPORT = 50  # files, each imported by the one before


class LimitReached(NasError):
    """Ends evaluation: anything after this would reach the limit again."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest space allowed. The defaults are far above every published space."""

    nodes: int = 1_000_000
    edges: int = 4_000_000
    depth: int = 200  # motifs within motifs
    steps: int = 400_000  # evaluated expressions and statements; a motif used twice in the same way counts once


class Meter:
    """Counts evaluation steps and stops at the limit."""

    def __init__(self, limits: Limits, report: Report) -> None:
        self.limits = limits
        self.report = report
        self.left = limits.steps
        self.inside: list[str] = []  # the definitions being expanded, outermost first

    def step(self, span: Span, cost: int = 1) -> None:
        """Count a step, or work equivalent to `cost` steps."""
        self.left -= cost
        if self.left < 0:
            self._stop(self._too_long(span, "evaluation stopped here"))

    def ahead(self, count: int, span: Span) -> None:
        """Stop if `count` more steps would exceed the limit, without taking them."""
        if count > self.left:
            self._stop(self._too_long(span, f"this alone takes {count:,} steps"))

    @contextmanager
    def deeper(self, name: str, span: Span) -> Iterator[None]:
        """Count one definition inside another, and stop at the depth limit."""
        if len(self.inside) >= self.limits.depth:
            names = list(dict.fromkeys(self.inside[-8:]))
            route = f" ({' > '.join(names)})" if len(names) > 1 else ""
            self._stop(
                Diagnostic(
                    "NAS402",
                    f"`{name}` recurses more than {self.limits.depth} levels deep",
                    Label(span, "used again here"),
                    help=f"end the recursion with `if` on a parameter{route}, or raise `--max-depth`",
                )
            )
        self.inside.append(name)
        try:
            yield
        finally:
            self.inside.pop()

    def number_too_large(self, span: Span) -> NoReturn:
        """Stop at a number that is too large."""
        self._stop(Diagnostic("NAS405", "number too large", Label(span, "more than 10^18")))

    def nodes(self, count: int, span: Span) -> None:
        """Stop if a graph has too many nodes."""
        if count > self.limits.nodes:
            self._stop(too_large("nodes", count, self.limits.nodes, span))

    def edges(self, count: int, span: Span) -> None:
        """Stop if a graph has too many edges."""
        if count > self.limits.edges:
            self._stop(too_large("edges", count, self.limits.edges, span))

    def _too_long(self, span: Span, text: str) -> Diagnostic:
        return Diagnostic(
            "NAS403",
            f"evaluation takes more than {self.limits.steps:,} steps",
            Label(span, text),
            help="if this size is intended, raise the limit with `--max-steps`",
        )

    def _stop(self, diagnostic: Diagnostic) -> NoReturn:
        self.report.add(diagnostic)
        raise LimitReached([diagnostic])


def too_large(what: str, count: int, limit: int, span: Span) -> Diagnostic:
    """The diagnostic for a graph with too many nodes or edges."""
    shown = f"{count:,}" if count < LARGEST_NUMBER else "more than 10^18"
    return Diagnostic(
        "NAS401",
        f"the graph would have {shown} {what}, more than the limit of {limit:,}",
        Label(span, "here"),
        help=f"if this size is intended, raise the limit with `--max-{what}`",
    )
