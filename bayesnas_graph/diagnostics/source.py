"""Source texts and spans in them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True, eq=False)
class Source:
    """A text with its display name, compared by identity."""

    name: str
    text: str = field(repr=False)
    origins: Mapping[int, str] = field(default_factory=dict, repr=False)  # what a generated text comes from, by line

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(i + 1 for i, character in enumerate(self.text) if character == "\n")]

    @cached_property
    def _origin_lines(self) -> list[int]:
        return sorted(self.origins)

    def position(self, offset: int) -> tuple[int, int]:
        r"""The 1-based line and column of a character offset.

        >>> Source("example", "in x\nout x").position(5)
        (2, 1)
        """
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def origin(self, offset: int) -> str | None:
        r"""What the part of the text at an offset was generated from; None if the text was not generated.

        >>> Source("example", "in x\nout x", {1: "model.py:7", 2: "model.py:9"}).origin(6)
        'model.py:9'
        """
        before = bisect_right(self._origin_lines, self.position(offset)[0])
        return self.origins[self._origin_lines[before - 1]] if before else None

    def line(self, number: int) -> str:
        """The text of a 1-based line, without its end."""
        start = self._line_starts[number - 1]
        end = self.text.find("\n", start)
        return self.text[start : end if end >= 0 else len(self.text)].rstrip("\r")


@dataclass(frozen=True, slots=True)
class Span:
    """The characters `start` to `end` (exclusive) of a source."""

    source: Source
    start: int
    end: int

    @property
    def text(self) -> str:
        """The text of the span."""
        return self.source.text[self.start : self.end]

    def covers(self, other: Span) -> bool:
        """Whether `other` is a part of this span."""
        return self.source is other.source and self.start <= other.start and other.end <= self.end

    def to(self, other: Span) -> Span:
        """From the start of this span to the end of `other`."""
        return Span(self.source, self.start, other.end)

    def __str__(self) -> str:
        line, column = self.source.position(self.start)
        return f"{self.source.name}:{line}:{column}"
