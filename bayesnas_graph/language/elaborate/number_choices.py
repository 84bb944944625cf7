"""Choices of numbers: `let w = choose { 8, 16 }` is one of them, and `2 * w` is twice that one.

A number is chosen once each time the text around its `choose` is run: once in a file, once in each use of a motif (uses
of a cell share it), once in each iteration of a loop. Everything computed from it depends on the same choice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.language.elaborate.decimals import decimal

Number = int | Fraction


class NumberOwner:
    """Where numbers are chosen: a file, or one expansion of a motif. It counts and names them."""

    def __init__(self, *, is_file: bool = False) -> None:
        self.is_file = is_file
        self._count = 0
        self._names: dict[int, str] = {}
        self._taken: set[str] = set()
        self._adopted: dict[int, int] = {}

    def new(self) -> int:
        """The position of another number."""
        self._count += 1
        return self._count - 1

    def adopted(self, position: int) -> int:
        """The position of a number that was at this position of `Pending`."""
        if position not in self._adopted:
            self._adopted[position] = self.new()
        return self._adopted[position]

    def call(self, position: int, name: str) -> None:
        """Name a number, unless it has a name; a number is appended to a name that is taken."""
        if position in self._names:
            return
        unique, i = name, 1
        while unique in self._taken:
            i += 1
            unique = f"{name}_{i}"
        self._taken.add(unique)
        self._names[position] = unique

    def name(self, position: int) -> str:
        """The name of a number."""
        return self._names.get(position, "number")


class Pending(NumberOwner):
    """The owner of numbers in defaults of parameters, until the use that they belong to is expanded.

    Those of one motif are equal: uses with the same arguments are expanded once.
    """

    def __init__(self, definition: object) -> None:
        super().__init__()
        self.definition = definition

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pending) and self.definition is other.definition

    def __hash__(self) -> int:
        return hash((Pending, id(self.definition)))


@dataclass(frozen=True, slots=True)
class NumberChoice:
    """A number to choose: exactly one of its options."""

    owner: NumberOwner
    position: int  # among the numbers of its owner
    options: tuple[Number, ...]
    span: Span = field(compare=False, repr=False)

    @property
    def name(self) -> str:
        """Its name: that of its `let`, or of the parameter it is passed to."""
        return self.owner.name(self.position)

    def __len__(self) -> int:
        return len(self.options)

    def text(self, option: int) -> str:
        """An option as it would be written."""
        number = self.options[option]
        return decimal(number) or str(number)

    def label(self, option: int) -> str:
        """An option as part of a name."""
        return self.text(option).replace(".", "_").replace("/", "_").replace("-", "minus_")


@dataclass(frozen=True, slots=True)
class Chosen:
    """A number that depends on a choice: one value for each option."""

    choice: NumberChoice
    values: tuple[Number, ...]

    def __str__(self) -> str:
        return f"choose {{{', '.join(decimal(value) or str(value) for value in self.values)}}}"
