"""The differences between units that are otherwise alike: columns of a table with a row for every unit.

A column becomes a parameter, or is computed from another column. `emit` and `unparse` decide this differently.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Term:
    """A name, and the expression that it is used in: `kernel // 2`.

    >>> str(Term("kernel", "{} // 2")), str(Term("kernel").of_self())
    ('kernel // 2', 'self.kernel')
    """

    name: str
    template: str = "{}"
    is_global: bool = False  # a constant of the file, not an attribute

    def __str__(self) -> str:
        return self.template.format(self.name)

    def of_self(self) -> Term:
        """The same term, read from an attribute."""
        return self if self.is_global else Term(f"self.{self.name}", self.template)


@dataclass(eq=False)
class Column(Generic[V]):
    """Values that differ between units, one for each."""

    role: str
    values: tuple[V, ...]
    default: V | None = None
    base: Column[V] | None = None  # the column that it is computed from, if any
    template: str = "{}"  # of the expression, with a placeholder for the name of `base`

    @property
    def is_whole(self) -> bool:
        """Whether all values are integers, so that arithmetic is possible."""
        return all(type(value) is int for value in self.values)

    def integers(self) -> list[int]:
        """The values of a column that is whole."""
        return [value for value in self.values if isinstance(value, int)]

    def term(self, names: Mapping[Column[V], str]) -> Term:
        """The column in terms of the names of parameters."""
        return Term(names[self.base or self], self.template)


def all_equal(values: Sequence[object]) -> bool:
    """Return whether values are equal, in type too.

    >>> all_equal([1, 1]), all_equal([1, True])
    (True, False)
    """
    return len({typed(value) for value in values}) == 1


def typed(value: object) -> object:
    """A key for a value that differs for `1` and `True`, also inside arrays."""
    return type(value), tuple(map(typed, value)) if isinstance(value, tuple) else value
