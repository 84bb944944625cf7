"""Units that differ in numbers only become one class, with the numbers that differ as parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from bayesnas_graph.codegen.columns import Term
from bayesnas_graph.codegen.emit.class_names import class_word
from bayesnas_graph.codegen.emit.parameters import ClassParameter, class_parameters
from bayesnas_graph.codegen.names import identifier
from bayesnas_graph.codegen.telling import Arguments, distinguishing
from bayesnas_graph.codegen.units import Item, OpUse, Unit, UnitUse, common_scope
from bayesnas_graph.ir import ModuleCall, NumberArgument, Plain, Scope


@dataclass(eq=False)
class Class:
    """A class of units, represented by the first."""

    name: str = ""
    members: list[Unit] = field(default_factory=list)
    parameters: list[ClassParameter] = field(default_factory=list)
    terms: dict[str, list[Term | None]] = field(default_factory=dict)  # item -> for each number its term, or None
    telling: Arguments = ()  # the arguments that tell it from other classes of the same motif

    @property
    def unit(self) -> Unit:
        return self.members[0]

    @cached_property
    def scope(self) -> Scope:
        """The scope that it is named after, once all members are known."""
        return common_scope(self.members)

    @property
    def words(self) -> list[str]:
        """The names of its inputs, `x` if members do not agree."""
        choices = [set(words) for words in zip(*(unit.words for unit in self.members), strict=True)]
        return [words.pop() if len(words) == 1 else "x" for words in choices]

    @cached_property
    def _positions(self) -> dict[Unit, int]:
        return {unit: i for i, unit in enumerate(self.members)}

    def arguments(self, unit: Unit) -> list[Plain]:
        """The values of the parameters for `unit`."""
        return [parameter.values[self._positions[unit]] for parameter in self.parameters]


class Classes:
    """All classes of a program, each after those it uses."""

    def __init__(self, root: Unit) -> None:
        self.constant = ""  # the name of the constant that widths are written with, if there is one
        self._by_key: dict[object, Class] = {}
        self._of: dict[Unit, Class] = {}
        self._imported = {"nn", "torch", "F", "Tensor", *_imported(root)}
        self._names = {"Motif", *self._imported}  # of classes, and for kinds without letters
        self._classify(root)
        self._tell_apart()
        for cls in self:
            cls.name = self._class_name(class_word(cls.scope.kind, cls.telling))
            self._parametrise(cls)

    def __iter__(self) -> Iterator[Class]:
        yield from self._by_key.values()

    @property
    def names(self) -> frozenset[str]:
        """All names of the file, of classes and imports."""
        return frozenset(self._names)

    def of(self, unit: Unit) -> Class:
        """The class of a unit."""
        return self._of[unit]

    def _classify(self, unit: Unit) -> None:
        for item in unit.items:
            if isinstance(item, UnitUse):
                self._classify(item.unit)
        items = tuple(self._skeleton(item) for item in unit.items)
        key = unit.scope.kind, len(unit.inputs), unit.outputs, len(unit.gates), items
        self._of[unit] = self._by_key.setdefault(key, Class())
        self._of[unit].members.append(unit)

    def _skeleton(self, item: Item) -> object:
        """An item without its numbers."""
        match item:
            case UnitUse(name=name, unit=unit, inputs=inputs, results=results, weights=weights):
                return name, self._of[unit], inputs, results, weights
            case OpUse(name=name, call=call, inputs=inputs, weights=weights):
                return name, call.skeleton, inputs, weights
            case _:
                return item

    def _parametrise(self, cls: Class) -> None:
        table = [[self.numbers(item) for item in unit.items] for unit in cls.members]
        rows = [[number for numbers in row for number in numbers] for row in table]
        terms, cls.parameters = class_parameters(rows, self._imported)
        next_terms = iter(terms)
        for item, numbers in zip(cls.unit.items, table[0], strict=True):
            cls.terms[item.name] = [next(next_terms) for _ in numbers]

    def numbers(self, item: Item) -> Sequence[NumberArgument]:
        """Every number in an item: in its call, or the arguments of its class."""
        match item:
            case UnitUse(unit=unit):
                cls = self._of[unit]
                values = cls.arguments(unit)
                return [NumberArgument(p.role, value) for p, value in zip(cls.parameters, values, strict=True)]
            case OpUse(call=call):
                return call.numbers
            case _:
                return ()

    def _tell_apart(self) -> None:
        """Find the arguments that tell classes of one motif apart."""
        kinds: dict[str, list[Class]] = {}
        for cls in self:
            kinds.setdefault(cls.scope.kind, []).append(cls)
        for alike in kinds.values():
            if len(alike) > 1:
                found = distinguishing([cls.members for cls in alike])
                for cls, arguments in zip(alike, found, strict=True):
                    cls.telling = arguments

    def _class_name(self, word: str) -> str:
        separator = "_" if word[-1:].isdigit() else ""
        word = word if word.isidentifier() and word[0].isalpha() else f"Motif{word}"
        name = identifier(word, self._names, separator)
        self._names.add(name)
        return name


def _imported(unit: Unit) -> Iterator[str]:
    """The names that a file must import for a unit."""
    for item in unit.items:
        if isinstance(item, UnitUse):
            yield from _imported(item.unit)
        elif isinstance(item, OpUse) and isinstance(item.call, ModuleCall):
            yield item.call.constructor.partition(".")[0]
