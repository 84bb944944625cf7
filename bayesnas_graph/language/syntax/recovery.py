"""Read a text with syntax errors as far as possible, for editors.

Text that is being written is incomplete most of the time. What is missing is inserted: names without letters, and
closing brackets. Where that does not help, a statement is skipped. Nothing is reported: `parse` does that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from lark import Token
from lark.exceptions import UnexpectedToken
from lark.parsers.lalr_analysis import Shift

from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.syntax import ast
from bayesnas_graph.language.syntax.grammar import load_grammar
from bayesnas_graph.language.syntax.lexer import (
    CLOSERS,
    CLOSING,
    DEFINITION_STARTS,
    DefinitionTokens,
    split_definitions,
    tokenize,
)
from bayesnas_graph.language.syntax.parser import parse

MISSING_NAME = ""  # the name that is inserted where one is missing
_STATEMENT = "NODE"  # where this can be read, a statement starts
_END = "$END"
_UNREADABLE = {"STRAY", "OPEN_COMMENT"}
_CLOSES = {opening: closing for closing, opening in CLOSING.items()}


def parse_incomplete(source: Source, parsed: ast.File | None = None) -> ast.File:
    """The syntax tree of a text that may have errors; `lost` has the names of definitions that could not be read.

    If the text has been parsed before, only the definitions with errors are read again.

    >>> file = parse_incomplete(Source("example", "motif m { in x  node h = x : conv(3, "))
    >>> [(d.name.name, len(d.body.statements)) for d in file.definitions]
    [('m', 2)]
    """
    parsed = parsed or parse(source, Report())
    read = {item.span.start: item for item in parsed.items}
    valid, invalid = split_definitions(source, tokenize(source), Report())
    invalid = [part for definition in invalid for part in _split_at_lets(source, definition)]
    items: list[ast.Item] = []
    lost: set[str] = set()
    for definition in sorted([*valid, *invalid], key=lambda definition: definition.tokens[0].start_pos or 0):
        item = read.get(definition.tokens[0].start_pos or 0) or _Recovery(source, definition).item()
        if item is None:
            lost.add(definition.name)
        else:
            items.append(item)
    return ast.File(source, parsed.doc, tuple(items), frozenset(lost))


def _split_at_lets(source: Source, definition: DefinitionTokens) -> Iterator[DefinitionTokens]:
    """Split a definition without a body at every `let` that starts a line: its brackets may not be closed yet."""
    tokens, start = definition.tokens, 0
    if tokens[0].type in ("SET", "LET", "OP", "IMPORT"):
        for i, token in enumerate(tokens):
            if i > start and token.type == "LET" and source.text[: token.start_pos].endswith("\n"):
                yield DefinitionTokens(tokens[start:i], definition.doc if start == 0 else "")
                start = i
    yield DefinitionTokens(tokens[start:], definition.doc if start == 0 else "")


def readable_at(source: Source, offset: int) -> frozenset[str]:
    """The types of the tokens that can come next at an offset, given the text before it.

    >>> source = Source("example", "motif m { in x  x -> ")
    >>> sorted(readable_at(source, len(source.text)))
    ['NAME', 'OUT']
    """
    before = [token for token in tokenize(source) if (token.end_pos or 0) <= offset]
    valid, invalid = split_definitions(source, before, Report())
    definitions = sorted([*valid, *invalid], key=lambda definition: definition.tokens[0].start_pos or 0)
    starts = frozenset({*DEFINITION_STARTS, "LET"})
    return _Recovery(source, definitions[-1]).readable(starts) if definitions else starts


class _Recovery:
    """Reads one definition with errors."""

    def __init__(self, source: Source, definition: DefinitionTokens) -> None:
        self.source = source
        self.definition = definition
        self.grammar = load_grammar()
        parser: Any = self.grammar.lark.parse_interactive("")  # some methods of lark have no types
        self.state: Any = parser.parser_state
        self.table: dict[Any, dict[str, tuple[Any, Any]]] = self.state.parse_conf.states
        self.opened: list[tuple[int, str]] = []  # open brackets: the height of the stack before each, and its type

    def item(self) -> ast.Item | None:
        """The definition; None if there is nothing to save."""
        with self.grammar.builder.reading(self.source):
            try:
                item = self._read()
            except UnexpectedToken:
                return None
        if item is not None and self.definition.doc and not isinstance(item, ast.Import):
            return replace(item, doc=self.definition.doc)
        return item

    def readable(self, starts: frozenset[str]) -> frozenset[str]:
        """The types of the tokens that can come after this definition; `starts` can if it is complete."""
        with self.grammar.builder.reading(self.source):
            if not self._feed_all():
                return frozenset()
        kinds = {terminal.name for terminal in self.grammar.lark.terminals}
        return frozenset(filter(lambda kind: self._can_read([kind]), kinds)) | (
            starts if self._can_read([_END]) else frozenset()
        )

    def _read(self) -> ast.Item | None:
        if not self._feed_all():
            return None
        end = Token(_END, "", start_pos=self._end(), end_pos=self._end())
        if not self._complete_before(end):
            self._drop_statement()
            if not self._complete_before(end):
                return None
        item: ast.Item | None = self.state.feed_token(end, True)
        return item

    def _feed_all(self) -> bool:
        """Read the tokens; return whether there is something to save."""
        tokens = iter(self._readable())
        for token in tokens:
            if not self._complete_before(token):
                if self._can_read([_END]):
                    break  # the definition is complete, and something follows
                if not self._can_read([_STATEMENT]) and not self._drop_statement():
                    return self._missing(_END) is not None
                next_start = self._skip(token, tokens)
                if next_start is None:
                    break
                token = next_start
            self._feed(token)
        return True

    def _readable(self) -> Iterator[Token]:
        for token in self.definition.tokens:
            if token.type == "OPEN_STRING":
                yield Token("STRING", f'{token}"', start_pos=token.start_pos, end_pos=token.end_pos)
            elif token.type not in _UNREADABLE:
                yield token

    def _end(self) -> int:
        """Where the text of the definition ends: before the next one, comments and spaces included."""
        last = self.definition.tokens[-1].end_pos or 0
        text = self.source.text
        while last < len(text) and text[last].isspace():
            last += 1
        return last

    # ---- insertions

    def _complete_before(self, token: Token) -> bool:
        """Insert what is missing before a token; return whether it can be read then."""
        missing = self._missing(token.type)
        if missing is None:
            return False
        for kind in missing:
            text = MISSING_NAME if kind == "NAME" else CLOSERS[self.opened[-1][1]]
            self._feed(Token(kind, text, start_pos=token.start_pos, end_pos=token.start_pos))
        return True

    def _missing(self, wanted: str) -> list[str] | None:
        """The types of the fewest tokens to insert before one of type `wanted`; None if that does not help."""
        closers = [_CLOSES[kind] for _, kind in reversed(self.opened)]
        for count in range(len(closers) + 1):
            for names in ([], ["NAME"]):
                if self._can_read([*names, *closers[:count], wanted]):
                    return [*names, *closers[:count]]
        return None

    def _can_read(self, kinds: Sequence[str]) -> bool:
        """Whether tokens of these types can be read next. Only states are simulated: no nodes are built."""
        states = list(self.state.state_stack)
        for kind in kinds:
            while True:
                action, argument = self.table[states[-1]].get(kind, (None, None))
                if action is None:
                    return False
                if action is Shift:
                    states.append(argument)
                    break
                if argument.expansion:
                    del states[-len(argument.expansion) :]
                states.append(self.table[states[-1]][argument.origin.name][1])
                if kind == _END and states[-1] == self.state.parse_conf.end_state:
                    return True
        return True

    def _feed(self, token: Token) -> None:
        self.state.feed_token(token)
        if token.type in CLOSERS:
            self.opened.append((len(self.state.state_stack) - 1, token.type))
        elif token.type in CLOSING and self.opened:
            self.opened.pop()

    # ---- skipping

    def _drop_statement(self) -> bool:
        """Forget the statement being read; return whether there is one."""
        states = self.state.state_stack
        for height in range(len(states), 0, -1):
            action, _ = self.table[states[height - 1]].get(_STATEMENT, (None, None))
            if action is Shift:
                del states[height:]
                del self.state.value_stack[height - 1 :]
                self.opened = [bracket for bracket in self.opened if bracket[0] < height]
                return True
        return False

    def _skip(self, token: Token, tokens: Iterator[Token]) -> Token | None:
        """The next token that starts a statement or ends the body; None if there is none."""
        depth = 0  # of brackets in the skipped text
        following: Token | None = token
        while following is not None:
            if depth == 0 and self._can_read([following.type]) and self._starts(following):
                return following
            if following.type in CLOSERS:
                depth += 1
            elif following.type in CLOSING:
                depth = max(0, depth - 1)
            following = next(tokens, None)
        return None

    def _starts(self, token: Token) -> bool:
        """Whether a token starts a statement: most keywords do, and what is at the start of a line."""
        if token.type not in ("NAME", "OUT", "IF", "IN"):
            return True
        start = token.start_pos or 0
        return not self.source.text[self.source.text.rfind("\n", 0, start) + 1 : start].strip()
