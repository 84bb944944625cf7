"""Texts in pictures, and their widths."""

from __future__ import annotations

from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.language.elaborate.block import Block
from bayesnas_graph.language.elaborate.values import Value, show, size_of

LARGEST_VALUE = 100  # parts of a value that is still written out

# Widths of characters in ems, from a wide font, so that text fits in any font.
_NARROW = set("ijl.,:;'|!()[]{}I ftr")
_WIDE = set("mwMW@%→×")


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """The width of a text, with a small margin."""
    ems = sum(0.39 if c in _NARROW else 0.95 if c in _WIDE else 0.7 if c.isupper() else 0.62 for c in text)
    return ems * size * (1.08 if bold else 1.0)


def shortened(text: str, room: int) -> str:
    """A text without its middle if it is longer than `room` characters.

    >>> shortened("separable", 9), shortened("separable_convolution_5", 14)
    ('separable', 'separab…tion_5')
    """
    if len(text) <= room:
        return text
    tail = (room - 1) // 2
    return f"{text[: room - 1 - tail]}…{text[len(text) - tail :]}"


def place_of(span: Span) -> str:
    """File and line of a span."""
    return f"{span.source.name}:{span.source.position(span.start)[0]}"


def line_of(span: Span) -> str:
    """The line that a span begins on, stripped."""
    return span.source.line(span.source.position(span.start)[0]).strip()


def definition_text(block: Block) -> str:
    """A motif with its arguments, its file and its line."""
    definition = block.definition
    arguments = ", ".join(f"{name} = {value_text(value)}" for name, value in block.arguments)
    called = f"{definition.name.name}({arguments})" if arguments else definition.name.name
    return f"{definition.role} {called}, {place_of(definition.name.span)}"


def value_text(value: Value) -> str:
    """A value as it would be written, unless that would be very long."""
    return show(value) if size_of(value, LARGEST_VALUE) <= LARGEST_VALUE else "…"
