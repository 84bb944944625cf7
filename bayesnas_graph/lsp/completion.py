"""Completion: what can be written at a position."""

from __future__ import annotations

from collections.abc import Iterator

from lark import Token
from lsprotocol import types

from bayesnas_graph.diagnostics.resources import shipped_spaces
from bayesnas_graph.ir.ops import PRIMITIVES
from bayesnas_graph.language.elaborate.builtins import BUILTINS
from bayesnas_graph.language.elaborate.library import library
from bayesnas_graph.language.elaborate.occurrences import Declaration
from bayesnas_graph.language.elaborate.statements import QUANTITIES
from bayesnas_graph.language.syntax import ast
from bayesnas_graph.language.syntax.grammar import token_texts
from bayesnas_graph.language.syntax.lexer import BEFORE_NAME, tokenize
from bayesnas_graph.language.syntax.recovery import readable_at
from bayesnas_graph.lsp.calls import call_at
from bayesnas_graph.lsp.describe import describe
from bayesnas_graph.lsp.documents import Document
from bayesnas_graph.lsp.imports import LIBRARY, insert_import
from bayesnas_graph.lsp.markdown import markup, prose
from bayesnas_graph.lsp.positions import Positions
from bayesnas_graph.lsp.reading import Reading
from bayesnas_graph.lsp.window import window

Kind = types.CompletionItemKind
_DECLARING = {*BEFORE_NAME, "AS"}  # after these words a new name is written
_STRINGS = ("STRING", "OPEN_STRING")
_COMMENTS = ("COMMENT", "DOC", "FILE_DOC", "OPEN_COMMENT")
_KINDS = {
    "parameter": Kind.Variable,
    "input": Kind.Variable,
    "node": Kind.Variable,
    "let": Kind.Constant,
    "share": Kind.Function,
    "variable": Kind.Variable,
    "file": Kind.Module,
    "primitive": Kind.Function,
    "function": Kind.Function,
}


def completion(document: Document, last: Reading, position: types.Position) -> list[types.CompletionItem]:
    """What can be written at a position. `last` is the last reading of the document, perhaps of an older text."""
    positions = Positions(document.text, last.units)
    here, offset = window(document, positions.offset(position), last)
    text, start = here.document.text, offset
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1  # of the word that is being written
    tokens = [token for token in tokenize(here.document.source) if (token.start_pos or 0) < start]
    words = [token for token in tokens if token.type != "SPACE"]
    if tokens and _contains(tokens[-1], start):
        if tokens[-1].type not in _STRINGS:
            return []
        is_import = len(words) > 1 and words[-2].type == "IMPORT"
        string_start = positions.offset(position) - offset + (tokens[-1].start_pos or 0) + 1
        written = types.Range(positions.position(string_start), position)
        return [_string(string, written) for string in (_files(last) if is_import else _words(here, offset))]
    previous = words[-1].type if words else ""
    if previous == "DOT":
        return list(_members(here, words[-2] if len(words) > 1 else ""))
    if text[start:offset][:1].isdigit():
        return []
    readable = readable_at(here.document.source, start)
    found = list(_keywords(readable))
    declares = previous in _DECLARING and "NUMBER" not in readable  # `in x`, but not `for i in x`
    if "NAME" in readable and not declares:
        found += _arguments(here, offset)
        found += _budgets() if previous == "REQUIRE" else ()
        found += _names(here, offset)
        found += _library(document, here, positions.units)
    return found


def _contains(token: Token, offset: int) -> bool:
    """Whether an offset is in a string or a comment, or at the end of one that is not closed there."""
    if token.type not in (*_STRINGS, *_COMMENTS):
        return False
    is_open = token.type != "STRING" and not token.endswith("*/")
    return offset < (token.end_pos or 0) or (is_open and offset == token.end_pos)


def _keywords(readable: frozenset[str]) -> Iterator[types.CompletionItem]:
    for kind, text in sorted(token_texts().items()):
        if kind in readable and text.isidentifier():
            yield types.CompletionItem(text, kind=Kind.Keyword, sort_text=f"3{text}")
    if "BOOLEAN" in readable:
        yield from (types.CompletionItem(text, kind=Kind.Keyword, sort_text=f"3{text}") for text in ("false", "true"))


