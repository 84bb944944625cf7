"""Document symbols: the definitions of a text with their inputs, nodes and constants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lsprotocol import types

from bayesnas_graph.language.syntax import ast
from bayesnas_graph.lsp.reading import Reading

Kind = types.SymbolKind
_KINDS = {"motif": Kind.Class, "cell": Kind.Class, "network": Kind.Module}


def document_symbols(reading: Reading) -> list[types.DocumentSymbol]:
    """The definitions of a document, including those with errors, as far as they can be read."""
    return [_definition(reading, definition) for definition in reading.module.file.definitions if definition.name.name]


def _definition(reading: Reading, definition: ast.Definition) -> types.DocumentSymbol:
    match definition:
        case ast.Motif(role=role, body=body):
            return _symbol(reading, definition, definition.name, _KINDS[role], role, _inside(reading, body.statements))
        case ast.SetDefinition():
            return _symbol(reading, definition, definition.name, Kind.Enum, "set")
        case ast.PythonOperation():
            return _symbol(reading, definition, definition.name, Kind.Function, "op")
        case ast.Let(parameters=parameters):
            kind = Kind.Constant if parameters is None else Kind.Function
            return _symbol(reading, definition, definition.name, kind, "let")


def _inside(reading: Reading, statements: Iterable[ast.Statement]) -> Iterator[types.DocumentSymbol]:
    for statement in statements:
        match statement:
            case ast.In(slots=slots) | ast.NodeDeclaration(slots=slots):
                word = "in" if isinstance(statement, ast.In) else "node"
                for slot in slots:
                    kind = Kind.Array if slot.size is not None else Kind.Variable
                    yield _symbol(reading, statement, slot.name, kind, word)
            case ast.Let(name=name, parameters=parameters):
                yield _symbol(reading, statement, name, Kind.Constant if parameters is None else Kind.Function, "let")
            case ast.Share(name=name):
                yield _symbol(reading, statement, name, Kind.Function, "share")
            case ast.For(body=body):
                yield from _inside(reading, body.statements)
            case ast.If():
                yield from _branches(reading, statement)


def _branches(reading: Reading, statement: ast.If) -> Iterator[types.DocumentSymbol]:
    branch: ast.If | ast.StatementBlock | None = statement
    while isinstance(branch, ast.If):
        yield from _inside(reading, branch.yes.statements)
        branch = branch.no
    if branch is not None:
        yield from _inside(reading, branch.statements)


def _symbol(
    reading: Reading,
    node: ast.Syntax,
    name: ast.Identifier,
    kind: types.SymbolKind,
    detail: str,
    children: Iterable[types.DocumentSymbol] = (),
) -> types.DocumentSymbol:
    ranges = reading.positions.range(node.span), reading.positions.range(name.span)
    inside = [child for child in children if child.name]
    return types.DocumentSymbol(name.name, kind, *ranges, detail=detail, children=inside)
