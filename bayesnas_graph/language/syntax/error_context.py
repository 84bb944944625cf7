"""What is around an unexpected token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from lark import Token

from bayesnas_graph.diagnostics import Diagnostic, Label
from bayesnas_graph.diagnostics.source import Source, Span


@dataclass(frozen=True)
class ErrorContext:
    """The tokens of a definition, the position of the first unexpected one, and the expected token types."""

    source: Source
    tokens: Sequence[Token]
    position: int
    expected: frozenset[str]

    def span(self, position: int) -> Span:
        token = self.tokens[position]
        return Span(self.source, token.start_pos or 0, token.end_pos or 0)

    @cached_property
    def token(self) -> Token | None:
        """The unexpected token, or None at the end of the definition."""
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    @cached_property
    def previous(self) -> Token | None:
        return self.tokens[self.position - 1] if self.position else None

    @property
    def touches_previous(self) -> bool:
        """Whether there is no space between the unexpected token and the previous one."""
        return self.span(self.position - 1).end == self.span(self.position).start

    def same_line(self, position: int) -> bool:
        """Whether the token at `position` is on the same line as the end of the previous one."""
        gap = self.source.text[self.span(position - 1).end : self.span(position).start]
        return "\n" not in gap

    def unexpected(self, position: int, label: str, help: str | None = None) -> Diagnostic:
        """Report the token at `position` as unexpected."""
        message = f"unexpected `{self.tokens[position]}`"
        return Diagnostic("NAS001", message, Label(self.span(position), label), help=help)
