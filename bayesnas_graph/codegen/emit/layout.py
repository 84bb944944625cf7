"""The layout of a class for printing: its items with their loops, and the Python names of everything in them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from bayesnas_graph.codegen.emit.classes import Class, Classes
from bayesnas_graph.codegen.emit.loops import Repeat, rolled
from bayesnas_graph.codegen.names import RESERVED, array, identifier, plural, shared
from bayesnas_graph.codegen.units import Item, OpUse, Split, UnitUse
from bayesnas_graph.ir import Expression, ModuleCall, Scope


class ClassLayout:
    """How a class is printed. `names` has a unique Python name for every value, submodule and list."""

    def __init__(self, classes: Classes, cls: Class) -> None:
        self.classes = classes
        self.cls = cls
        self.unit = cls.unit
        self.items = list(rolled(self.unit, self._alike))
        self.attributes = self._attributes()
        self.names: dict[str, str] = {}
        self._taken = {*RESERVED, *self.attributes, *self._helpers(), classes.constant}
        self._taken_or_list = set(self._taken)
        for name, word in zip(self.unit.inputs, cls.words, strict=True):
            self._name(name, word, "")
        for use in self.unit.items:
            if isinstance(use, OpUse | UnitUse) and use.weights:
                self._name(attribute(use), use.weights)
        for item in self.items:
            if isinstance(item, Repeat):
                self._name_repeat(item)
            else:
                self._name_item(item)

    @cached_property
    def paths(self) -> dict[str, str]:
        """The path of the module of every item, from an instance of the class."""
        paths = {}
        for item in self.items:
            if isinstance(item, Repeat):
                paths.update({use.name: f"{self.names[item.name]}.{i}" for i, use in enumerate(item.uses)})
            elif isinstance(item, UnitUse) or (isinstance(item, OpUse) and isinstance(item.call, ModuleCall)):
                paths[item.name] = self.names[attribute(item)]
        return paths

    def _alike(self, before: Item, after: Item) -> bool:
        """Return whether two items may be in one loop: uses of one motif or array, or the same expression."""
        if isinstance(before, UnitUse) and isinstance(after, UnitUse):
            arrays = array(before.name), array(after.name)
            if arrays[0] and arrays[1] and arrays[0][0] == arrays[1][0]:
                return True
            classes = self.classes.of(before.unit), self.classes.of(after.unit)
            is_motif = classes[0].scope.role != "choice"
            return classes[0] is classes[1] or (is_motif and classes[0].scope.kind == classes[1].scope.kind)
        if isinstance(before, OpUse) and isinstance(after, OpUse):
            return before.call == after.call and self.cls.terms[before.name] == self.cls.terms[after.name]
        return True

    def _attributes(self) -> set[str]:
        """The parameters that expressions read, which are therefore attributes too."""
        return {
            term.name for name, _ in self._expressions() for term in self.cls.terms[name] if term and not term.is_global
        }

    def _helpers(self) -> set[str]:
        return {call.helper for _, call in self._expressions() if call.helper}

    def _expressions(self) -> Iterator[tuple[str, Expression]]:
        for item in self.unit.items:
            if isinstance(item, OpUse) and isinstance(item.call, Expression):
                yield item.name, item.call

    def _name(self, name: str, word: str, separator: str = "_") -> None:
        """Name something that may be an attribute, a variable, or both."""
        if name not in self.names:
            self.names[name] = self._reserve(identifier(word, self._taken_or_list, separator))

    def _name_variable(self, name: str, word: str) -> None:
        """Name something that is only a variable, which may have the name of a list."""
        self.names[name] = self._reserve(identifier(word, self._taken))

    def _reserve(self, name: str) -> str:
        self._taken.add(name)
        self._taken_or_list.add(name)
        return name

    def _name_item(self, item: Item) -> None:
        for name in (item.name, *(item.results if isinstance(item, UnitUse) else ())):
            self._name(name, name)
        if isinstance(item, Split):
            self.names.update({part: f"{self.names[item.name]}[{i}]" for i, part in enumerate(item.results)})

    def _name_repeat(self, repeat: Repeat) -> None:
        names = [use.name for use in repeat.uses]
        scopes = [self.classes.of(use.unit).scope for use in repeat.uses]
        word = shared(names)
        word = word if all(map(array, names)) and word else plural(word or scopes[0].kind)
        self.names[repeat.name] = identifier(word, self._taken_or_list)
        self._taken_or_list.add(self.names[repeat.name])
        if repeat.is_chain:
            self._name(repeat.results[0], repeat.results[0])
            return
        self._name_state(repeat)
        self._name_variable(f"{repeat.name}each", _one_of(scopes))
        if repeat.gate is not None:
            self._name_variable(f"{repeat.name}gate", "gate")
        for item in repeat.body[:-1]:
            for name in item.results if isinstance(item, UnitUse) else (item.name,):
                self._name_variable(name, shared([name]) or "value")

    def _name_state(self, repeat: Repeat) -> None:
        word = shared(repeat.carried) or "state"
        if len(repeat.state) > 1:
            for i, name in enumerate(repeat.state):
                self._name_variable(name, f"{word}{i}")
        elif repeat.start[0] in self.unit.inputs and self._readers(repeat.start[0]) == 1:
            self.names[repeat.state[0]] = self.names[repeat.start[0]]
        else:
            self._name_variable(repeat.state[0], word)
        for name, state in zip(repeat.results, repeat.state, strict=True):
            self.names[name] = self.names[state]

    def _readers(self, value: str) -> int:
        return sum(item.inputs.count(value) for item in self.items) + self.unit.outputs.count(value)


def attribute(item: Item | Repeat) -> str:
    """The key of the name of an item's module: its own, or that of the weights it shares, which no value has."""
    return f"{item.weights}:weights" if isinstance(item, OpUse | UnitUse) and item.weights else item.name


def _one_of(scopes: list[Scope]) -> str:
    """The name of one module of a list."""
    if all(scope.role in ("cell", "choice") and scope.role == scopes[0].role for scope in scopes):
        return scopes[0].role
    word = scopes[0].kind.rpartition("_")[2]
    return word if word.isalpha() and all(scope.kind == scopes[0].kind for scope in scopes) else "block"
