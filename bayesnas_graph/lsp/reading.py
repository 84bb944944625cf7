"""Read a document: its tree, its names, and what is wrong with them. Networks come later (`networks.py`)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bayesnas_graph.diagnostics import Diagnostic, Report
from bayesnas_graph.diagnostics.source import Source, Span
from bayesnas_graph.language.elaborate import Checker, Module, read
from bayesnas_graph.language.elaborate.files import Loader
from bayesnas_graph.language.elaborate.names import check_names
from bayesnas_graph.language.elaborate.occurrences import Declaration, NamesInScope, Occurrence, Occurrences
from bayesnas_graph.language.syntax import parse_incomplete
from bayesnas_graph.language.syntax.deep_stack import deep_stack
from bayesnas_graph.lsp.documents import Document, uri_of
from bayesnas_graph.lsp.positions import UTF16, Positions

Key = tuple[str | int | Path | None, ...]


@dataclass(frozen=True, eq=False)
class Reading:
    """A document that was read, and the files that it imports."""

    document: Document
    module: Module  # definitions with syntax errors are in it too, as far as they can be read
    names: tuple[Occurrence, ...]  # in the order of the text
    scopes: tuple[NamesInScope, ...]
    checker: Checker  # which has read the files
    checked: Module | None  # the module without the definitions that have syntax errors
    units: str = UTF16

    @cached_property
    def positions(self) -> Positions:
        """Positions in this document."""
        return Positions(self.document.text, self.units)

    @cached_property
    def _starts(self) -> list[int]:
        return [name.span.start for name in self.names]

    def at(self, offset: int) -> Occurrence | None:
        """The name at an offset, or just before it; the shortest if there are several."""
        near = self.names[: bisect_right(self._starts, offset)]
        found = [name for name in near if offset <= name.span.end and name.name]
        inside = [name for name in found if offset < name.span.end]
        return min(inside or found, key=lambda name: name.span.end - name.span.start, default=None)

    def key(self, declaration: Declaration) -> Key:
        """What identifies a declaration in all readings: the file and where it is declared, if it is in a file."""
        span = declaration.span
        if span is None:
            return declaration.role, declaration.owner, declaration.name
        return self.path(span) or self.uri(span), span.start, declaration.name

    def occurrences(self, key: Key) -> list[Occurrence]:
        """The names in this document that stand for a declaration, which may be in another file."""
        return [name for name in self.names if name.declaration and self.key(name.declaration) == key]

    @property
    def is_broken(self) -> bool:
        """Whether it has syntax errors, so that parts of it may not have been read."""
        return self.checked is None or bool(self.checked.file.lost)

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What has been found so far."""
        return (*self.document.refused, *self.checker.report.diagnostics)

    # ---- files

    @cached_property
    def _paths(self) -> dict[Source, Path | None]:
        return {module.file.source: module.path for module in self.files()}

    def files(self) -> Iterator[Module]:
        """The document and all files that it imports, directly or not."""
        found: dict[Source, Module] = {}
        waiting = [self.module, *self.checker.loader]
        while waiting:
            module = waiting.pop()
            if module.file.source not in found:
                found[module.file.source] = module
                waiting += [imported for imported, _ in module.files]
        yield from found.values()

    def path(self, span: Span) -> Path | None:
        """The file that a span is in."""
        return self._paths.get(span.source)

    def is_here(self, span: Span) -> bool:
        """Whether a span is in this document."""
        path = self.document.path
        return span.source is self.document.source or (path is not None and self.path(span) == path)

    def uri(self, span: Span) -> str | None:
        """The address of the file that a span is in."""
        if self.is_here(span):
            return self.document.uri
        path = self.path(span)
        return uri_of(path) if path else None


def read_document(
    document: Document, texts: Mapping[Path, Source], units: str = UTF16, *, allow_python: bool = False
) -> Reading:
    """Read a document and the files that it imports. `texts` are those of open documents, by their paths."""
    source, path = document.source, document.path
    texts = texts if path is None else {**texts, path: source}
    checker = Checker(Report(), allow_python=allow_python, texts=texts)
    checked = checker.text_module(source) if path is None else checker.module(path, source.name)
    with deep_stack():
        module = checked
        if module is None or module.file.lost:
            module = Loader(Report(), texts).tree(parse_incomplete(source, checked.file if checked else None), path)
        occurrences = Occurrences()
        check_names(module, Report(), occurrences)
    names = tuple(sorted(occurrences.names, key=lambda name: name.span.start))
    return Reading(document, module, names, tuple(occurrences.scopes), checker, checked, units)


def read_file(path: Path, texts: Mapping[Path, Source], units: str = UTF16) -> Reading:
    """Read a file that may be open in the editor."""
    source = texts.get(path) or read(path, path.name, Report()) or Source(path.name, "")
    return read_document(Document(uri_of(path), source, path), texts, units)
