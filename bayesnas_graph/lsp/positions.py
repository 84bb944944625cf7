"""Positions of the protocol: lines, and columns counted in the units that editor and server have agreed on."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from lsprotocol import types

from bayesnas_graph.diagnostics.source import Span

UTF8 = types.PositionEncodingKind.Utf8.value
UTF16 = types.PositionEncodingKind.Utf16.value
UTF32 = types.PositionEncodingKind.Utf32.value


@dataclass(frozen=True)
class Positions:
    r"""Converts between offsets in a text, whose lines end in a line feed, and positions.

    >>> positions = Positions("let a = 1 // \N{GRINNING FACE}!\nlet b = 2")
    >>> positions.position(14), positions.offset(types.Position(1, 4))
    (0:15, 20)
    """

    text: str
    units: str = UTF16

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(i + 1 for i, character in enumerate(self.text) if character == "\n")]

    def offset(self, position: types.Position) -> int:
        """The offset of a position. One outside the text is moved to the nearest; one within a character before it."""
        if position.line >= len(self._starts):
            return len(self.text)
        start = self._starts[position.line]
        end = self.text.find("\n", start)
        offset, left = start, position.character
        for character in self.text[start : end if end >= 0 else len(self.text)]:
            left -= self._width(character)
            if left < 0:
                break
            offset += 1
        return offset

    def position(self, offset: int) -> types.Position:
        """The position of an offset."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self._starts, offset) - 1
        before = self.text[self._starts[line] : offset]
        return types.Position(line, len(before) if before.isascii() else sum(map(self._width, before)))

    def range(self, span: Span) -> types.Range:
        """The range of a span."""
        return types.Range(self.position(span.start), self.position(span.end))

    def everything(self) -> types.Range:
        """The range of the whole text."""
        return types.Range(types.Position(0, 0), self.position(len(self.text)))

    def _width(self, character: str) -> int:
        code = ord(character)
        if self.units == UTF16:
            return 2 if code > 0xFFFF else 1
        if self.units == UTF8:
            return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4
        return 1
