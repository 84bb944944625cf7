"""Bounds on what a text may ask for, so that no file can hang or fill the machine that opens it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bayesnas_graph.diagnostics import Diagnostic, Label, Report
from bayesnas_graph.source import Span

LARGEST_NUMBER = 10**18  # of any number, numerator or denominator
LARGEST_FILE = 16 * 2**20  # bytes


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a space may become. The defaults are far above every published space."""

    nodes: int = 1_000_000
    edges: int = 4_000_000
    depth: int = 200  # motifs within motifs
    steps: int = 400_000  # expressions evaluated and statements run; a motif used twice counts once


class Meter:
    """Counts evaluation steps and stops at the limit."""

    def __init__(self, limits: Limits, report: Report) -> None:
        self.limits = limits
        self.report = report
        self.left = limits.steps
        self.inside: list[str] = []  # what is being written out, outermost first

    def step(self, span: Span) -> None:
        """Count one step."""
        self.left -= 1
        if self.left < 0:
            self._stop(span, "evaluation stopped here")

    def ahead(self, count: int, span: Span) -> None:
        """Stop at once if `count` more steps would be too many, without taking them."""
        if count > self.left:
            self._stop(span, f"this alone takes {count:,} steps")

    @contextmanager
    def deeper(self, name: str, span: Span) -> Iterator[None]:
        """Count one definition within another, and stop where they never end."""
        if len(self.inside) >= self.limits.depth:
            route = " > ".join(dict.fromkeys(self.inside[-8:]))
            self.report.fail(
                Diagnostic(
                    "NAS402",
                    f"`{name}` is used more than {self.limits.depth} levels deep",
                    Label(span, "used again here"),
                    help=f"let the recursion end, with `if` on a parameter ({route}), or raise `--max-depth`",
                )
            )
        self.inside.append(name)
        try:
            yield
        finally:
            self.inside.pop()

    def nodes(self, count: int, span: Span) -> None:
        """Stop if a graph would have more nodes than allowed."""
        if count > self.limits.nodes:
            self.report.fail(too_large("nodes", count, self.limits.nodes, span))

    def edges(self, count: int, span: Span) -> None:
        """Stop if a graph would have more edges than allowed."""
        if count > self.limits.edges:
            self.report.fail(too_large("edges", count, self.limits.edges, span))

    def _stop(self, span: Span, text: str) -> None:
        self.report.fail(
            Diagnostic(
                "NAS403",
                f"evaluation takes more than {self.limits.steps:,} steps",
                Label(span, text),
                help="if the space is meant to be this large, raise the limit with `--max-steps`",
            )
        )


def too_large(what: str, count: int, limit: int, span: Span) -> Diagnostic:
    """The diagnostic for a graph with too many nodes or edges."""
    shown = f"{count:,}" if count < LARGEST_NUMBER else "more than 10^18"
    return Diagnostic(
        "NAS401",
        f"the graph would have {shown} {what}, more than the limit of {limit:,}",
        Label(span, "here"),
        help=f"if the space is meant to be this large, raise the limit with `--max-{what}`",
    )
