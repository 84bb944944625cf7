"""Diagnostics as text for people and as JSON for tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any
from unicodedata import east_asian_width

from bayesnas_graph.diagnostics.model import Diagnostic, Label
from bayesnas_graph.diagnostics.source import Source, Span

Paint = Callable[[str, str], str]  # (style, text) -> text
MAX_WIDTH = 160  # of a source line; a longer one is cut around its label

_ANSI = {"error": "1;31", "warning": "1;33", "bold": "1", "gutter": "1;34", "help": "1;36"}


def render(diagnostic: Diagnostic, *, color: bool = False) -> str:
    """The diagnostic as compilers print it: message, location, labelled source lines, help."""
    paint: Paint = _colored if color else lambda _, text: text
    head = paint(diagnostic.severity, f"{diagnostic.severity}[{diagnostic.code}]")
    lines = [head + paint("bold", f": {diagnostic.message}")]
    if diagnostic.primary is not None:
        labels = [(diagnostic.primary, "^"), *((label, "-") for label in diagnostic.secondary)]
        numbers = [label.span.source.position(label.span.start)[0] for label, _ in labels]
        gutter = len(str(max(numbers)))
        lines += _snippets(labels, gutter, diagnostic.severity, paint)
    else:
        gutter = 0
    if diagnostic.help:
        if diagnostic.primary is not None:
            lines.append(paint("gutter", " " * gutter + " |"))
        lines.append(f"{paint('gutter', ' ' * gutter + ' =')} {paint('help', 'help')}: {diagnostic.help}")
    return "\n".join(lines) + "\n"


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
    }


def _colored(style: str, text: str) -> str:
    return f"\033[{_ANSI[style]}m{text}\033[0m"


def _snippets(labels: Sequence[tuple[Label, str]], gutter: int, severity: str, paint: Paint) -> list[str]:
    """The labelled lines of every file, starting with the file of the primary label."""
    sources: list[Source] = []
    for label, _ in labels:
        if label.span.source not in sources:
            sources.append(label.span.source)
    lines = []
    for source in sources:
        here = [(label, mark) for label, mark in labels if label.span.source is source]
        arrow = "-->" if source is sources[0] else ":::"
        lines.append(f"{paint('gutter', ' ' * gutter + arrow)} {here[0][0].span}")
        lines.append(paint("gutter", " " * gutter + " |"))
        lines += _snippet(source, here, gutter, severity, paint)
    return lines


def _snippet(
    source: Source, labels: Sequence[tuple[Label, str]], gutter: int, severity: str, paint: Paint
) -> list[str]:
    lines: list[str] = []
    by_line = sorted(labels, key=lambda item: (_line(item[0].span), item[0].span.start, item[1]))
    shown = 0
    for number, group in groupby(by_line, key=lambda item: _line(item[0].span)):
        items = list(group)
        text, first = _window(source.line(number), [label.span for label, _ in items])
        if shown and number == shown + 2:
            lines.append(
                f"{paint('gutter', f'{shown + 1:>{gutter}} |')} {_plain(source.line(shown + 1))[:MAX_WIDTH]}".rstrip()
            )
        elif shown and number > shown + 2:
            lines.append(paint("gutter", "..."))
        lines.append(f"{paint('gutter', f'{number:>{gutter}} |')} {_plain(text)}".rstrip())
        for label, mark in items:
            column = source.position(label.span.start)[1] - 1 - first
            length = min(label.span.end - label.span.start, len(text) - column)
            indent = _columns(text[:column])
            underline = mark * max(_columns(text[column : column + max(length, 0)]), 1)
            note = f"{underline} {label.text}".rstrip()
            style = severity if mark == "^" else "gutter"
            lines.append(f"{paint('gutter', ' ' * gutter + ' |')} {' ' * indent}{paint(style, note)}")
        shown = number
    return lines


def _line(span: Span) -> int:
    return span.source.position(span.start)[0]


def _window(text: str, spans: Sequence[Span]) -> tuple[str, int]:
    """The visible part of a line, and its offset."""
    if len(text) <= MAX_WIDTH:
        return text, 0
    start = min(span.source.position(span.start)[1] - 1 for span in spans)
    first = max(0, min(start - MAX_WIDTH // 3, len(text) - MAX_WIDTH))
    shown = text[first : first + MAX_WIDTH]
    if first:
        shown = "…" + shown[1:]
    if first + MAX_WIDTH < len(text):
        shown = shown[:-1] + "…"
    return shown, first


def _plain(text: str) -> str:
    """The text without control characters; tabs become four spaces."""
    return "".join("    " if c == "\t" else c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _columns(text: str) -> int:
    """The number of terminal columns of a text."""
    return sum(4 if c == "\t" else 2 if east_asian_width(c) in "WF" else 1 for c in text)
