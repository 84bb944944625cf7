"""What differs between the uses of a motif, as its parameters: numbers, and operations."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayesnas_graph.codegen.columns import Column, all_equal, typed
from bayesnas_graph.codegen.unparse.calls import POSITIONAL, CallArgument, call_text, literal
from bayesnas_graph.codegen.unparse.names import unique
from bayesnas_graph.ir import Value

if TYPE_CHECKING:
    from bayesnas_graph.codegen.unparse.definitions import Definition

OPERATION = "edge"  # the name of a parameter that is an operation
INNER = "inner"  # the name of a width that is not that of the output
ORDER = (INNER, *POSITIONAL, OPERATION)
ALWAYS_GIVEN = ("width", "k")  # have no default in a motif: a use is clearer with them


@dataclass(frozen=True, slots=True)
class Applied:
    """A motif with values for its parameters."""

    definition: Definition
    arguments: tuple[Content, ...]


Content = Value | Applied


@dataclass(frozen=True, slots=True)
class OperationArgument:
    """An argument of an operation: its role, its value, and its default."""

    role: str
    value: Content
    default: Value = None


@dataclass(frozen=True, slots=True)
class MotifCall:
    """A motif with texts for its parameters."""

    definition: Definition
    arguments: tuple[Text, ...]


Text = str | MotifCall  # motifs get their names last


@dataclass(frozen=True, slots=True)
class MotifParameter:
    """A parameter of a motif, with its value for every use."""

    name: str
    role: str
    values: tuple[Content, ...]
    default: Value = None

    @property
    def declaration(self) -> str:
        return self.name if self.default is None else f"{self.name} = {literal(self.default)}"

    def argument(self, text: str) -> CallArgument:
        """The argument of a use."""
        default = None if self.default is None else literal(self.default)
        return CallArgument(self.name, text, default, self.role in ORDER)


def written(text: Text) -> str:
    """A text, once motifs have their names."""
    if isinstance(text, str):
        return text
    parameters = text.definition.parameters
    arguments = [parameter.argument(written(each)) for parameter, each in zip(parameters, text.arguments, strict=True)]
    return call_text(text.definition.name, arguments)


@dataclass(frozen=True, slots=True)
class _SharedMotif:
    """A motif that all uses have as an argument, with what they share of its arguments."""

    definition: Definition
    arguments: tuple[_Shared, ...]


_Shared = Value | Column[Content] | _SharedMotif


def motif_parameters(
    rows: Sequence[Sequence[OperationArgument]], taken: Collection[str]
) -> tuple[list[Text], list[MotifParameter]]:
    """The text for each argument in the motif, and the parameters. `rows` has a row for every use.

    Numbers of one role that always agree are one parameter, and a width may be a multiple of another.

    >>> kernel = OperationArgument("k", 3, 3)
    >>> rows = [[OperationArgument("width", w), kernel, OperationArgument("width", 4 * w)] for w in (16, 32)]
    >>> texts, parameters = motif_parameters(rows, ())
    >>> texts, [parameter.name for parameter in parameters]
    (['width', '3', '4 * width'], ['width'])
    """
    columns: dict[object, Column[Content]] = {}
    shared = [_shared(entries, columns) for entries in zip(*rows, strict=True)]
    _derive_widths([column for column in columns.values() if column.role == "width" and _is_positive(column)])
    free = [column for column in columns.values() if column.base is None]
    for column in [column for column in free if column.role == "width"][:-1]:
        column.role = INNER
    names: dict[Column[Content], str] = {}
    for column in free:
        names[column] = unique(column.role, {*taken, *names.values()})
    parameters = [MotifParameter(name, column.role, column.values, _default(column)) for column, name in names.items()]
    return [_text(each, names) for each in shared], sorted(parameters, key=_position)


def _shared(entries: Sequence[OperationArgument], columns: dict[object, Column[Content]]) -> _Shared:
    """What all uses have for an argument: a value, a motif with arguments of its own, or a column of values."""
    first = entries[0]
    values = tuple(entry.value for entry in entries)
    uses = [value for value in values if isinstance(value, Applied)]
    if uses and len(uses) == len(values) and len({use.definition for use in uses}) == 1:
        inner = zip(*(_entries(use) for use in uses), strict=True)
        return _SharedMotif(uses[0].definition, tuple(_shared(each, columns) for each in inner))
    if not isinstance(first.value, Applied) and all_equal(values):
        return first.value
    role = OPERATION if uses else "width" if first.role == INNER else first.role
    return columns.setdefault((role, typed(values)), Column(role, values, first.default))


def _entries(use: Applied) -> list[OperationArgument]:
    pairs = zip(use.definition.parameters, use.arguments, strict=True)
    return [OperationArgument(parameter.role, value, parameter.default) for parameter, value in pairs]


def _derive_widths(columns: list[Column[Content]]) -> None:
    """Compute widths that are multiples of a smaller one from that."""
    bases: list[Column[Content]] = []
    for column in sorted(columns, key=Column.integers):
        for base in bases:
            times = column.integers()[0] // base.integers()[0]
            if column.integers() == [times * value for value in base.integers()]:
                column.base, column.template = base, f"{times} * {{}}"
                break
        else:
            bases.append(column)


def _is_positive(column: Column[Content]) -> bool:
    """Return whether a width can be calculated with; an operation of the user may have any number as its width."""
    return column.is_whole and min(column.integers()) > 0


def _default(column: Column[Content]) -> Value:
    default = column.default
    is_used = any(type(value) is type(default) and value == default for value in column.values)
    return default if is_used and column.role not in ALWAYS_GIVEN and not isinstance(default, Applied) else None


def _position(parameter: MotifParameter) -> tuple[bool, int]:
    return parameter.default is not None, ORDER.index(parameter.role) if parameter.role in ORDER else len(ORDER)


def _text(shared: _Shared, names: dict[Column[Content], str]) -> Text:
    if isinstance(shared, _SharedMotif):
        return MotifCall(shared.definition, tuple(_text(each, names) for each in shared.arguments))
    return str(shared.term(names)) if isinstance(shared, Column) else literal(shared)
