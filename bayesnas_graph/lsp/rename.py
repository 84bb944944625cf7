"""Rename: everything that stands for the same thing, or a reason why not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from lsprotocol import types

from bayesnas_graph.diagnostics.resources import folder
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.elaborate.occurrences import Occurrence
from bayesnas_graph.language.syntax import reserved_words
from bayesnas_graph.language.syntax.lexer import tokenize
from bayesnas_graph.lsp.documents import Document
from bayesnas_graph.lsp.reading import Reading, read_document

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
LONGEST_NAME = 200


class CannotRename(Exception):
    """A name cannot be changed. The text states why."""


def renamable(reading: Reading, position: types.Position) -> types.Range:
    """The range of the name at a position. Raises CannotRename."""
    return reading.positions.range(_found(reading, position).span)


def rename(
    reading: Reading, position: types.Position, new: str, others: Callable[[], Iterable[Reading]] = tuple
) -> types.WorkspaceEdit:
    """The changes that rename what is at a position, in this document and in others. Raises CannotRename.

    `others` are documents that may use the same name. The changed texts are read again: a new name must not
    change what any name stands for.
    """
    name = _found(reading, position)
    assert name.declaration is not None, "otherwise it was not found"
    if not NAME.fullmatch(new) or len(new) > LONGEST_NAME:
        raise CannotRename("names consist of letters, digits and `_`, and do not start with a digit")
    if new in reserved_words():
        raise CannotRename(f"`{new}` is a reserved word")
    key = reading.key(name.declaration)
    readings = [reading, *others()]
    changed = {other: uses for other in readings if (uses := other.occurrences(key))}
    for other in changed:
        _check_all_read(other, name.name)
    if name.declaration.role == "parameter":
        _check_unknown_calls(readings, name.name)
    _check_meaning(changed, new)
    edits = {
        other.document.uri: [types.TextEdit(other.positions.range(use.span), new) for use in uses]
        for other, uses in changed.items()
    }
    return types.WorkspaceEdit(edits)


def _found(reading: Reading, position: types.Position) -> Occurrence:
    name = reading.at(reading.positions.offset(position))
    if name is None:
        raise CannotRename("there is no name here")
    declaration = name.declaration
    if declaration is None:
        raise CannotRename(f"`{name.name}` is not defined")
    reasons = {
        "primitive": f"`{name.name}` is a primitive",
        "function": f"`{name.name}` is a function of the language",
        "argument": f"`{name.name}` is an argument of the primitive `{declaration.owner}`",
    }
    if declaration.role in reasons:
        raise CannotRename(reasons[declaration.role])
    if declaration.role == "file" and name.span.text != name.name:
        raise CannotRename("files are not renamed")
    path = reading.path(declaration.span) if declaration.span else None
    if path is not None and path.parent == folder("spaces").resolve() and path != reading.document.path:
        raise CannotRename(f"`{name.name}` is defined in the shipped library")
    return name


def _check_all_read(reading: Reading, name: str) -> None:
    """The name may be in a part of the text that could not be read."""
    if not reading.is_broken:
        return
    read = {use.span.start for use in reading.names}
    for token in tokenize(reading.document.source):
        if token == name and token.type == "NAME" and token.start_pos not in read:
            line = reading.document.source.position(token.start_pos or 0)[0]
            raise CannotRename(f"line {line} has a syntax error, and `{name}` in it")


def _check_unknown_calls(readings: Iterable[Reading], parameter: str) -> None:
    """A call of something that is only known when it is evaluated may pass this parameter by its name."""
    for reading in readings:
        for use in reading.names:
            if use.name == parameter and use.declaration is None:
                line = use.span.source.position(use.span.start)[0]
                where = f"line {line} of {reading.document.source.name}"
                raise CannotRename(f"`{parameter}` on {where} may be this parameter: it is not known what is called")


def _check_meaning(changed: dict[Reading, list[Occurrence]], new: str) -> None:
    """Raise CannotRename if a name in a changed text would stand for something else, or be defined twice."""
    documents = {reading: _renamed(reading.document, uses, new) for reading, uses in changed.items()}
    texts: dict[Path, Source] = {d.path: d.source for d in documents.values() if d.path is not None}
    for reading, document in documents.items():
        known = reading.checker.loader.texts
        before = read_document(reading.document, known, reading.units)
        after = read_document(document, {**known, **texts}, reading.units)
        if len(after.diagnostics()) > len(before.diagnostics()):
            raise CannotRename(f"`{new}` is already used: {after.diagnostics()[0].message}")
        if _groups(before) != _groups(after):
            raise CannotRename(f"`{new}` already stands for something else here")


def _renamed(document: Document, uses: Sequence[Occurrence], new: str) -> Document:
    text, end = [], 0
    for use in uses:
        text += [document.text[end : use.span.start], new]
        end = use.span.end
    source = Source(document.source.name, "".join([*text, document.text[end:]]))
    return Document(document.uri, source, document.path, document.version)


def _groups(reading: Reading) -> list[int]:
    """Which names stand for the same thing: for each, the index of the first of its group."""
    first: dict[object, int] = {}
    keys = [reading.key(name.declaration) if name.declaration else name.name for name in reading.names]
    return [first.setdefault(key, i) for i, key in enumerate(keys)]
