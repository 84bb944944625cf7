"""The call around a position: what is called, and which of its arguments is being written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass

from bayesnas_graph.ir.ops import PRIMITIVES
from bayesnas_graph.language.elaborate.occurrences import Declaration
from bayesnas_graph.language.syntax import ast
from bayesnas_graph.lsp.reading import Reading


@dataclass(frozen=True, slots=True)
class CallAround:
    """A call whose arguments are around a position."""

    called: Declaration
    argument: str | None  # the parameter that is being given; None if there is none
    given: frozenset[str]  # the parameters that are given by name

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of its parameters; none for a function of the language."""
        return parameters(self.called)

    @property
    def words(self) -> tuple[str, ...]:
        """The strings that can be given here."""
        if self.called.role != "primitive" or self.argument is None:
            return ()
        return PRIMITIVES[self.called.name].arguments()[self.argument].words


def parameters(called: Declaration) -> tuple[str, ...]:
    """The names of the parameters of something that can be called."""
    if called.role == "primitive":
        return tuple(PRIMITIVES[called.name].arguments())
    if called.role in ("definition", "let") and called.definition is not None:
        return tuple(parameter.name.name for parameter in called.definition.parameters or ())
    return ()


def call_at(reading: Reading, offset: int) -> CallAround | None:
    """The innermost call whose parentheses are around an offset, if it is known what is called."""
    around = [call for call in _calls(reading, offset) if call.function.span.end < offset]
    for call in sorted(around, key=lambda call: call.span.end - call.span.start):
        if _is_closed(call) and call.span.end <= offset:
            continue
        name = call.function.name if isinstance(call.function, ast.Member) else call.function
        occurrence = reading.at(name.span.start) if isinstance(name, ast.Reference | ast.Identifier) else None
        if occurrence is None or occurrence.declaration is None:
            return None
        return _described(occurrence.declaration, call, offset)
    return None


def _described(called: Declaration, call: ast.Call, offset: int) -> CallAround:
    given = frozenset(keyword.name.name for keyword in call.keywords)
    for keyword in call.keywords:
        if keyword.span.start <= offset <= keyword.span.end and offset > keyword.name.span.end:
            known = keyword.name.name if keyword.name.name in parameters(called) else None
            return CallAround(called, known, given)
    text = call.span.source.text
    before = sum("," in text[argument.span.end : offset] for argument in call.arguments)
    names = parameters(called)
    return CallAround(called, names[before] if before < len(names) else None, given)


def _is_closed(call: ast.Call) -> bool:
    return call.span.text.endswith(")")


def _calls(reading: Reading, offset: int) -> Iterator[ast.Call]:
    """All calls whose text contains an offset or ends there."""
    waiting: list[object] = [item for item in reading.module.file.items if _touches(item, offset)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call):
            yield node
        waiting += [inner for inner in _children(node) if _touches(inner, offset)]


def _children(node: object) -> Iterator[ast.Syntax]:
    """The nodes directly inside a node of the tree."""
    waiting = [getattr(node, field.name) for field in fields(node)] if is_dataclass(node) else []
    for value in waiting:
        if isinstance(value, ast.Syntax):
            yield value
        elif isinstance(value, tuple):
            waiting.extend(value)


def _touches(node: ast.Syntax, offset: int) -> bool:
    return node.span.start <= offset <= node.span.end
