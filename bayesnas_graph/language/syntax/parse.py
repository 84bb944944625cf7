"""Text to syntax tree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lark.exceptions import UnexpectedToken

from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.syntax import ast
from bayesnas_graph.language.syntax.mistakes import diagnose
from bayesnas_graph.language.syntax.words import Definition, definitions_of, doc_text, machine, words_of


def parse(source: Source, report: Report) -> ast.File:
    """The syntax tree of a file. Definitions with mistakes are reported and left out.

    >>> report = Report()
    >>> file = parse(Source("example", "motif twice { in x  x -> out : relu > relu }"), report)
    >>> [d.name.name for d in file.definitions], report.diagnostics
    (['twice'], ())
    """
    words = words_of(source)
    definitions, broken = definitions_of(source, words, report)
    lost = {definition.name for definition in broken}
    items = []
    for definition in definitions:
        item = _item(source, definition, report)
        if item is None:
            lost.add(definition.name)
        else:
            items.append(item)
    doc = doc_text([word for word in words if word.type == "FILE_DOC"])
    return ast.File(source, doc, tuple(items), frozenset(lost))


def _item(source: Source, definition: Definition, report: Report) -> ast.Item | None:
    grammar = machine()
    parser: Any = grammar.lark.parse_interactive("")  # lark leaves some of its methods without types
    words = definition.words
    try:
        with grammar.builder.reading(source):
            for word in words:
                parser.feed_token(word)
            item: ast.Item = parser.feed_eof(words[-1])
    except UnexpectedToken as error:
        position = next((i for i, word in enumerate(words) if word is error.token), len(words))
        expected = {name for name in parser.accepts() if not name.startswith("$")}
        report.add(diagnose(source, words, position, expected))
        return None
    if definition.doc and not isinstance(item, ast.Import):
        return replace(item, doc=definition.doc)
    return item
