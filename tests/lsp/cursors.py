"""Texts with a cursor, which is written as `|`."""

from __future__ import annotations

from lsprotocol import types

from bayesnas_graph.lsp.documents import Document, open_document
from bayesnas_graph.lsp.positions import Positions
from bayesnas_graph.lsp.reading import Reading, read_document

URI = "file:///nowhere/example.nas"


def opened(marked: str, uri: str = URI) -> tuple[Reading, types.Position]:
    """The reading of a text without its cursor, and the position of the cursor."""
    before, cursor, after = marked.partition("|")
    assert cursor
    reading = read_document(open_document(uri, before + after), {})
    return reading, reading.positions.position(len(before))


def applied(document: Document, edits: list[types.TextEdit], units: str = "utf-16") -> str:
    """The text of a document after changes, which do not overlap."""
    positions, text = Positions(document.text, units), document.text
    for edit in sorted(edits, key=lambda edit: positions.offset(edit.range.start), reverse=True):
        start, end = positions.offset(edit.range.start), positions.offset(edit.range.end)
        text = text[:start] + edit.new_text + text[end:]
    return text