def _names(here: Reading, offset: int) -> Iterator[types.CompletionItem]:
    """All names that are visible: inner ones hide outer ones."""
    module = here.module
    visible: dict[str, Declaration] = {name: Declaration(name, "function") for name in BUILTINS}
    visible |= {name: Declaration(name, "primitive") for name in PRIMITIVES}
    for name in {*module.imported, *module.own}:
        match = module.find(name)
        if match is not None and name:
            visible[name] = Declaration(name, "definition", match[1].name.span, match[1])
    for name, (imported, item) in module.aliases.items():
        visible[name] = Declaration(name, "file", item.span, module=imported)
    local: set[str] = set()
    for scope in here.scopes:  # outer scopes come first
        if scope.span.start <= offset <= scope.span.end:
            for name, declaration in scope.names.items():
                if name and declaration.span is not None and declaration.span.end < offset:
                    visible[name] = declaration
                    local.add(name)
    for name, declaration in visible.items():
        yield _item(declaration, "0" if name in local else "1")


def _item(declaration: Declaration, order: str) -> types.CompletionItem:
    description = describe(declaration)
    return types.CompletionItem(
        declaration.name,
        kind=_kind(declaration),
        detail=description.code,
        documentation=markup(prose(description.doc)) if description.doc else None,
        sort_text=f"{order}{declaration.name}",
    )


def _kind(declaration: Declaration) -> types.CompletionItemKind:
    match declaration.definition:
        case _ if declaration.role != "definition":
            return _KINDS.get(declaration.role, Kind.Text)
        case ast.Motif():
            return Kind.Class
        case ast.SetDefinition():
            return Kind.Enum
        case ast.Let(parameters=None):
            return Kind.Constant
        case _:
            return Kind.Function


def _library(document: Document, here: Reading, units: str) -> Iterator[types.CompletionItem]:
    """The names of the library that are not imported; choosing one also adds the import."""
    module = here.module
    added = insert_import(document, LIBRARY, units)
    for name, definition in library().own.items():
        if module.find(name) is None and document.path != library().path:
            item = _item(Declaration(name, "definition", definition.name.span, definition), "2")
            item.label_details = types.CompletionItemLabelDetails(description=f'import "{LIBRARY}"')
            item.additional_text_edits = [added]
            yield item


def _arguments(here: Reading, offset: int) -> Iterator[types.CompletionItem]:
    """The parameters of the call around the offset that are not given yet."""
    call = call_at(here, offset)
    for name in call.parameters if call else ():
        if call is not None and name not in call.given:
            detail = f"argument of {call.called.name}"
            text, order = f"{name} = ", f"00{name}"
            yield types.CompletionItem(f"{name} =", kind=Kind.Field, detail=detail, insert_text=text, sort_text=order)


def _budgets() -> Iterator[types.CompletionItem]:
    for name in (*QUANTITIES, "edges", *ast.EDGE_FUNCTIONS):
        yield types.CompletionItem(name, kind=Kind.Property, sort_text=f"00{name}")


def _members(here: Reading, owner: str) -> Iterator[types.CompletionItem]:
    alias = here.module.aliases.get(str(owner))
    for name, definition in alias[0].own.items() if alias else ():
        yield _item(Declaration(name, "definition", definition.name.span, definition), "0")


def _string(text: str, written: types.Range) -> types.CompletionItem:
    """A string. All that is written of it is replaced, not only the last word."""
    return types.CompletionItem(text, kind=Kind.Value, text_edit=types.TextEdit(written, text))


def _files(last: Reading) -> list[str]:
    """The files that can be imported."""
    folder = last.document.path.parent if last.document.path else None
    beside = [path.name for path in folder.glob("*.nas")] if folder else []
    return sorted({*beside, *(path.name for path in shipped_spaces())})


def _words(here: Reading, offset: int) -> tuple[str, ...]:
    """The words that the argument around an offset accepts."""
    call = call_at(here, offset)
    return call.words if call else ()
