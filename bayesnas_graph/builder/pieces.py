"""Parts of a space as Python values: numbers, operations, sets and nodes. Each knows its text in the language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from math import isfinite
from typing import NoReturn, SupportsIndex, TypeVar, overload

from bayesnas_graph.language.elaborate.limits import LARGEST_FILE
from bayesnas_graph.language.elaborate.values import is_string
from bayesnas_graph.language.syntax import reserved_words

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

P = TypeVar("P", bound="Piece")


class Level(IntEnum):
    """What a text is in the grammar; a part of a lower level needs parentheses."""

    CONDITION = 0
    OR = 1
    AND = 2
    NOT = 3
    CHAIN = 4
    SWITCH = 5
    RANGE = 6
    UNION = 7
    SUM = 8
    PRODUCT = 9
    SIGN = 10
    POWER = 11
    PLACE = 12


@dataclass(frozen=True, eq=False)
class Braces:
    """A pair of braces of the text. Names that are declared in it are known only there."""

    of: str  # the definition it is part of


class Named:
    """A definition or an import, which a text that uses it needs."""

    name: str


@dataclass(frozen=True)
class Needs:
    """What a text refers to: definitions and imports, in order, global names, and the scopes of its local names."""

    definitions: tuple[Named, ...] = ()
    names: frozenset[str] = frozenset()
    scopes: frozenset[Braces] = frozenset()

    @staticmethod
    def of(parts: Iterable[Piece]) -> Needs:
        """The needs of several parts together."""
        all_needs = [part.needs for part in parts]
        return Needs(
            tuple(dict.fromkeys(one for needs in all_needs for one in needs.definitions)),
            frozenset().union(*(needs.names for needs in all_needs)),
            frozenset().union(*(needs.scopes for needs in all_needs)),
        )


@dataclass(frozen=True, eq=False)
class Piece:
    """A part of a space, with its text."""

    text: str
    level: Level = Level.PLACE
    needs: Needs = field(default=Needs(), repr=False)

    def __post_init__(self) -> None:
        if len(self.text) > LARGEST_FILE:  # a few doublings may lead to any length
            raise ValueError(f"a part of the space is longer than {LARGEST_FILE:,} characters")

    def within(self, level: Level) -> str:
        """The text where at least this level is needed."""
        return self.text if self.level >= level else f"({self.text})"

    def as_a(self, kind: type[P]) -> P:
        """The same text as a part of another kind."""
        return kind(self.text, self.level, self.needs)

    def __str__(self) -> str:
        return self.text

    def __bool__(self) -> NoReturn:
        message = f"`{self.text}` has no value yet: it is part of the text of the space; use `when` or `g.if_`"
        raise TypeError(message)


# ------------------------------------------------------------------------------------ numbers


@dataclass(frozen=True, eq=False)
class Value(Piece):
    """A number or truth value that depends on parameters: it is computed when the space is loaded."""

    def __add__(self, other: Number) -> Value:
        return _binary(self, "+", other, Level.SUM)

    def __radd__(self, other: Number) -> Value:
        return _binary(other, "+", self, Level.SUM)

    def __sub__(self, other: Number) -> Value:
        return _binary(self, "-", other, Level.SUM)

    def __rsub__(self, other: Number) -> Value:
        return _binary(other, "-", self, Level.SUM)

    def __mul__(self, other: Number) -> Value:
        return _binary(self, "*", other, Level.PRODUCT)

    def __rmul__(self, other: Number) -> Value:
        return _binary(other, "*", self, Level.PRODUCT)

    def __truediv__(self, other: Number) -> Value:
        return _binary(self, "/", other, Level.PRODUCT)

    def __rtruediv__(self, other: Number) -> Value:
        return _binary(other, "/", self, Level.PRODUCT)

    def __floordiv__(self, other: Number) -> Value:
        return call(Value, "floor", self / other)

    def __rfloordiv__(self, other: Number) -> Value:
        return call(Value, "floor", other / self)

    def __mod__(self, other: Number) -> Value:
        return _binary(self, "%", other, Level.PRODUCT)

    def __rmod__(self, other: Number) -> Value:
        return _binary(other, "%", self, Level.PRODUCT)

    def __pow__(self, other: Number) -> Value:
        return _power(self, piece(other))

    def __rpow__(self, other: Number) -> Value:
        return _power(piece(other), self)

    def __neg__(self) -> Value:
        return Value(f"-{self.within(Level.SIGN)}", Level.SIGN, self.needs)

    def __lt__(self, other: Number) -> Value:
        return _compare(self, "<", other)

    def __le__(self, other: Number) -> Value:
        return _compare(self, "<=", other)

    def __gt__(self, other: Number) -> Value:
        return _compare(self, ">", other)

    def __ge__(self, other: Number) -> Value:
        return _compare(self, ">=", other)

    def __eq__(self, other: object) -> Value:  # type: ignore[override]  # a part of the text, like all operators
        return _compare(self, "==", other)

    def __ne__(self, other: object) -> Value:  # type: ignore[override]
        return _compare(self, "!=", other)

    __hash__ = Piece.__hash__

    def __getitem__(self, index: Number) -> Value:
        """An element, if it is an array."""
        return Symbol(f"{self.within(Level.PLACE)}[{piece(index).text}]", Level.PLACE, Needs.of([self, piece(index)]))

    def __iter__(self) -> NoReturn:
        raise TypeError(f"`{self.text}` has no value yet: loop over it with `g.each`")

    def __index__(self) -> NoReturn:
        raise TypeError(f"`{self.text}` has no value yet: loop with `g.range`, not with `range`")


Number = int | float | Fraction | Value


def _binary(left: object, operator: str, right: object, level: Level) -> Value:
    one, two = piece(left), piece(right)
    text = f"{one.within(level)} {operator} {two.within(Level(level + 1))}"
    return Value(text, level, Needs.of([one, two]))


def _compare(left: object, operator: str, right: object) -> Value:
    one, two = piece(left), piece(right)
    text = f"{one.within(Level.SWITCH)} {operator} {two.within(Level.SWITCH)}"
    return Value(text, Level.CHAIN, Needs.of([one, two]))


def _power(base: Piece, exponent: Piece) -> Value:
    text = f"{base.within(Level.PLACE)}^{exponent.within(Level.SIGN)}"
    return Value(text, Level.POWER, Needs.of([base, exponent]))


# --------------------------------------------------------------------------------- operations


@dataclass(frozen=True, eq=False)
class Operation(Piece):
    """An operation, like a module in PyTorch. `a >> b` applies one after another; `a(x)` applies it to a node."""

    steps: tuple[Operation, ...] = field(default=(), repr=False)  # of a chain

    def __rshift__(self, other: Operation) -> Operation:
        return chain(self, other)

    def __mul__(self, times: Number) -> Operation:
        """The operation several times in a row, each with its own weights."""
        number = piece(times)
        text = f"{self.within(Level.PRODUCT)} * {number.within(Level.SIGN)}"
        return Operation(text, Level.PRODUCT, Needs.of([self, number]))

    def __call__(self, *inputs: Node | Nodes) -> Node:
        """Apply it to nodes, as part of an expression."""
        values = inputs
        for step in self.steps or (self,):
            if step.level < Level.PLACE:
                raise TypeError(f"`{step.text}` can only be applied on an edge: use `g.node(name, x, op)`")
            values = (call(Node, step, *values),)
        result = values[0]
        assert isinstance(result, Node), "there is at least one step"
        return result

    def __gt__(self, other: object) -> NoReturn:
        raise TypeError("Python evaluates `a > b > c` as `a > b and b > c`: chain operations with `>>`")


def chain(*operations: Operation) -> Operation:
    """One operation after another, like `nn.Sequential`: `chain(a, b, c)` is `a >> b >> c`."""
    steps = tuple(step for operation in operations for step in (operation.steps or (operation,)))
    if not steps:
        raise TypeError("a chain has at least one operation")
    if len(steps) == 1:
        return steps[0]
    return Operation(" > ".join(step.within(Level.SWITCH) for step in steps), Level.CHAIN, Needs.of(steps), steps)


@dataclass(frozen=True, eq=False)
class Set(Piece):
    """Operations to choose from: `a | b` is a union, `a - b` a difference."""

    def __or__(self, other: Set) -> Set:
        text = f"{self.within(Level.UNION)} | {other.within(Level.SUM)}"
        return Set(text, Level.UNION, Needs.of([self, other]))

    def __sub__(self, other: Set) -> Set:
        text = f"{self.within(Level.SUM)} - {other.within(Level.PRODUCT)}"
        return Set(text, Level.SUM, Needs.of([self, other]))


# -------------------------------------------------------------------------------------- nodes


@dataclass(frozen=True, eq=False)
class Node(Piece):
    """A node of a motif, or the result of an operation."""


@dataclass(frozen=True, eq=False)
class Nodes(Piece):
    """An array of nodes: `h[2]`, `h[-1]`, and `h[:j]` for some of them."""

    size: Number = 0

    @overload
    def __getitem__(self, index: Number) -> Node: ...

    @overload
    def __getitem__(self, index: slice) -> Nodes: ...

    def __getitem__(self, index: Number | slice) -> Node | Nodes:
        if isinstance(index, slice):
            if index.step is not None:
                raise TypeError("a slice of nodes has no step")
            first, end = self._from_end(index.start, 0), self._from_end(index.stop, self.size)
            start, stop = piece(first), piece(end)
            text = f"{start.within(Level.UNION)}..{stop.within(Level.UNION)}"
            return Nodes(f"{self.text}[{text}]", Level.PLACE, Needs.of([self, start, stop]), end - first)
        if isinstance(index, int) and isinstance(self.size, int) and not -self.size <= index < self.size:
            raise IndexError(f"`{self.text}` has {self.size} nodes")
        at = piece(self._from_end(index, 0))
        return Node(f"{self.text}[{at.text}]", Level.PLACE, Needs.of([self, at]))

    def __len__(self) -> int:
        if not isinstance(self.size, int):
            raise TypeError(f"the length of `{self.text}` is not known yet: loop with `g.range`")
        return self.size

    def __iter__(self) -> Iterator[Node]:
        return (self[i] for i in range(len(self)))

    def _from_end(self, index: Number | None, default: Number) -> Number:
        if index is None:
            return default
        return self.size - (-index) if isinstance(index, int) and index < 0 else index


class Symbol(Value, Operation, Set):  # type: ignore[misc]  # numbers are compared, operations are not
    """A parameter or a name for a value, which may be anything that a parameter can be."""

    def __mul__(self, other: Number) -> Symbol:
        return _binary(self, "*", other, Level.PRODUCT).as_a(Symbol)

    def __sub__(self, other: Number | Set) -> Symbol:
        return _binary(self, "-", other, Level.SUM).as_a(Symbol)

    def __call__(self, *arguments: object, **keywords: object) -> Operation | Node:  # type: ignore[override]
        """Apply an operation to nodes, or pass arguments to a motif."""
        if arguments and not keywords and all(isinstance(one, Node | Nodes) for one in arguments):
            return call(Node, self, *arguments)
        return call(Operation, self, *arguments, **keywords)


# ---------------------------------------------------------------------------------- arguments

Argument = Number | str | Piece | Named | Sequence["Argument"]  # what an operation can be given
Pair = Sequence[Number]  # two numbers: for the height and for the width


def call(kind: type[P], function: Piece | str, /, *arguments: object, **keywords: object) -> P:
    """A call in the text: `function(a, b, k = c)`."""
    called = Piece(function, needs=Needs(names=frozenset([function]))) if isinstance(function, str) else function
    given, named = [piece(one) for one in arguments], {name: piece(one) for name, one in keywords.items()}
    shown = [one.text for one in given] + [f"{name} = {one.text}" for name, one in named.items()]
    text = f"{called.within(Level.PLACE)}({', '.join(shown)})"
    return kind(text, Level.PLACE, Needs.of([called, *given, *named.values()]))


def piece(value: object) -> Piece:
    """A Python value as a part of the text. Raises TypeError or ValueError.

    >>> piece([1, 0.25, True]).text
    '[1, 0.25, true]'
    """
    match value:
        case Piece():
            return value
        case Named():
            return Piece(value.name, needs=Needs((value,), frozenset([value.name])))
        case bool():
            return Piece("true" if value else "false")
        case str():
            return _string(value)
        case float():
            return _decimal(value)
        case Fraction() if value.denominator != 1:
            return _binary(value.numerator, "/", value.denominator, Level.PRODUCT)
        case int() | Fraction():
            return Piece(str(value), Level.PLACE if value >= 0 else Level.SIGN)
        case Sequence():
            items = [piece(item) for item in value]
            return Piece(f"[{', '.join(item.text for item in items)}]", needs=Needs.of(items))
    if isinstance(value, SupportsIndex):  # such as an integer of numpy
        return piece(int(value))
    raise TypeError(f"{type(value).__name__} cannot be part of a space: {value!r}")


def _decimal(value: float) -> Piece:
    if not isfinite(value):
        raise ValueError(f"{value} cannot be part of a space")
    text = f"{Decimal(repr(value)):f}".removesuffix(".0")
    return Piece(text, Level.SIGN if text.startswith("-") else Level.PLACE)


def _string(value: str) -> Piece:
    if not is_string(value):
        raise ValueError(f"a string of the language has no quotes and no line breaks: {value!r}")
    return Piece(f'"{value}"')


def check_name(name: str) -> None:
    """Raise ValueError if something cannot have this name in the language."""
    if not _NAME.fullmatch(name) or name in reserved_words():
        raise ValueError(f"`{name}` is not a name in the language")
