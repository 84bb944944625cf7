"""The definition around a position, read on its own: completion cannot wait for a long file to be read again."""

from __future__ import annotations

import re
from functools import cache

from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.elaborate import Module
from bayesnas_graph.language.elaborate.names import check_names
from bayesnas_graph.language.elaborate.occurrences import Occurrences
from bayesnas_graph.language.syntax import parse_incomplete
from bayesnas_graph.language.syntax.deep_stack import deep_stack
from bayesnas_graph.language.syntax.grammar import token_texts
from bayesnas_graph.language.syntax.lexer import DEFINITION_STARTS
from bayesnas_graph.lsp.documents import Document
from bayesnas_graph.lsp.reading import Reading


def window(document: Document, offset: int, last: Reading) -> tuple[Reading, int]:
    """The definition around an offset as a document of its own, and the offset in it.

    The other definitions, and imports, are those of the last reading, which may be of an older text.
    """
    start, end = _bounds(document.text, offset)
    source = Source(document.source.name, document.text[start:end])
    with deep_stack():
        file = parse_incomplete(source)
        own = {**last.module.own, **{definition.name.name: definition for definition in file.definitions}}
        module = Module(file, last.module.path, own, last.module.imported, last.module.aliases)
        occurrences = Occurrences()
        check_names(module, Report(), occurrences)
    names = tuple(sorted(occurrences.names, key=lambda name: name.span.start))
    reading = Reading(
        Document(document.uri, source, None, document.version),
        module,
        names,
        tuple(occurrences.scopes),
        last.checker,
        None,
        last.units,
    )
    return reading, offset - start


def _bounds(text: str, offset: int) -> tuple[int, int]:
    starts = [match.start() for match in _definition_starts().finditer(text)]
    before = [start for start in starts if start <= offset]
    after = [start for start in starts if start > offset]
    return before[-1] if before else 0, after[0] if after else len(text)


@cache
def _definition_starts() -> re.Pattern[str]:
    words = sorted(token_texts()[kind] for kind in {*DEFINITION_STARTS, "LET"})
    return re.compile(rf"^(?:{'|'.join(words)})\b", re.MULTILINE)
