"""Parse text into a syntax tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from lark import Token
from lark.exceptions import UnexpectedToken

from bayesnas_graph.diagnostics import Diagnostic, Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.syntax import ast
from bayesnas_graph.language.syntax.grammar import load_grammar
from bayesnas_graph.language.syntax.lexer import DefinitionTokens, doc_text, split_definitions, tokenize
from bayesnas_graph.language.syntax.syntax_errors import diagnose


def parse(source: Source, report: Report, tokens: Iterable[Token] | None = None) -> ast.File:
    """The syntax tree of a file. Definitions with errors are reported and omitted. `tokens` are its tokens, if known.

    >>> report = Report()
    >>> file = parse(Source("example", "motif twice { in x  x -> out : relu > relu }"), report)
    >>> [d.name.name for d in file.definitions], report.diagnostics
    (['twice'], ())
    """
    docs: list[Token] = []
    valid, invalid = split_definitions(
        source, _noting_docs(tokenize(source) if tokens is None else tokens, docs), report
    )
    invalid_names = {definition.name for definition in invalid}
    items = []
    for definition in valid:
        item = _parse_item(source, definition, report)
        if item is None:
            invalid_names.add(definition.name)
        else:
            items.append(item)
    return ast.File(source, doc_text(docs), tuple(items), frozenset(invalid_names))


def _noting_docs(tokens: Iterable[Token], docs: list[Token]) -> Iterator[Token]:
    """Yield the tokens, and collect those that document the file. Comments are not kept: there may be many."""
    for token in tokens:
        if token.type == "FILE_DOC":
            docs.append(token)
        yield token


def _parse_item(source: Source, definition: DefinitionTokens, report: Report) -> ast.Item | None:
    grammar = load_grammar()
    with grammar.builder.reading(source):
        item: ast.Item | None = grammar.tables.parse(definition.tokens)
    if item is None:
        report.add(_syntax_error(source, definition.tokens))
        return None
    if definition.doc and not isinstance(item, ast.Import):
        return replace(item, doc=definition.doc)
    return item


def _syntax_error(source: Source, tokens: tuple[Token, ...]) -> Diagnostic:
    """What is wrong with tokens that are not a definition, by lark, which knows what it expected."""
    grammar = load_grammar()
    parser: Any = grammar.lark.parse_interactive("")  # some methods of lark have no types
    position = len(tokens)
    with grammar.builder.reading(source):
        try:
            for token in tokens:
                parser.feed_token(token)
        except UnexpectedToken as error:
            position = next(i for i, token in enumerate(tokens) if token is error.token)
    expected = {name for name in parser.accepts() if not name.startswith("$")}
    return diagnose(source, tokens, position, expected)
