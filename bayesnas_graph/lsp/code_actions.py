"""Code actions: changes that fix a problem, where the diagnostic has one."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from bayesnas_graph.diagnostics import Diagnostic
from bayesnas_graph.language.elaborate.library import library_names
from bayesnas_graph.lsp.imports import LIBRARY, insert_import
from bayesnas_graph.lsp.problems import problems
from bayesnas_graph.lsp.reading import Reading


def code_actions(reading: Reading, wanted: types.Range) -> list[types.CodeAction]:
    """The fixes for the problems in a range."""
    return list(_actions(reading, wanted))


def _actions(reading: Reading, wanted: types.Range) -> Iterator[types.CodeAction]:
    start, end = reading.positions.offset(wanted.start), reading.positions.offset(wanted.end)
    for diagnostic in reading.diagnostics():
        fix = diagnostic.fix
        if fix is None or not reading.is_here(fix.span) or fix.span.end < start or end < fix.span.start:
            continue
        edit = types.TextEdit(reading.positions.range(fix.span), fix.text)
        yield _action(reading, diagnostic, f"replace by `{fix.text}`", edit)
    for name in reading.names:
        is_near = name.span.start <= end and start <= name.span.end
        if is_near and name.declaration is None and name.name in library_names():
            added = insert_import(reading.document, LIBRARY, reading.units)
            unknown = next((d for d in reading.diagnostics() if d.primary and d.primary.span == name.span), None)
            yield _action(reading, unknown, f'import "{LIBRARY}"', added)
            return


def _action(reading: Reading, diagnostic: Diagnostic | None, title: str, edit: types.TextEdit) -> types.CodeAction:
    return types.CodeAction(
        title,
        types.CodeActionKind.QuickFix,
        problems(reading, [diagnostic] if diagnostic else []),
        is_preferred=True,
        edit=types.WorkspaceEdit({reading.document.uri: [edit]}),
    )
