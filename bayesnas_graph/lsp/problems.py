"""Diagnostics as the protocol has them, all at places in one document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lsprotocol import types

from bayesnas_graph.diagnostics import Diagnostic, Label
from bayesnas_graph.diagnostics.resources import folder
from bayesnas_graph.diagnostics.source import Source, Span
from bayesnas_graph.lsp.documents import uri_of
from bayesnas_graph.lsp.positions import Positions
from bayesnas_graph.lsp.reading import Reading

SERVER = "bayesnas-graph"
_SEVERITIES = {"error": types.DiagnosticSeverity.Error, "warning": types.DiagnosticSeverity.Warning}


def problems(reading: Reading, diagnostics: Iterable[Diagnostic]) -> list[types.Diagnostic]:
    """The diagnostics of a document. A problem in another file is shown where it is used, or at the import."""
    return [_problem(reading, diagnostic) for diagnostic in diagnostics]


def _problem(reading: Reading, diagnostic: Diagnostic) -> types.Diagnostic:
    labels = [] if diagnostic.primary is None else [diagnostic.primary, *diagnostic.secondary]
    shown = next((label for label in labels if reading.is_here(label.span)), None)
    where = shown.span if shown else _import(reading, labels[0].span) if labels else None
    message = diagnostic.message
    if labels and shown is not labels[0]:
        message = f"in {labels[0].span.source.name}: {message}"
    elif labels and labels[0].text:
        message = f"{message} ({labels[0].text})"
    if diagnostic.help:
        message += f"\nhelp: {diagnostic.help}"
    start = types.Range(types.Position(0, 0), types.Position(0, 0))
    page = types.CodeDescription(uri_of(folder("errors") / f"{diagnostic.code}.md"))
    return types.Diagnostic(
        reading.positions.range(where) if where else start,
        message,
        _SEVERITIES[diagnostic.severity],
        diagnostic.code,
        page,
        SERVER,
        related_information=list(_related(reading, [label for label in labels if label is not shown])),
    )


def _related(reading: Reading, labels: Iterable[Label]) -> Iterator[types.DiagnosticRelatedInformation]:
    for label in labels:
        uri = reading.uri(label.span)
        if uri is not None:
            location = types.Location(uri, range_of(reading, label.span))
            yield types.DiagnosticRelatedInformation(location, label.text or "here")


def range_of(reading: Reading, span: Span) -> types.Range:
    """The range of a span in this document or in another file."""
    here = span.source is reading.document.source
    return (reading.positions if here else Positions(span.source.text, reading.units)).range(span)


def _import(reading: Reading, span: Span) -> Span | None:
    """The import of this document that leads to the file with a span."""
    modules = [(item, imported) for imported, item in reading.module.files]
    seen: set[Source] = set()
    while modules:
        item, module = modules.pop(0)
        if module.file.source is span.source or (module.path is not None and module.path == reading.path(span)):
            return item.path_span
        if module.file.source not in seen:
            seen.add(module.file.source)
            modules += [(item, imported) for imported, _ in module.files]
    return None
