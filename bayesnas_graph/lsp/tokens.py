"""Semantic tokens: the words of a text by what they are, more than a grammar of an editor can know."""

from __future__ import annotations

from collections.abc import Iterator

from lark import Token
from lsprotocol import types

from bayesnas_graph.language.elaborate.occurrences import Declaration
from bayesnas_graph.language.syntax import ast
from bayesnas_graph.language.syntax.grammar import token_texts
from bayesnas_graph.language.syntax.lexer import tokenize
from bayesnas_graph.lsp.reading import Reading

Type = types.SemanticTokenTypes
Modifier = types.SemanticTokenModifiers

_TYPES = (Type.Keyword, Type.Comment, Type.String, Type.Number, Type.Operator, Type.Function, Type.Class, Type.Enum)
_MORE_TYPES = (Type.Variable, Type.Parameter, Type.Namespace, Type.Property)
_MODIFIERS = (Modifier.Declaration, Modifier.DefaultLibrary, Modifier.Readonly, Modifier.Documentation)
LEGEND = types.SemanticTokensLegend(
    [kind.value for kind in (*_TYPES, *_MORE_TYPES)], [modifier.value for modifier in _MODIFIERS]
)

_BY_TOKEN = {
    **dict.fromkeys(("COMMENT", "DOC", "FILE_DOC", "OPEN_COMMENT"), Type.Comment),
    **dict.fromkeys(("STRING", "OPEN_STRING"), Type.String),
    **dict.fromkeys(("COMPARE", "SIGN", "TIMES", "ARROW", "DOTDOT"), Type.Operator),
    "NUMBER": Type.Number,
    "BOOLEAN": Type.Keyword,
}
_BY_ROLE = {
    "parameter": Type.Parameter,
    "argument": Type.Parameter,
    "input": Type.Variable,
    "node": Type.Variable,
    "share": Type.Function,
    "variable": Type.Variable,
    "file": Type.Namespace,
    "primitive": Type.Function,
    "function": Type.Function,
    "candidate": Type.Property,
}


def semantic_tokens(reading: Reading) -> types.SemanticTokens:
    """All tokens of a document."""
    data: list[int] = []
    line = column = 0
    for at, length, kind, modifiers in _tokens(reading):
        start = at.character - (column if at.line == line else 0)
        data += [at.line - line, start, length, LEGEND.token_types.index(kind.value), modifiers]
        line, column = at.line, at.character
    return types.SemanticTokens(data)


def _tokens(reading: Reading) -> Iterator[tuple[types.Position, int, types.SemanticTokenTypes, int]]:
    """The position, the length, the type and the modifiers of every token; none of them is on several lines."""
    names = {(name.span.start, name.span.end): name for name in reading.names if name.name}
    positions = reading.positions
    for token in tokenize(reading.document.source):
        start, end = token.start_pos or 0, token.end_pos or 0
        name = names.get((start, end)) if token.type == "NAME" else None
        declaration = name.declaration if name else None
        kind = _role(declaration) if declaration else _kind(token)
        if kind is None:
            continue
        modifiers = _modifiers(token, declaration, (start, end))
        while start < end:  # a comment may be on several lines
            line_end = reading.document.text.find("\n", start, end)
            part_end = line_end if line_end >= 0 else end
            first, last = positions.position(start), positions.position(part_end)
            if last.character > first.character:
                yield first, last.character - first.character, kind, modifiers
            start = part_end + 1


def _kind(token: Token) -> types.SemanticTokenTypes | None:
    if token_texts().get(token.type, "").isidentifier():
        return Type.Keyword
    return _BY_TOKEN.get(token.type)


def _role(declaration: Declaration) -> types.SemanticTokenTypes:
    match declaration.definition:
        case _ if declaration.role not in ("definition", "let"):
            return _BY_ROLE[declaration.role]
        case ast.Motif():
            return Type.Class
        case ast.SetDefinition():
            return Type.Enum
        case ast.Let(parameters=None):
            return Type.Variable
        case _:
            return Type.Function


def _modifiers(token: Token, declaration: Declaration | None, place: tuple[int, int]) -> int:
    found: list[types.SemanticTokenModifiers] = []
    if token.type in ("DOC", "FILE_DOC"):
        found.append(Modifier.Documentation)
    if declaration is not None:
        if declaration.span is not None and (declaration.span.start, declaration.span.end) == place:
            found.append(Modifier.Declaration)
        if declaration.role in ("primitive", "function", "argument"):
            found.append(Modifier.DefaultLibrary)
        if isinstance(declaration.definition, ast.Let) and declaration.definition.parameters is None:
            found.append(Modifier.Readonly)
    return sum(1 << LEGEND.token_modifiers.index(modifier.value) for modifier in found)
