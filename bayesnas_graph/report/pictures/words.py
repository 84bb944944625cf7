"""Texts in pictures, and their widths."""

from __future__ import annotations

from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir import Op
from bayesnas_graph.language.elaborate.block import Block

# Widths of characters in ems, from a wide font, so that text fits in any font.
_NARROW = set("ijl.,:;'|!()[]{}I ftr")
_WIDE = set("mwMW@%→×")


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """The width of a text, with a small margin."""
    ems = sum(0.39 if c in _NARROW else 0.95 if c in _WIDE else 0.7 if c.isupper() else 0.62 for c in text)
    return ems * size * (1.08 if bold else 1.0)


def settings_lines(op: Op, room: int = 22) -> tuple[str, ...]:
    """The non-default arguments of an operation, in lines of about `room` characters."""
    lines: list[str] = []
    for name, value in op.changed().items():
        part = f"{name} {value}"
        if lines and len(lines[-1]) + len(part) + 2 <= room:
            lines[-1] += f", {part}"
        else:
            lines.append(part)
    return tuple(lines)


def place_of(span: Span) -> str:
    """File and line of a span."""
    return f"{span.source.name}:{span.source.position(span.start)[0]}"


def line_of(span: Span) -> str:
    """The line that a span begins on, stripped."""
    return span.source.line(span.source.position(span.start)[0]).strip()


def definition_text(block: Block) -> str:
    """A motif with its file and line."""
    definition = block.definition
    return f"{definition.role} {definition.name.name}, {place_of(definition.name.span)}"
