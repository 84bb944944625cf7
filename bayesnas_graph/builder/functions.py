"""Functions that make operations, sets, numbers and types: `choose`, `optional`, `when`, `floor`, `image`, ..."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TypeVar

from bayesnas_graph.builder.pieces import (
    Level,
    Needs,
    Node,
    Nodes,
    Number,
    Operation,
    Piece,
    Set,
    Value,
    call,
    check_name,
    piece,
)

T = TypeVar("T", bound="Operation | Set | Node | Number")

# ------------------------------------------------------------------------------------ choices


def set_of(*operations: Operation, **named: Operation) -> Set:
    """A set of operations to choose from. Keywords are names for candidates."""
    items = [operation.text for operation in operations]
    for name, operation in named.items():
        check_name(name)
        items.append(f"{name} = {operation.text}")
    return Set(f"{{ {', '.join(items)} }}" if items else "{}", needs=Needs.of([*operations, *named.values()]))


def choose(
    *candidates: Operation | Set, limit: Number | None = None, exactly: bool = False, **named: Operation
) -> Operation:
    """All candidates side by side, each with a switch, of which a search keeps any number, or at most `limit`.

    With `exactly`, it keeps `limit` candidates, no fewer. Other keywords are names for candidates.

    >>> from bayesnas_graph.builder import ops
    >>> print(choose(ops.conv(k=3), ops.conv(k=5), limit=1))
    choose 1 { conv(k = 3), conv(k = 5) }
    """
    alone = len(candidates) == 1 and not named  # a parameter, which may be anything, is a set if it is alone
    sets = [one for one in candidates if isinstance(one, Set) and (alone or not isinstance(one, Operation))]
    listed = [one for one in candidates if isinstance(one, Operation) and not (alone and sets)]
    first, *others = [set_of(*listed, **named), *sets] if listed or named or not sets else sets
    united = reduce(or_, others, first)
    options = united.within(Level.UNION)
    if limit is None:
        if exactly:
            raise TypeError("`exactly` needs a `limit`")
        return Operation(f"choose {options}", Level.SWITCH, united.needs)
    number = piece(limit)
    words = f"{number.text} {options}" if isinstance(limit, int) else f"{number.within(Level.UNION)} of {options}"
    return Operation(f"choose {'exactly ' * exactly}{words}", Level.SWITCH, Needs.of([number, united]))


def optional(operation: Operation) -> Operation:
    """An operation that a search may remove."""
    return Operation(f"optional {operation.within(Level.SWITCH)}", Level.SWITCH, operation.needs)


# ------------------------------------------------------------------------------------- values


def when(condition: Value, yes: T, no: T) -> T:
    """One of two values, by a condition that is evaluated when the space is loaded."""
    parts = [condition, piece(yes), piece(no)]
    text = "if {} then {} else {}".format(*(part.text for part in parts))
    kinds = [type(part) for part in parts[1:] if type(part) is not Piece]
    kind: type[Piece] = kinds[0] if kinds else Value
    result: T = kind(text, Level.CONDITION, Needs.of(parts))  # type: ignore[assignment]  # of the kind of both
    return result


def both(*conditions: Value) -> Value:
    """Whether all conditions hold."""
    text = " and ".join(one.within(Level.NOT) for one in conditions)
    return Value(text, Level.AND, Needs.of(conditions))


def either(*conditions: Value) -> Value:
    """Whether one of the conditions holds."""
    text = " or ".join(one.within(Level.AND) for one in conditions)
    return Value(text, Level.OR, Needs.of(conditions))


def negate(condition: Value) -> Value:
    """Whether a condition does not hold."""
    return Value(f"not {condition.within(Level.NOT)}", Level.NOT, condition.needs)


def floor(value: Number) -> Value:
    """The integer below."""
    return call(Value, "floor", value)


def ceil(value: Number) -> Value:
    """The integer above."""
    return call(Value, "ceil", value)


def nearest(value: Number) -> Value:
    """The nearest integer; halves round up."""
    return call(Value, "round", value)


def smallest(*values: Number | Sequence[Number]) -> Value:
    """The smallest of numbers, or of an array."""
    return call(Value, "min", *values)


def largest(*values: Number | Sequence[Number]) -> Value:
    """The largest of numbers, or of an array."""
    return call(Value, "max", *values)


def length(of: Value | Set | Nodes | Node) -> Value:
    """The number of elements of an array or a set, or the length of an input that is a sequence or a vector."""
    return call(Value, "length" if isinstance(of, Node) else "len", of)


def channels(node: Node) -> Value:
    """The number of channels of an input of the motif."""
    return call(Value, "channels", node)


def height(node: Node) -> Value:
    """The height of an input of the motif."""
    return call(Value, "height", node)


def width(node: Node) -> Value:
    """The width of an input of the motif."""
    return call(Value, "width", node)


# -------------------------------------------------------------------------------------- joins


@dataclass(frozen=True)
class Join:
    """A way to join several nodes into one, for `g.node(name, join=concat)` and in expressions: `concat(a, b)`."""

    name: str

    def __call__(self, *nodes: Node | Nodes) -> Node:
        return call(Node, self.name, *nodes)


add, mean, product, concat = Join("sum"), Join("mean"), Join("product"), Join("concat")

# ------------------------------------------------------------------------- types and budgets


@dataclass(frozen=True, eq=False)
class ValueType(Piece):
    """The type of an input or output of a network."""


def image(channels: Number, height: Number, width: Number) -> ValueType:
    """The type of an image."""
    return call(ValueType, "image", channels, height, width)


def sequence(channels: Number, length: Number) -> ValueType:
    """The type of a sequence: channels at every position."""
    return call(ValueType, "sequence", channels, length)


def tokens(length: Number) -> ValueType:
    """The type of tokens: whole numbers, such as the words of a text."""
    return call(ValueType, "tokens", length)


def vector(length: Number) -> ValueType:
    """The type of a vector."""
    return call(ValueType, "vector", length)


def classes(count: Number) -> ValueType:
    """The type of a vector with a score per class."""
    return call(ValueType, "classes", count)


def labels(count: Number) -> ValueType:
    """The type of a vector with a score per label, of which a sample may have several."""
    return call(ValueType, "labels", count)


def label_map(count: Number, height: Number, width: Number) -> ValueType:
    """The type of a class for every pixel."""
    return call(ValueType, "map", count, height, width)


def values(count: Number) -> ValueType:
    """The type of a vector of numbers that are predicted: a regression."""
    return call(ValueType, "values", count)


@dataclass(frozen=True, eq=False)
class Requirement(Piece):
    """A limit on the network that a search finds."""

    def implies(self, other: Requirement) -> Requirement:
        """That the other holds whenever this does: `has_edge(x, h).implies(has_edge(x, g))`."""
        return Requirement(f"{self.text} implies {other.text}", needs=Needs.of([self, other]))


@dataclass(frozen=True, eq=False)
class Quantity(Piece):
    """Something that `g.require` limits: `params < 20_000`."""

    def __eq__(self, bound: object) -> Requirement:  # type: ignore[override]  # a part of the text
        return self._limited("==", bound)

    __hash__ = Piece.__hash__

    def __lt__(self, bound: Number) -> Requirement:
        return self._limited("<", bound)

    def __le__(self, bound: Number) -> Requirement:
        return self._limited("<=", bound)

    def __gt__(self, bound: Number) -> Requirement:
        return self._limited(">", bound)

    def __ge__(self, bound: Number) -> Requirement:
        return self._limited(">=", bound)

    def _limited(self, comparison: str, bound: object) -> Requirement:
        limit = piece(bound)
        text = limit.text
        for suffix, unit in (("M", 10**6), ("K", 10**3)):
            if isinstance(bound, int) and bound and bound % unit == 0:
                text = f"{bound // unit}{suffix}"
                break
        return Requirement(f"{self.text} {comparison} {text}", needs=Needs.of([self, limit]))


params, flops, memory, edges = (Quantity(name) for name in ("params", "flops", "memory", "edges"))


def inputs(node: Node) -> Quantity:
    """The number of edges into a node that a search keeps: `g.require(inputs(h) == 2)`."""
    return call(Quantity, "inputs", node)


def has_edge(source: Node, target: Node) -> Requirement:
    """That a search keeps the edge between two nodes."""
    return call(Requirement, "edge", source, target)
