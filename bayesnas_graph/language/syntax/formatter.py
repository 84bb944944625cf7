"""The source formatter.

Formatting changes white space only: tokens and comments stay the same and in order, so the meaning
cannot change. Each statement gets its own line; `layout` breaks long ones. Runs of blank lines become
one, and definitions with bodies are separated by blank lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lark import Token

from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.syntax import ast
from bayesnas_graph.language.syntax.deep_stack import deep_stack
from bayesnas_graph.language.syntax.layout import FormatToken, Row, rows
from bayesnas_graph.language.syntax.lexer import tokenize
from bayesnas_graph.language.syntax.parser import parse

_COMMENTS = {"COMMENT", "DOC", "FILE_DOC"}


def format_source(source: Source, report: Report) -> str | None:
    """The formatted text; None if it has syntax errors, which are reported.

    >>> print(format_source(Source("example", "motif m{in x x->out:relu>bn}"), Report()), end="")
    motif m {
        in x
        x -> out : relu > bn
    }
    """
    with deep_stack():
        return _formatted(source, report)


def _formatted(source: Source, report: Report) -> str | None:
    everything = list(tokenize(source))
    file = parse(source, report, everything)
    if file.lost:
        return None
    tokens, trailing = _with_comments(source, everything)
    lines = list(_lines(tokens, _marks(file)))
    lines += [_Line(0, [], comment, blank) for comment, blank in trailing]
    _separate_definitions(lines)
    output: list[Row] = []
    for i, line in enumerate(lines):
        if line.blank and i:
            output.append(Row("", ""))
        output += [Row(line.comment, "", line.depth)] if line.comment else rows(line.tokens, line.depth)
    return "".join(f"{text}\n" for text in _aligned(output))


# ---------------------------------------------------------------------------------- tokens


def _with_comments(source: Source, everything: list[Token]) -> tuple[list[FormatToken], list[tuple[str, bool]]]:
    """The tokens with their comments, and the comments after the last token."""
    tokens: list[FormatToken] = []
    before: list[tuple[str, bool]] = []
    end = 0
    for token in everything:
        if token.type == "SPACE":
            continue
        start = token.start_pos or 0
        gap = source.text[end:start]
        end = token.end_pos or 0
        blank = gap.count("\n") > 1
        if token.type not in _COMMENTS:
            tokens.append(FormatToken(str(token), token.type, start, before, [], blank))
            before = []
        elif tokens and not before and "\n" not in gap:
            tokens[-1].after.append(_stripped(str(token)))
        else:
            before.append((_stripped(str(token)), blank))
    return tokens, before


def _stripped(comment: str) -> str:
    return "\n".join(line.rstrip() for line in comment.split("\n"))


# ----------------------------------------------------------------------------------- lines


@dataclass
class _Line:
    """One statement, or one comment on its own line."""

    depth: int
    tokens: list[FormatToken]
    comment: str = ""
    blank: bool = False  # preceded by a blank line
    separated: bool = False  # starts a definition with a body
    closing: bool = False  # ends a definition with a body


@dataclass(frozen=True)
class _Marks:
    """Offsets in the text where a line must start or end."""

    separated: frozenset[int]  # definitions with bodies
    starts: frozenset[int]  # definitions and statements
    opening: frozenset[int]  # braces of bodies
    closing: frozenset[int]


def _marks(file: ast.File) -> _Marks:
    starts: set[int] = {item.span.start for item in file.items}
    opening: set[int] = set()
    closing: set[int] = set()
    motifs = [item for item in file.items if isinstance(item, ast.Motif)]
    pending: list[ast.StatementBlock | ast.If | None] = [motif.body for motif in motifs]
    while pending:
        current = pending.pop()
        if isinstance(current, ast.If):
            pending += [current.yes, current.no]
        elif current is not None:
            opening.add(current.span.start)
            closing.add(current.span.end - 1)
            for statement in current.statements:
                starts.add(statement.span.start)
                if isinstance(statement, ast.For):
                    pending.append(statement.body)
                elif isinstance(statement, ast.If):
                    pending.append(statement)
    separated = frozenset(motif.span.start for motif in motifs)
    return _Marks(separated, frozenset(starts), frozenset(opening), frozenset(closing))


def _lines(tokens: list[FormatToken], marks: _Marks) -> Iterator[_Line]:
    line = _Line(0, [])
    depth = 0
    for i, token in enumerate(tokens):
        previous = tokens[i - 1] if i else None
        ends = token.start in marks.closing
        after_opening = previous is not None and previous.start in marks.opening
        after_closing = previous is not None and previous.start in marks.closing
        empty = ends and after_opening and not token.before and not (previous and previous.after)
        new_line = token.start in marks.starts or ends or after_opening or (after_closing and token.text != "else")
        if new_line and not empty:
            if line.tokens:
                yield line
            for comment, blank in token.before:
                yield _Line(depth, [], comment, blank and not after_opening)
                after_opening = False
            depth -= ends
            blank = token.blank and not after_opening and not ends
            token.before = []
            line = _Line(depth, [], "", blank, token.start in marks.separated, ends and depth == 0)
        elif empty:
            depth -= 1
            line.closing = depth == 0
        line.tokens.append(token)
        depth += token.start in marks.opening
    if line.tokens:
        yield line


def _separate_definitions(lines: list[_Line]) -> None:
    """Add blank lines around definitions with bodies, after imports and after the doc comment of the file."""
    for i, line in enumerate(lines):
        if line.tokens and line.tokens[0].text == "import" and i + 1 < len(lines):
            following = lines[i + 1]
            lines[i + 1].blank |= not (following.tokens and following.tokens[0].text == "import")
        if line.separated:
            first = i
            while first and lines[first - 1].comment and not lines[first].blank:
                first -= 1
            lines[first].blank = True
        if line.closing and i + 1 < len(lines):
            lines[i + 1].blank = True
        if line.comment.startswith("//!") and i + 1 < len(lines) and not lines[i + 1].comment.startswith("//!"):
            lines[i + 1].blank = True


def _aligned(output: list[Row]) -> Iterator[str]:
    """The text of the rows, with the trailing comments of consecutive rows aligned."""
    start = 0
    while start < len(output):
        end = start
        while end < len(output) and output[end].comment and not output[end].comment.count("\n"):
            end += 1
        column = max((len(output[i].code) for i in range(start, end)), default=0)
        for row in output[start : max(end, start + 1)]:
            yield f"{row.code:<{column}}  {row.comment}" if row.comment else row.code.rstrip()
        start = max(end, start + 1)
