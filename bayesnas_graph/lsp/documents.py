"""Texts as an editor has them, saved or not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pygls import uris

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.reading import real_path
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.elaborate import Text


@dataclass(frozen=True, eq=False)
class Document:
    """A text that is open in an editor."""

    uri: str
    source: Source
    path: Path | None = None  # None if it was never saved
    version: int | None = None
    refused: tuple[Diagnostic, ...] = ()  # why it is not read, if so: it is too large, or not valid Unicode

    @property
    def text(self) -> str:
        """The text, whose lines end in a line feed."""
        return self.source.text


def open_document(uri: str, text: str, version: int | None = None) -> Document:
    r"""A document with this text. Positions are the same in all forms of line ends.

    >>> open_document("untitled:one", "in x\r\nout x").text
    'in x\nout x'
    """
    path = path_of(uri)
    name = path.name if path else "text.nas"
    if text.startswith("\ufeff"):
        text = f" {text[1:]}"  # a mark that some editors write; columns stay the same
    try:
        return Document(uri, Text(text, name).source(), path, version)
    except NasError as error:
        return Document(uri, Source(name, ""), path, version, error.diagnostics)


def path_of(uri: str) -> Path | None:
    """The file behind an address; None if it is not a file."""
    if not uri.startswith("file:"):
        return None
    path = uris.to_fs_path(uri)
    return real_path(Path(path)) if path else None


def uri_of(path: Path) -> str:
    """The address of a file."""
    return uris.from_fs_path(str(path)) or path.as_uri()
