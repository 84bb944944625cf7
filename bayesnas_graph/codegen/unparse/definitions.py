"""Units that differ in numbers, or in what stands at one or two places, are one motif with parameters for these."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bayesnas_graph.codegen.emit.units import Compute, Item, Unit, Use
from bayesnas_graph.codegen.unparse.calls import arguments, called, default_of
from bayesnas_graph.codegen.unparse.names import defined_words, unique
from bayesnas_graph.codegen.unparse.parameters import (
    OPERATION,
    Applied,
    Argument,
    Parameter,
    Text,
    parametrise,
    written,
)
from bayesnas_graph.codegen.unparse.python import PythonOps
from bayesnas_graph.codegen.unparse.structure import op_kind
from bayesnas_graph.ir import Scope

# Parameters that a reader can keep apart. Uses that would need more are motifs of their own.
MOST = 5
MOST_OPERATIONS = 2
SHARE = 2  # so many items must a motif have, and more, for each that is a parameter


@dataclass(eq=False)
class Definition:
    """A motif, cell or network: units that are alike, of which the first stands for all."""

    scope: Scope  # what it is called after
    members: list[Unit]
    parameters: list[Parameter]
    texts: list[list[Text]]  # the arguments of every item
    name: str = ""

    @property
    def unit(self) -> Unit:
        return self.members[0]


class Definitions:
    """All definitions of a file, those that others use first; the last is the network."""

    def __init__(self, root: Unit, operations: PythonOps) -> None:
        self._all: list[Definition] = []
        self._uses: dict[Unit, Applied] = {}
        self._operations = operations
        self.names = set(operations.names)  # of definitions
        levels: dict[int, list[Unit]] = defaultdict(list)
        _sort(root, levels)
        for height in sorted(levels):
            found = [definition for group in _grouped(levels[height], self._form) for definition in self._define(group)]
            place = {unit: i for i, unit in enumerate(levels[height])}
            self._all += sorted(found, key=lambda definition: place[definition.unit])
        self._name()

    def __iter__(self) -> Iterator[Definition]:
        yield from self._all

    def of(self, unit: Unit) -> Definition:
        """The definition of which a unit is a use."""
        return self._uses[unit].definition

    def operation(self, definition: Definition, i: int) -> str:
        """An item of a definition as the text of an operation."""
        item, texts = definition.unit.items[i], [written(text) for text in definition.texts[i]]
        if not isinstance(item, Compute):
            return texts[0]
        given = arguments(item.op, texts)
        text = called(self._operations.name(item.op), given)
        return f"{text}()" if text == item.op.name and given and given[0].text is None else text

    def _name(self) -> None:
        """Of several definitions of one kind, the one with the most uses is called so; the network always is."""
        *motifs, network = self._all
        taken = defined_words() | {parameter.name for motif in motifs for parameter in motif.parameters}
        first: dict[str, Definition] = {network.scope.kind: network}
        for motif in motifs:
            other = first.setdefault(motif.scope.kind, motif)
            if other is not network and len(motif.members) > len(other.members):
                first[motif.scope.kind] = motif
        for definition in (network, *first.values(), *motifs):
            if not definition.name:
                definition.name = unique(definition.scope.kind, self.names | taken)
                self.names.add(definition.name)

    def _define(self, members: list[Unit]) -> list[Definition]:
        """One definition for all members, or several if it had too many parameters."""
        rows = [[argument for item in unit.items for argument in self._arguments(item)] for unit in members]
        texts, parameters = parametrise(rows, self.names)
        operations = [parameter for parameter in parameters if parameter.role == OPERATION]
        is_frame = len(operations) <= MOST_OPERATIONS and SHARE * len(operations) < len(members[0].items)
        if len(parameters) > MOST or (operations and not is_frame):
            finer = self._motifs if operations else self._values
            return [definition for group in _grouped(members, finer) for definition in self._define(group)]
        left = iter(texts)
        told = [[next(left) for _ in self._arguments(item)] for item in members[0].items]
        definition = Definition(_called_after(members), members, parameters, told)
        for i, unit in enumerate(members):
            self._uses[unit] = Applied(definition, tuple(parameter.values[i] for parameter in parameters))
        return [definition]

    # ---- what units have in common, ever more of it

    def _form(self, unit: Unit) -> object:
        """A unit without its numbers, and without what its motifs are."""
        items = tuple((op_kind(item.op) if isinstance(item, Compute) else None, item.inputs) for item in unit.items)
        cell = next((scope.kind for scope in reversed((unit.scope, *unit.wrappers)) if scope.role == "cell"), None)
        counts = tuple(len(item.results) for item in unit.items if isinstance(item, Use))
        return unit.scope.kind, cell, len(unit.inputs), unit.outputs, items, counts

    def _motifs(self, unit: Unit) -> object:
        """The motifs that it uses, as deep as they are told to one another."""
        return tuple(_shape(self._uses[item.unit]) for item in unit.items if isinstance(item, Use))

    def _values(self, unit: Unit) -> object:
        """All its numbers."""
        values = [argument.value for item in unit.items for argument in self._arguments(item)]
        return tuple((type(value), value) for value in values)

    def _arguments(self, item: Item) -> list[Argument]:
        """What is said of an item: the arguments of its operation, or its motif with its arguments."""
        if isinstance(item, Use):
            return [Argument(OPERATION, self._uses[item.unit])]
        assert isinstance(item, Compute), "a fixed network of primitives has nothing else"
        settings = item.op.settings()
        return [
            Argument(name, value, default_of(item.op, name)) for name, value in settings.items() if value is not None
        ]


def _shape(use: Applied) -> object:
    """A use of a motif without numbers."""
    return use.definition, tuple(_shape(value) if isinstance(value, Applied) else None for value in use.arguments)


def _grouped(units: list[Unit], key: Callable[[Unit], object]) -> list[list[Unit]]:
    found: dict[object, list[Unit]] = defaultdict(list)
    for unit in units:
        found[key(unit)].append(unit)
    return list(found.values())


def _sort(unit: Unit, levels: dict[int, list[Unit]]) -> int:
    """Put a unit and all in it on levels, those that use no other on the lowest."""
    height = max((1 + _sort(item.unit, levels) for item in unit.items if isinstance(item, Use)), default=0)
    levels[height].append(unit)
    return height


def _called_after(members: list[Unit]) -> Scope:
    """The outermost motif that does nothing but use the members, if that is one for all."""
    kinds = [{scope.kind for scope in unit.wrappers} for unit in members]
    common = [scope for scope in members[0].wrappers if all(scope.kind in found for found in kinds)]
    return common[-1] if common else members[0].scope
