"""Adding an import to a text."""

from __future__ import annotations

from lsprotocol import types

from bayesnas_graph.language.syntax.lexer import tokenize
from bayesnas_graph.lsp.documents import Document
from bayesnas_graph.lsp.positions import UTF16, Positions

LIBRARY = "std.nas"
_IN_IMPORTS = ("IMPORT", "STRING", "OPEN_STRING", "AS")


def insert_import(document: Document, file: str, units: str = UTF16) -> types.TextEdit:
    """The change that adds an import: after the last one, or before the first definition and its documentation."""
    text, end, first = document.text, None, None
    previous = ""
    for token in tokenize(document.source):
        if token.type in ("SPACE", "COMMENT", "FILE_DOC"):
            continue
        if token.type not in _IN_IMPORTS and previous != "AS":
            first = token.start_pos
            break
        end, previous = token.end_pos, token.type
    if end is not None:
        line_end = text.find("\n", end)
        at = len(text) if line_end < 0 else line_end
        new = f'\nimport "{file}"'
    else:
        at, new = (len(text), f'\nimport "{file}"\n') if first is None else (first, f'import "{file}"\n\n')
    position = Positions(text, units).position(at)
    return types.TextEdit(types.Range(position, position), new)
