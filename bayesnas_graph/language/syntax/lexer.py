"""Split a text into tokens, and the tokens into definitions.

A definition starts at a keyword that cannot occur anywhere else, so an error in one definition never
hides the ones after it, even if a brace is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lark import Token

from bayesnas_graph.diagnostics import Diagnostic, Label, Report
from bayesnas_graph.diagnostics.source import Source, Span
from bayesnas_graph.language.syntax.grammar import scanner

MAX_NESTING = 64  # open brackets

DEFINITION_STARTS = {"IMPORT", "SET", "OP", "MOTIF", "CELL", "NETWORK"}
BEFORE_NAME = {*DEFINITION_STARTS, "NODE", "IN", "LET", "SHARE", "FOR"} - {"IMPORT"}
_IN_STATEMENTS = {"ARROW", "NODE", "LET", "SHARE", "REQUIRE", "ASSERT"}  # and not in expressions
_BEFORE_SET = ("CHOOSE", "EQUAL", "COLON", "COMMA", "VBAR", "SIGN", "LPAR", "COMPARE")
CLOSING = {"RBRACE": "LBRACE", "RPAR": "LPAR", "RSQB": "LSQB"}  # what each bracket closes
CLOSERS = {"LBRACE": "}", "LPAR": ")", "LSQB": "]"}  # the text that closes each bracket
_OPENER_TEXT = {"RBRACE": "{", "RPAR": "(", "RSQB": "["}
_IGNORED = {"SPACE", "COMMENT", "DOC", "FILE_DOC"}
_CHECKED = {"OPEN_COMMENT", "OPEN_STRING", "STRAY", *CLOSING, *CLOSERS}  # tokens that may be wrong by themselves
_REPLACEMENTS = {
    "#": "comments start with `//`",
    ";": "statements are not separated by `;`",
    "'": 'strings are written with `"`',
    "&": "write `and`",
    "!": "write `not`, or `!=` to compare",
    "→": "write `->`",
    "×": "write `*`",
    "≤": "write `<=`",
    "≥": "write `>=`",
}


def tokenize(source: Source) -> Iterator[Token]:
    """Yield all tokens of the text, including spaces and comments. Never fails."""
    pattern, exceptions = scanner().pattern, scanner().exceptions
    none: Mapping[str, str] = {}
    new = str.__new__  # lark's lexer and constructor take three times as long
    for match in pattern.finditer(source.text):  # it matches any character, so there are no gaps
        text, kind = match[0], match.lastgroup or ""
        token = new(Token, text)
        token.type = exceptions.get(kind, none).get(text, kind)
        token.value = text
        token.start_pos, token.end_pos = match.span()
        yield token


@dataclass(frozen=True, slots=True)
class DefinitionTokens:
    """The tokens of one definition, without comments, and the doc comment before it."""

    tokens: tuple[Token, ...]
    doc: str

    @property
    def name(self) -> str:
        """The defined name, if it can be read without parsing; empty for an import."""
        return str(self.tokens[1]) if len(self.tokens) > 1 and self.tokens[1].type == "NAME" else ""


def split_definitions(
    source: Source, tokens: Iterable[Token], report: Report
) -> tuple[list[DefinitionTokens], list[DefinitionTokens]]:
    """Split a file into definitions with valid tokens and brackets, and invalid ones, which are reported."""
    valid: list[DefinitionTokens] = []
    invalid: list[DefinitionTokens] = []
    current: list[Token] = []
    open_brackets: list[Token] = []
    pending_doc: list[Token] = []
    doc = ""
    gap: str = ""  # the last space or comment before a token
    failed = False
    sets: set[int | None] = set()  # where braces start sets, not bodies

    def end_definition() -> None:
        nonlocal failed
        if open_brackets and not failed:
            report.add(_never_closed(source, open_brackets[0], current))
            failed = True
        open_brackets.clear()
        if current:
            (invalid if failed else valid).append(DefinitionTokens(tuple(current), doc))
        failed = False
        current.clear()

    for token in tokens:
        if token.type in _IGNORED:
            gap = token
            if token.type == "DOC":
                pending_doc.append(token)
            continue
        starts_line = gap.endswith("\n") or not current
        new_line = "\n" in gap
        gap = ""
        if _starts_definition(token, starts_line, open_brackets, current):
            end_definition()
            doc = doc_text(pending_doc)
        pending_doc.clear()
        problem: Diagnostic | None = None
        if token.type in _CHECKED:
            last = current[-1] if current and new_line else None
            problem = _token_error(source, token, open_brackets, last)
        elif token.type in _IN_STATEMENTS and open_brackets and not failed and (token.type == "ARROW" or new_line):
            opened = open_brackets[-1]
            if opened.type != "LBRACE" or opened.start_pos in sets:
                problem = _statement_inside(source, token, opened, current)
        if problem is not None:
            if not failed:  # report only the first error of a definition
                report.add(problem)
            failed = True
        if token.type in CLOSERS:
            open_brackets.append(token)
            if token.type == "LBRACE" and _starts_set(current):
                sets.add(token.start_pos)
        elif token.type in CLOSING:
            _close(open_brackets, CLOSING[token.type])
        current.append(token)
    end_definition()
    return valid, invalid


def _starts_definition(
    token: Token, starts_line: bool, open_brackets: Sequence[Token], current: Sequence[Token]
) -> bool:
    """Whether a definition starts at this token; `starts_line`: it is in the first column of a line."""
    if current and current[-1].type in BEFORE_NAME:
        return False  # `motif set { ... }`: a reserved word used as a name
    if token.type in DEFINITION_STARTS:
        return starts_line or not open_brackets  # not in `f(op, 3)`
    return token.type == "LET" and not open_brackets


def _close(open_brackets: list[Token], opening: str) -> None:
    """Remove the innermost open bracket of a kind, and all that were opened after it."""
    for i in reversed(range(len(open_brackets))):
        if open_brackets[i].type == opening:
            del open_brackets[i:]
            return


def doc_text(comments: Sequence[Token]) -> str:
    """The text of doc comments, without markers and common indentation."""
    return "\n".join(str(comment)[3:].removeprefix(" ").rstrip() for comment in comments).strip()


# ------------------------------------------------------------------------------------ errors


def _span(source: Source, token: Token) -> Span:
    return Span(source, token.start_pos or 0, token.end_pos or 0)


def _token_error(source: Source, token: Token, open_brackets: Sequence[Token], last: Token | None) -> Diagnostic | None:
    """What is wrong with a token, given the brackets that are open before it.

    `last` is the token before it if that is on another line.
    """
    span = _span(source, token)
    if token.type == "OPEN_COMMENT":
        start = Label(Span(source, span.start, span.start + 2), "opened here")
        return Diagnostic("NAS006", "comment is never closed", start, help="close it with `*/`, or use `//`")
    if token.type == "OPEN_STRING":
        help = 'add the closing `"` on the same line'
        return Diagnostic("NAS007", "string is never closed", Label(span, "opened here"), help=help)
    if token.type == "STRAY":
        shown = token if token.isprintable() else f"U+{ord(token):04X}"
        label = Label(span, "not part of the language")
        return Diagnostic("NAS008", f"invalid character `{shown}`", label, help=_REPLACEMENTS.get(token))
    if token.type in CLOSERS and len(open_brackets) >= MAX_NESTING:
        label = Label(span, f"more than {MAX_NESTING} open brackets")
        return Diagnostic("NAS404", "brackets are nested too deeply", label, help="name the inner parts with `let`")
    if token.type in CLOSING:
        if all(bracket.type != CLOSING[token.type] for bracket in open_brackets):
            label = Label(span, f"no matching `{_OPENER_TEXT[token.type]}`")
            return Diagnostic("NAS009", f"unmatched `{token}`", label, help="remove it")
        opened = open_brackets[-1]
        if opened.type != CLOSING[token.type]:
            closer = CLOSERS[opened.type]
            here = Label(span, f"expected `{closer}` before this")
            return _unclosed(source, opened, here if last is None else _after(source, last, closer))
    return None


def _statement_inside(source: Source, token: Token, opened: Token, tokens: Sequence[Token]) -> Diagnostic | None:
    """A bracket that is open before a token that can only be in the next statement."""
    end = len(tokens)  # of the statement with the bracket
    if token.type == "ARROW":
        while end > 1 and "\n" not in source.text[tokens[end - 2].end_pos : tokens[end - 1].start_pos]:
            end -= 1
        end -= 1
    if end < 1 or _span(source, tokens[end - 1]).start < _span(source, opened).start:
        return None
    return _unclosed(source, opened, _after(source, tokens[end - 1], CLOSERS[opened.type]))


def _after(source: Source, token: Token, closer: str) -> Label:
    end = token.end_pos or 0
    return Label(Span(source, end, end + 1), f"expected `{closer}` here")


def _unclosed(source: Source, opened: Token, expected: Label) -> Diagnostic:
    message, help = f"`{opened}` is never closed", f"add the closing `{CLOSERS[opened.type]}`"
    return Diagnostic("NAS002", message, Label(_span(source, opened), "opened here"), (expected,), help)


def _starts_set(before: Sequence[Token]) -> bool:
    """Return whether a brace after these tokens starts a set, not a body."""
    types = [token.type for token in before[-2:]]
    return types == ["CHOOSE", "NUMBER"] or (bool(types) and types[-1] in _BEFORE_SET)


def _never_closed(source: Source, bracket: Token, tokens: Sequence[Token]) -> Diagnostic:
    """A bracket that is still open at the end of its definition."""
    end = Label(_span(source, tokens[-1]), f"still open at the end of `{tokens[0]}`")
    return Diagnostic(
        "NAS002",
        f"`{bracket}` is never closed",
        Label(_span(source, bracket), "opened here"),
        (end,) if tokens[-1] is not bracket else (),
        help=f"add the closing `{CLOSERS[bracket.type]}`",
    )
