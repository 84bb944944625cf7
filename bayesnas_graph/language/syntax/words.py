"""A text as words: tokens with their comments, cut into definitions.

A definition begins at a word that can begin nothing else, so a mistake in one definition never
hides those that follow, even if a brace is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from lark import Lark, Token

from bayesnas_graph.diagnostics import Diagnostic, Label, Report
from bayesnas_graph.diagnostics.resources import folder
from bayesnas_graph.diagnostics.source import Source, Span
from bayesnas_graph.language.syntax.build import Builder

DEEPEST = 64  # brackets within brackets

_BEGIN_ITEM = {"IMPORT", "SET", "OP", "MOTIF", "CELL", "NETWORK"}
_BEFORE_NAME = {*_BEGIN_ITEM, "NODE", "IN", "LET", "FOR"} - {"IMPORT"}
_OPENING = {"LBRACE": "RBRACE", "LPAR": "RPAR", "LSQB": "RSQB"}
_CLOSING = {closing: opening for opening, closing in _OPENING.items()}
_SILENT = {"SPACE", "COMMENT", "DOC", "FILE_DOC"}


class _KeepErrorWords:
    """Tells lark to keep the terminals that no rule uses: those that stand for mistakes."""

    always_accept = ("OPEN_COMMENT", "OPEN_STRING", "STRAY")

    def process(self, stream: object) -> object:
        return stream


@dataclass(frozen=True)
class Machine:
    """The compiled grammar."""

    lark: Lark
    builder: Builder


@cache
def machine() -> Machine:
    """The grammar, compiled once per process."""
    builder = Builder()
    grammar = (folder("grammars") / "nas.lark").read_text(encoding="utf-8")
    lark = Lark(
        grammar,
        parser="lalr",
        lexer="basic",
        start="item",
        transformer=builder,
        postlex=_KeepErrorWords(),
        keep_all_tokens=True,
        maybe_placeholders=False,
    )
    return Machine(lark, builder)


@cache
def reserved_words() -> frozenset[str]:
    """The words that cannot be names."""
    words = (t.pattern.value for t in machine().lark.terminals if t.pattern.type == "str")
    return frozenset(word for word in words if word.isidentifier()) | {"true", "false"}


def words_of(source: Source) -> list[Token]:
    """Every token of the text, spaces and comments included. Never fails."""
    return list(machine().lark.lex(source.text, dont_ignore=True))


@dataclass(frozen=True, slots=True)
class Definition:
    """The tokens of one definition, without comments, and the documentation before it."""

    words: tuple[Token, ...]
    doc: str

    @property
    def name(self) -> str:
        """What it defines, as far as that can be told without parsing; empty for an import."""
        return str(self.words[1]) if len(self.words) > 1 and self.words[1].type == "NAME" else ""


def definitions_of(source: Source, words: Sequence[Token], report: Report) -> tuple[list[Definition], list[Definition]]:
    """Cut a file into definitions: those that can be read on, and those that cannot.

    What is wrong with single words and with brackets is reported here, for here it is known which
    bracket belongs to which.
    """
    found: list[Definition] = []
    lost: list[Definition] = []
    current: list[Token] = []
    open_brackets: list[Token] = []
    pending: list[Token] = []  # documentation that waits for its definition
    doc = gap = ""
    sound = True

    def close_item() -> None:
        nonlocal sound
        if open_brackets and sound:
            report.add(_never_closed(source, open_brackets[0], current))
            sound = False
        open_brackets.clear()
        if current:
            (found if sound else lost).append(Definition(tuple(current), doc))
        sound = True
        current.clear()

    for word in words:
        if word.type in _SILENT:
            gap += word
            if word.type == "DOC":
                pending.append(word)
            continue
        first = gap.endswith("\n") or not current
        gap = ""
        if _begins_item(word, first, open_brackets, current):
            close_item()
            doc = doc_text(pending)
        pending.clear()
        problem = _problem(source, word, open_brackets)
        if problem is not None:
            # After a word that cannot be read, the rest of this definition means nothing.
            if sound:
                report.add(problem)
            sound = False
        if word.type in _OPENING:
            open_brackets.append(word)
        elif word.type in _CLOSING:
            _close(open_brackets, _CLOSING[word.type])
        current.append(word)
    close_item()
    return found, lost


def _begins_item(word: Token, first: bool, open_brackets: Sequence[Token], current: Sequence[Token]) -> bool:
    """Whether a definition begins here; `first` tells whether the word stands at the very start of a line."""
    if current and current[-1].type in _BEFORE_NAME:
        return False  # `motif set { ... }`: a reserved word where a name belongs
    if word.type in _BEGIN_ITEM:
        return first or not open_brackets  # `f(op, 3)`: likewise
    return word.type == "LET" and not open_brackets


def _close(open_brackets: list[Token], opening: str) -> None:
    """Take the innermost bracket of a kind off the stack, and with it all that were opened after it."""
    for i in reversed(range(len(open_brackets))):
        if open_brackets[i].type == opening:
            del open_brackets[i:]
            return


def doc_text(comments: Sequence[Token]) -> str:
    """The text of documentation comments, markers and common indent removed."""
    return "\n".join(str(comment)[3:].removeprefix(" ").rstrip() for comment in comments).strip()


def _problem(source: Source, word: Token, open_brackets: Sequence[Token]) -> Diagnostic | None:
    span = Span(source, word.start_pos or 0, word.end_pos or 0)
    if word.type == "OPEN_COMMENT":
        here = Label(Span(source, span.start, span.start + 2), "opened here")
        return Diagnostic("NAS006", "comment is never closed", here, help="close it with `*/`, or use `//`")
    if word.type == "OPEN_STRING":
        return Diagnostic(
            "NAS007", "string is never closed", Label(span, "opened here"), help='add the closing `"` on the same line'
        )
    if word.type == "STRAY":
        return _stray(span)
    if word.type in _OPENING and len(open_brackets) >= DEEPEST:
        label = Label(span, f"the {DEEPEST + 1}th bracket within brackets")
        return Diagnostic("NAS404", "text is nested too deeply", label, help="name the inner parts with `let`")
    if word.type in _CLOSING:
        if all(bracket.type != _CLOSING[word.type] for bracket in open_brackets):
            label = Label(span, "closes nothing")
            return Diagnostic("NAS009", f"`{word}` without an opening bracket", label, help="remove it")
        opened = open_brackets[-1]
        if opened.type != _CLOSING[word.type]:
            first = Span(source, opened.start_pos or 0, opened.end_pos or 0)
            return Diagnostic(
                "NAS002",
                f"`{opened}` is never closed",
                Label(first, "opened here"),
                (Label(span, f"`{word}` comes before it is closed"),),
                help=f"add `{_CLOSERS[opened.type]}` before this `{word}`",
            )
    return None


_CLOSERS = {"LBRACE": "}", "LPAR": ")", "LSQB": "]"}
_FOREIGN = {
    "#": "comments begin with `//`",
    ";": "statements need no `;`: one ends where the next begins",
    "'": 'strings are written with `"`',
    "&": "write `and`",
    "!": "write `not`, or `!=` for unequal",
    "→": "write `->`",
    "×": "write `*`",
    "≤": "write `<=`",
    "≥": "write `>=`",
}


def _stray(span: Span) -> Diagnostic:
    character = span.text
    shown = character if character.isprintable() else f"U+{ord(character):04X}"
    label = Label(span, "not part of the language")
    return Diagnostic("NAS008", f"unexpected character `{shown}`", label, help=_FOREIGN.get(character))


def _never_closed(source: Source, bracket: Token, words: Sequence[Token]) -> Diagnostic:
    span = Span(source, bracket.start_pos or 0, bracket.end_pos or 0)
    last = words[-1]
    end = Label(Span(source, last.start_pos or 0, last.end_pos or 0), f"`{words[0]}` ends here, still open")
    secondary = (end,) if last is not bracket else ()
    closer = _CLOSERS[bracket.type]
    return Diagnostic(
        "NAS002",
        f"`{bracket}` is never closed",
        Label(span, "opened here"),
        secondary,
        help=f"add the closing `{closer}`",
    )
