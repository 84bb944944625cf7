"""What differs between the uses of a motif, as its parameters: numbers, and operations."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayesnas_graph.codegen.unparse.calls import POSITIONAL, Given, called, literal
from bayesnas_graph.codegen.unparse.names import unique
from bayesnas_graph.ir import Value

if TYPE_CHECKING:
    from bayesnas_graph.codegen.unparse.definitions import Definition

OPERATION = "edge"  # what a parameter is called that is an operation
INNER = "inner"  # what a width is called that is not that of the output
ORDER = (INNER, *POSITIONAL, OPERATION)
TOLD = ("width", "k")  # have no default in a motif: a use is clearer with them


@dataclass(frozen=True, slots=True)
class Applied:
    """A motif with values for its parameters."""

    definition: Definition
    arguments: tuple[Value | Applied, ...]


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of an operation: what it is, its value, and what it is if left out."""

    role: str
    value: Value | Applied
    default: Value = None


@dataclass(frozen=True, slots=True)
class Call:
    """A motif with texts for its parameters."""

    definition: Definition
    arguments: tuple[Text, ...]


Text = str | Call  # motifs get their names in the end


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a motif, with its value for every use."""

    name: str
    role: str
    values: tuple[Value | Applied, ...]
    default: Value = None

    @property
    def declaration(self) -> str:
        return self.name if self.default is None else f"{self.name} = {literal(self.default)}"

    def given(self, text: str) -> Given:
        """The argument of a use."""
        default = None if self.default is None else literal(self.default)
        return Given(self.name, text, default, self.role in ORDER)


def written(text: Text) -> str:
    """A text, once motifs have their names."""
    if isinstance(text, str):
        return text
    parameters = text.definition.parameters
    given = [parameter.given(written(each)) for parameter, each in zip(parameters, text.arguments, strict=True)]
    return called(text.definition.name, given)


@dataclass(eq=False)
class _Column:
    """An argument that differs between uses; a width may be told by another, `times` as large."""

    role: str
    values: tuple[Value | Applied, ...]
    default: Value
    base: _Column | None = None
    times: int = 1


_Told = Value | _Column | tuple["Definition", tuple["_Told", ...]]


def parametrise(rows: Sequence[Sequence[Argument]], taken: Collection[str]) -> tuple[list[Text], list[Parameter]]:
    """What stands for each argument in the motif, and the parameters. `rows` has a row for every use.

    Numbers of one kind that always agree are one parameter, and a width may be a multiple of another.

    >>> rows = [[Argument("width", w), Argument("k", 3, 3), Argument("width", 4 * w)] for w in (16, 32)]
    >>> texts, parameters = parametrise(rows, ())
    >>> texts, [parameter.name for parameter in parameters]
    (['width', '3', '4 * width'], ['width'])
    """
    columns: dict[object, _Column] = {}
    told = [_told(entries, columns) for entries in zip(*rows, strict=True)]
    found = list(columns.values())
    _tell_widths([column for column in found if column.role == "width" and _is_whole(column.values)])
    told_columns = [column for column in found if column.base is None]
    for column in [column for column in told_columns if column.role == "width"][:-1]:
        column.role = INNER
    names: dict[_Column, str] = {}
    for column in told_columns:
        names[column] = unique(column.role, {*taken, *names.values()})
    parameters = [Parameter(name, column.role, column.values, _default(column)) for column, name in names.items()]
    return [_text(each, names) for each in told], sorted(parameters, key=_place)


def _told(entries: Sequence[Argument], columns: dict[object, _Column]) -> _Told:
    """What an argument is for all uses: a value, a motif with arguments of its own, or a column of values."""
    first = entries[0]
    values = tuple(argument.value for argument in entries)
    uses = [value for value in values if isinstance(value, Applied)]
    if uses and len(uses) == len(values) and len({use.definition for use in uses}) == 1:
        inner = zip(*(_arguments(use) for use in uses), strict=True)
        return uses[0].definition, tuple(_told(each, columns) for each in inner)
    kinds = tuple(map(type, values))
    if len(set(zip(kinds, values, strict=True))) == 1 and not isinstance(first.value, Applied):
        return first.value
    role = OPERATION if uses else "width" if first.role == INNER else first.role
    return columns.setdefault((role, kinds, values), _Column(role, values, first.default))


def _arguments(use: Applied) -> list[Argument]:
    pairs = zip(use.definition.parameters, use.arguments, strict=True)
    return [Argument(parameter.role, value, parameter.default) for parameter, value in pairs]


def _tell_widths(columns: list[_Column]) -> None:
    """The smallest widths are told, and others by them."""
    told: list[_Column] = []
    for column in sorted(columns, key=lambda column: _whole(column.values)):
        for base in told:
            times = _whole(column.values)[0] // _whole(base.values)[0]
            if _whole(column.values) == [times * value for value in _whole(base.values)]:
                column.base, column.times = base, times
                break
        else:
            told.append(column)


def _is_whole(values: Sequence[Value | Applied]) -> bool:
    """Whether values can be calculated with; an operation of the user's may have any number as its width."""
    return all(type(value) is int and value > 0 for value in values)


def _whole(values: Sequence[Value | Applied]) -> list[int]:
    return [value for value in values if isinstance(value, int)]


def _default(column: _Column) -> Value:
    is_used = any(type(value) is type(column.default) and value == column.default for value in column.values)
    return column.default if is_used and column.role not in TOLD else None


def _place(parameter: Parameter) -> tuple[bool, int]:
    return parameter.default is not None, ORDER.index(parameter.role) if parameter.role in ORDER else len(ORDER)


def _text(told: _Told, names: dict[_Column, str]) -> Text:
    if isinstance(told, tuple):
        return Call(told[0], tuple(_text(each, names) for each in told[1]))
    if not isinstance(told, _Column):
        return literal(told)
    return names[told] if told.base is None else f"{told.times} * {names[told.base]}"
