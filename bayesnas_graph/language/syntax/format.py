"""One layout for every file.

Formatting moves white space only: words and comments stay as they are and in their order, so the
meaning cannot change. Each statement stands on a line of its own; `layout` breaks those that are too
long. Blank lines are kept, one at a time, and set between definitions with bodies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.syntax import ast
from bayesnas_graph.language.syntax.layout import INDENT, Row, Word, rows
from bayesnas_graph.language.syntax.parse import parse
from bayesnas_graph.language.syntax.words import words_of

_COMMENTS = {"COMMENT", "DOC", "FILE_DOC"}


def format_source(source: Source, report: Report) -> str | None:
    """The text in its one layout; None if it has syntax errors, which are then in the report.

    >>> print(format_source(Source("example", "motif m{in x x->out:relu>bn}"), Report()), end="")
    motif m {
        in x
        x -> out : relu > bn
    }
    """
    file = parse(source, report)
    if file.lost:
        return None
    words, rest = _words(source)
    lines = list(_lines(words, _marks(file)))
    lines += [_Line(0, [], comment, blank) for comment, blank in rest]
    _part_definitions(lines)
    written: list[Row] = []
    for i, line in enumerate(lines):
        if line.blank and i:
            written.append(Row("", ""))
        written += [Row(line.comment, "", line.depth)] if line.comment else rows(line.words, line.depth)
    return "".join(f"{text}\n" for text in _aligned(written))


# ----------------------------------------------------------------------------------- words


def _words(source: Source) -> tuple[list[Word], list[tuple[str, bool]]]:
    """The words, each with the comments before it and after it on its line; and the comments after the last."""
    words: list[Word] = []
    before: list[tuple[str, bool]] = []
    end = 0
    for token in words_of(source):
        if token.type == "SPACE":
            continue
        start = token.start_pos or 0
        gap = source.text[end:start]
        end = token.end_pos or 0
        blank = gap.count("\n") > 1
        if token.type not in _COMMENTS:
            words.append(Word(str(token), token.type, start, before, [], blank))
            before = []
        elif words and not before and "\n" not in gap:
            words[-1].after.append(_stripped(str(token)))
        else:
            before.append((_stripped(str(token)), blank))
    return words, before


def _stripped(comment: str) -> str:
    return "\n".join(line.rstrip() for line in comment.split("\n"))


# ----------------------------------------------------------------------------------- lines


@dataclass
class _Line:
    """One statement, or one comment that stands alone."""

    depth: int
    words: list[Word]
    comment: str = ""
    blank: bool = False  # a blank line comes before it
    parted: bool = False  # begins a definition with a body
    closing: bool = False  # ends one


@dataclass(frozen=True)
class _Marks:
    """Offsets in the text where a line must begin or end."""

    parted: frozenset[int]  # definitions with bodies
    beginnings: frozenset[int]  # definitions and statements
    opening: frozenset[int]  # braces of bodies
    closing: frozenset[int]


def _marks(file: ast.File) -> _Marks:
    beginnings: set[int] = {item.span.start for item in file.items}
    opening: set[int] = set()
    closing: set[int] = set()
    motifs = [item for item in file.items if isinstance(item, ast.Motif)]
    waiting: list[ast.Block | ast.If | None] = [motif.body for motif in motifs]
    while waiting:
        found = waiting.pop()
        if isinstance(found, ast.If):
            waiting += [found.yes, found.no]
        elif found is not None:
            opening.add(found.span.start)
            closing.add(found.span.end - 1)
            for statement in found.statements:
                beginnings.add(statement.span.start)
                if isinstance(statement, ast.For):
                    waiting.append(statement.body)
                elif isinstance(statement, ast.If):
                    waiting.append(statement)
    parted = frozenset(motif.span.start for motif in motifs)
    return _Marks(parted, frozenset(beginnings), frozenset(opening), frozenset(closing))


def _lines(words: list[Word], marks: _Marks) -> Iterator[_Line]:
    line = _Line(0, [])
    depth = 0
    for i, word in enumerate(words):
        previous = words[i - 1] if i else None
        ends = word.start in marks.closing
        after_opening = previous is not None and previous.start in marks.opening
        after_closing = previous is not None and previous.start in marks.closing
        empty = ends and after_opening and not word.before and not (previous and previous.after)
        apart = word.start in marks.beginnings or ends or after_opening or (after_closing and word.text != "else")
        if apart and not empty:
            if line.words:
                yield line
            for comment, blank in word.before:
                yield _Line(depth, [], comment, blank and not after_opening)
                after_opening = False
            depth -= ends
            blank = word.blank and not after_opening and not ends
            word.before = []
            line = _Line(depth, [], "", blank, word.start in marks.parted, ends and depth == 0)
        elif empty:
            depth -= 1
            line.closing = depth == 0
        line.words.append(word)
        depth += word.start in marks.opening
    if line.words:
        yield line


def _part_definitions(lines: list[_Line]) -> None:
    """Blank lines around definitions with bodies, after the imports and after the documentation of the file."""
    for i, line in enumerate(lines):
        if line.words and line.words[0].text == "import" and i + 1 < len(lines):
            following = lines[i + 1]
            lines[i + 1].blank |= not (following.words and following.words[0].text == "import")
        if line.parted:
            first = i
            while first and lines[first - 1].comment and not lines[first].blank:
                first -= 1
            lines[first].blank = True
        if line.closing and i + 1 < len(lines):
            lines[i + 1].blank = True
        if line.comment.startswith("//!") and i + 1 < len(lines) and not lines[i + 1].comment.startswith("//!"):
            lines[i + 1].blank = True


def _aligned(written: list[Row]) -> Iterator[str]:
    """The text of the rows, comments at the ends of neighbouring lines under one another."""
    start = 0
    while start < len(written):
        end = start
        while end < len(written) and written[end].comment and not written[end].comment.count("\n"):
            end += 1
        column = max((len(written[i].code) for i in range(start, end)), default=0)
        for row in written[start : max(end, start + 1)]:
            text = INDENT * row.depth + row.text
            yield f"{text:<{column}}  {row.comment}" if row.comment else text.rstrip()
        start = max(end, start + 1)
