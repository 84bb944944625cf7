"""What the server knows: the open documents, and what was found out about each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock

from bayesnas_graph.diagnostics import Diagnostic
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.lsp.documents import Document, open_document
from bayesnas_graph.lsp.networks import Elaboration, elaborate
from bayesnas_graph.lsp.positions import UTF16
from bayesnas_graph.lsp.reading import Reading, read_document, read_file

MOST_FILES = 300  # of a folder that are searched for uses of a name


@dataclass
class OpenDocument:
    """A document, and what was found out about its text so far."""

    document: Document
    reading: Reading | None = None  # of this text
    elaboration: Elaboration | None = None  # of this text
    last: Reading | None = None  # the last reading, perhaps of an older text
    outdated: Event = field(default_factory=Event)  # set when there is a newer text
    lock: Lock = field(default_factory=Lock)  # held while it is read


class Session:
    """The documents that are open in the editor. Its methods can be called in any thread."""

    def __init__(self, *, allow_python: bool = False) -> None:
        self.allow_python = allow_python
        self.units = UTF16
        self.folders: tuple[Path, ...] = ()
        self._open: dict[str, OpenDocument] = {}

    def __contains__(self, uri: str) -> bool:
        return uri in self._open

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._open))

    def change(self, uri: str, text: str, version: int | None = None) -> None:
        """Note the text of a document, which is opened if it is not. The work for an older text ends."""
        self._renew(open_document(uri, text, version))
        for other in self.importers(uri):
            self.refresh(other)

    def refresh(self, uri: str) -> None:
        """Forget what was found out about a document: a file that it imports has changed."""
        self._renew(self._open[uri].document)

    def _renew(self, document: Document) -> None:
        before = self._open.get(document.uri)
        if before is not None:
            before.outdated.set()
        last = (before.reading or before.last) if before else None
        self._open[document.uri] = OpenDocument(document, last=last)

    def close(self, uri: str) -> None:
        """Forget a document."""
        closed = self._open.pop(uri, None)
        if closed is not None:
            closed.outdated.set()

    def close_all(self) -> None:
        """End all work."""
        for uri in self:
            self.close(uri)

    def document(self, uri: str) -> Document:
        """An open document; an empty one if it is not open."""
        return self._open[uri].document if uri in self._open else open_document(uri, "")

    def texts(self) -> dict[Path, Source]:
        """The texts of open documents, by the paths of their files."""
        documents = [opened.document for opened in tuple(self._open.values())]
        return {document.path: document.source for document in documents if document.path is not None}

    def reading(self, uri: str) -> Reading:
        """The reading of the current text of a document."""
        opened = self._open.get(uri) or OpenDocument(open_document(uri, ""))
        with opened.lock:
            if opened.reading is None:
                opened.reading = opened.last = self._read(opened.document)
            return opened.reading

    def last_reading(self, uri: str) -> Reading:
        """The last reading of a document, perhaps of an older text: it is there at once unless there is none."""
        opened = self._open.get(uri)
        return (opened.reading or opened.last if opened else None) or self.reading(uri)

    def elaboration(self, uri: str) -> Elaboration | None:
        """The networks of the current text of a document, if they are known already."""
        opened = self._open.get(uri)
        return opened.elaboration if opened else None

    def check(self, uri: str) -> tuple[Reading, tuple[Diagnostic, ...]] | None:
        """Check a document completely; None if it was closed or changed in the meantime."""
        opened = self._open.get(uri)
        if opened is None:
            return None
        reading = self.reading(uri)
        elaboration = elaborate(reading, opened.outdated.is_set)
        if not elaboration.complete or self._open.get(uri) is not opened:
            return None
        opened.elaboration = elaboration
        return reading, reading.diagnostics()

    def importers(self, uri: str) -> list[str]:
        """The open documents that import another."""
        path = self.document(uri).path
        return [other for other, opened in self._open.items() if other != uri and self._imports(opened, path)]

    def related(self, uri: str) -> list[Reading]:
        """Other documents and files that may use names of a document: those that are open or in an open folder."""
        paths = {path for folder in self.folders for path in _nas_files(folder)}
        here = self.document(uri).path
        if here is not None:
            paths |= set(_nas_files(here.parent, deep=False))
        opened = {self.document(other).path: other for other in self}
        readings = [self.reading(other) for other in self if other != uri]
        closed = sorted(paths - opened.keys() - {here})[:MOST_FILES]
        return readings + [read_file(path, self.texts(), self.units) for path in closed]

    def _read(self, document: Document) -> Reading:
        return read_document(document, self.texts(), self.units, allow_python=self.allow_python)

    @staticmethod
    def _imports(opened: OpenDocument, path: Path | None) -> bool:
        reading = opened.reading or opened.last
        return reading is not None and path is not None and any(module.path == path for module in reading.files())


def _nas_files(folder: Path, *, deep: bool = True) -> list[Path]:
    try:
        found = folder.rglob("*.nas") if deep else folder.glob("*.nas")
        return sorted(path.resolve() for _, path in zip(range(MOST_FILES), found, strict=False))
    except OSError:
        return []
