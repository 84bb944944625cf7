"""Diagnostics as text for people and as JSON for tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from bayesnas_graph.diagnostics.model import Diagnostic, Label
from bayesnas_graph.diagnostics.source import Source, Span
from bayesnas_graph.diagnostics.wrapping import columns, wrapped

Paint = Callable[[str, str], str]  # (style, text) -> text
MAX_WIDTH = 160  # of a source line; a longer one is cut around its label
LEAST_WIDTH = 40  # of a source line, however narrow the terminal
LABEL_WIDTH = 24  # beside a caret; a label that has less room starts below it

_ANSI = {"error": "1;31", "warning": "1;33", "bold": "1", "gutter": "1;34", "help": "1;36"}


def render(diagnostic: Diagnostic, *, color: bool = False, width: int | None = None) -> str:
    """The diagnostic as compilers print it: message, location, labelled source lines, help.

    Words are wrapped to `width` columns, if it is given.
    """
    paint: Paint = _colored if color else lambda _, text: text
    head = f"{diagnostic.severity}[{diagnostic.code}]"
    first, *others = wrapped(f": {diagnostic.message}", width, len(head), len(head) + 2)
    lines = [paint(diagnostic.severity, head) + paint("bold", first), *(paint("bold", line) for line in others)]
    gutter = 0
    if diagnostic.primary is not None:
        labels = [(diagnostic.primary, "^"), *((label, "-") for label in diagnostic.secondary)]
        numbers = [label.span.source.position(label.span.start)[0] for label, _ in labels]
        gutter = len(str(max(numbers)))
        lines += _snippets(labels, _Layout(gutter, width, diagnostic.severity, paint))
    if diagnostic.help:
        if diagnostic.primary is not None:
            lines.append(paint("gutter", " " * gutter + " |"))
        first, *others = wrapped(diagnostic.help, width, gutter + 9)
        lines += [f"{paint('gutter', ' ' * gutter + ' =')} {paint('help', 'help')}: {first}", *others]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class _Layout:
    """How source lines are laid out."""

    gutter: int  # digits of the largest line number
    width: int | None  # of the terminal
    severity: str
    paint: Paint

    @property
    def code_width(self) -> int:
        """The longest source line that is shown whole."""
        return MAX_WIDTH if self.width is None else min(MAX_WIDTH, max(self.width - self.gutter - 3, LEAST_WIDTH))

    def numbered(self, number: int, text: str) -> str:
        """A line of source."""
        return f"{self.paint('gutter', f'{number:>{self.gutter}} |')} {text}".rstrip()

    def label(self, underline: str, indent: int, text: str, style: str) -> list[str]:
        """An underline and its label, which starts below it where there is too little room beside it."""
        before = self.gutter + 3 + indent
        beside = before + len(underline) + 1
        if not text or self.width is None or beside + min(LABEL_WIDTH, columns(text)) <= self.width:
            first, *others = wrapped(f"{underline} {text}".rstrip(), self.width, before, beside)
            return [self._marked(indent, line, style) for line in (first, *(line[before:] for line in others))]
        left = max(0, min(indent, self.width - self.gutter - 3 - min(columns(text), LEAST_WIDTH)))
        first, *others = wrapped(text, self.width, self.gutter + 3 + left)
        below = (self._marked(left, line.strip(), style) for line in (first, *others))
        return [self._marked(indent, underline, style), *below]

    def _marked(self, indent: int, text: str, style: str) -> str:
        return f"{self.paint('gutter', ' ' * self.gutter + ' |')} {' ' * indent}{self.paint(style, text)}"


def as_json(diagnostic: Diagnostic) -> dict[str, Any]:
    """The diagnostic as plain values, with 1-based positions."""
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "help": diagnostic.help,
        "primary": _label_json(diagnostic.primary) if diagnostic.primary else None,
        "secondary": [_label_json(label) for label in diagnostic.secondary],
    }


def _label_json(label: Label) -> dict[str, Any]:
    span = label.span
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    return {
        "file": span.source.name,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
        "text": label.text,
        **({"origin": origin} if (origin := span.source.origin(span.start)) else {}),
    }


def _colored(style: str, text: str) -> str:
    return f"\033[{_ANSI[style]}m{text}\033[0m"


def _snippets(labels: Sequence[tuple[Label, str]], layout: _Layout) -> list[str]:
    """The labelled lines of every file, starting with the file of the primary label."""
    sources: list[Source] = []
    for label, _ in labels:
        if label.span.source not in sources:
            sources.append(label.span.source)
    lines, margin = [], " " * layout.gutter
    for source in sources:
        here = [(label, mark) for label, mark in labels if label.span.source is source]
        arrow = "-->" if source is sources[0] else ":::"
        origin = source.origin(here[0][0].span.start)
        place = f"{here[0][0].span}, generated by {origin}" if origin else str(here[0][0].span)
        lines.append(f"{layout.paint('gutter', margin + arrow)} {place}")
        lines.append(layout.paint("gutter", margin + " |"))
        lines += _snippet(source, here, layout)
    return lines


def _snippet(source: Source, labels: Sequence[tuple[Label, str]], layout: _Layout) -> list[str]:
    lines: list[str] = []
    by_line = sorted(labels, key=lambda item: (_line(item[0].span), item[0].span.start, item[1]))
    shown = 0
    for number, group in groupby(by_line, key=lambda item: _line(item[0].span)):
        items = list(group)
        text, first = _window(source.line(number), [label.span for label, _ in items], layout.code_width)
        if shown and number == shown + 2:
            lines.append(layout.numbered(shown + 1, _plain(source.line(shown + 1))[: layout.code_width]))
        elif shown and number > shown + 2:
            lines.append(layout.paint("gutter", "..."))
        lines.append(layout.numbered(number, _plain(text)))
        for label, mark in items:
            column = source.position(label.span.start)[1] - 1 - first
            length = min(label.span.end - label.span.start, len(text) - column)
            underline = mark * max(columns(text[column : column + max(length, 0)]), 1)
            style = layout.severity if mark == "^" else "gutter"
            lines += layout.label(underline, columns(text[:column]), label.text, style)
        shown = number
    return lines


def _line(span: Span) -> int:
    return span.source.position(span.start)[0]


def _window(text: str, spans: Sequence[Span], width: int) -> tuple[str, int]:
    """The visible part of a line, and its offset."""
    if len(text) <= width:
        return text, 0
    start = min(span.source.position(span.start)[1] - 1 for span in spans)
    first = max(0, min(start - width // 3, len(text) - width))
    shown = text[first : first + width]
    if first:
        shown = "…" + shown[1:]
    if first + width < len(text):
        shown = shown[:-1] + "…"
    return shown, first


def _plain(text: str) -> str:
    """The text without control characters; tabs become four spaces."""
    return "".join("    " if c == "\t" else c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
