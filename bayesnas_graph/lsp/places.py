"""Where things are: definitions, and all places where a name is used."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from bayesnas_graph.lsp.documents import uri_of
from bayesnas_graph.lsp.problems import range_of
from bayesnas_graph.lsp.reading import Reading

START = types.Range(types.Position(0, 0), types.Position(0, 0))


def definition(reading: Reading, position: types.Position) -> types.Location | None:
    """Where the name at a position is declared; for an import, the file. None for what is part of the language."""
    name = reading.at(reading.positions.offset(position))
    declaration = name.declaration if name else None
    if declaration is None:
        return None
    if declaration.role == "file":
        path = declaration.module.path if declaration.module else None
        return types.Location(uri_of(path), START) if path else None
    uri = reading.uri(declaration.span) if declaration.span else None
    if uri is None or declaration.span is None:
        return None
    return types.Location(uri, range_of(reading, declaration.span))


def references(
    reading: Reading, position: types.Position, others: Iterable[Reading] = (), *, declaration: bool = True
) -> list[types.Location]:
    """All uses of the name at a position, in this document and in others; with its declaration, if asked for."""
    name = reading.at(reading.positions.offset(position))
    if name is None or name.declaration is None:
        return []
    key = reading.key(name.declaration)
    found: list[types.Location] = []
    for other in (reading, *others):
        for use in other.occurrences(key):
            is_declaration = use.declaration is not None and use.span == use.declaration.span
            if declaration or not is_declaration:
                found.append(types.Location(other.document.uri, other.positions.range(use.span)))
    return found
