"""Formatting, with the formatter of the project."""

from __future__ import annotations

from lsprotocol import types

from bayesnas_graph.diagnostics import Report
from bayesnas_graph.language.syntax import format_source
from bayesnas_graph.language.syntax.deep_stack import deep_stack
from bayesnas_graph.lsp.documents import Document
from bayesnas_graph.lsp.positions import UTF16, Positions


def formatting(document: Document, units: str = UTF16) -> list[types.TextEdit]:
    """The change that formats a document, as short as possible; nothing if it has syntax errors."""
    with deep_stack():
        after = None if document.refused else format_source(document.source, Report())
    before = document.text
    if after is None or after == before:
        return []
    start = _common(before, after)
    same = _common(before[start:][::-1], after[start:][::-1])  # at the end
    positions = Positions(before, units)
    changed = types.Range(positions.position(start), positions.position(len(before) - same))
    return [types.TextEdit(changed, after[start : len(after) - same])]


def _common(one: str, other: str) -> int:
    """The number of characters that two texts have in common at their start."""
    shortest = min(len(one), len(other))
    return next((i for i in range(shortest) if one[i] != other[i]), shortest)
