"""Units that differ in numbers, or in one or two operations, become one motif with these as parameters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bayesnas_graph.codegen.columns import typed
from bayesnas_graph.codegen.telling import distinguishing
from bayesnas_graph.codegen.units import Item, OpUse, Unit, UnitUse, by_height, common_scope
from bayesnas_graph.codegen.unparse.calls import call_arguments, call_text
from bayesnas_graph.codegen.unparse.names import defined_words, told_word, unique
from bayesnas_graph.codegen.unparse.parameters import (
    OPERATION,
    Applied,
    MotifParameter,
    OperationArgument,
    Text,
    motif_parameters,
    written,
)
from bayesnas_graph.codegen.unparse.python import PythonOps
from bayesnas_graph.ir import Scope

# A motif with more parameters is hard to read; its uses become several motifs.
MAX_PARAMETERS = 5
MAX_OPERATIONS = 2
ITEMS_PER_OPERATION = 2  # a motif has more than this many items for each that is a parameter


@dataclass(eq=False)
class Definition:
    """A motif, cell or network: units that are alike, represented by the first."""

    scope: Scope  # that it is named after
    members: list[Unit]
    parameters: list[MotifParameter]
    texts: list[list[Text]]  # the arguments of every item
    name: str = ""

    @property
    def unit(self) -> Unit:
        return self.members[0]


class Definitions:
    """All definitions of a file, each after those it uses; the last is the network."""

    def __init__(self, root: Unit, operations: PythonOps) -> None:
        self._all: list[Definition] = []
        self._uses: dict[Unit, Applied] = {}
        self._operations = operations
        self._shared: set[Unit] = set()  # the units of shared operations
        self.names = set(operations.names)  # of definitions
        for level in by_height(root):
            uses = (item for unit in level for item in unit.items if isinstance(item, UnitUse) and item.weights)
            self._shared.update(use.unit for use in uses)
            definitions = [definition for group in _grouped(level, self._form) for definition in self._define(group)]
            position = {unit: i for i, unit in enumerate(level)}
            self._all += sorted(definitions, key=lambda definition: position[definition.unit])
        self._name()

    def __iter__(self) -> Iterator[Definition]:
        yield from self._all

    def of(self, unit: Unit) -> Definition:
        """The definition that a unit is a use of."""
        return self._uses[unit].definition

    def operation(self, definition: Definition, i: int) -> str:
        """An item of a definition as the text of an operation."""
        item, texts = definition.unit.items[i], [written(text) for text in definition.texts[i]]
        if not isinstance(item, OpUse):
            return texts[0]
        arguments = call_arguments(item.op, texts)
        text = call_text(self._operations.name(item.op), arguments)
        return f"{text}()" if text == item.op.name and arguments and arguments[0].text is None else text

    def chain(self, definition: Definition) -> str | None:
        """A definition as a chain of operations, if only `share` needs it and it is one; else None."""
        unit = definition.unit
        before = [*unit.inputs[:1], *(item.name for item in unit.items)]
        is_chain = len(unit.inputs) == 1 and unit.outputs == (before[-1],)
        is_chain &= all(item.inputs == (name,) for item, name in zip(unit.items, before, strict=False))
        is_chain &= all(not (isinstance(item, UnitUse) and len(item.results) > 1) for item in unit.items)
        is_chain &= all(first < 0 for first in _sharing(unit))
        is_chain &= definition.scope.role == "share" and self._shared.issuperset(definition.members)
        if definition.parameters or not is_chain:
            return None
        return " > ".join(self.operation(definition, i) for i in range(len(unit.items)))

    def _name(self) -> None:
        """Name all definitions: after their motif, with the arguments that tell several of one motif apart.

        If these are not enough, the others get a number.
        """
        *motifs, network = self._all
        taken = defined_words() | {parameter.name for motif in motifs for parameter in motif.parameters}
        kinds: dict[str, list[Definition]] = defaultdict(list)
        for motif in motifs:
            kinds[motif.scope.kind].append(motif)
        words = {network: network.scope.kind}
        for kind, alike in kinds.items():
            told = distinguishing([motif.members for motif in alike]) if len(alike) > 1 else [()]
            words |= {motif: told_word(kind, arguments) for motif, arguments in zip(alike, told, strict=True)}
        for definition in (network, *sorted(motifs, key=lambda motif: -len(motif.members))):
            definition.name = unique(words[definition], self.names | taken)
            self.names.add(definition.name)

    def _define(self, members: list[Unit]) -> list[Definition]:
        """One definition for all members, or several if it would have too many parameters."""
        rows = [[entry for item in unit.items for entry in self._entries(item)] for unit in members]
        texts, parameters = motif_parameters(rows, self.names)
        operations = [parameter for parameter in parameters if parameter.role == OPERATION]
        is_frame = len(operations) <= MAX_OPERATIONS and ITEMS_PER_OPERATION * len(operations) < len(members[0].items)
        if len(parameters) > MAX_PARAMETERS or (operations and not is_frame):
            finer = self._motifs if operations else self._values
            return [definition for group in _grouped(members, finer) for definition in self._define(group)]
        next_texts = iter(texts)
        by_item = [[next(next_texts) for _ in self._entries(item)] for item in members[0].items]
        definition = Definition(common_scope(members), members, parameters, by_item)
        for i, unit in enumerate(members):
            self._uses[unit] = Applied(definition, tuple(parameter.values[i] for parameter in parameters))
        return [definition]

    # ---- keys for grouping units, from coarse to fine

    def _form(self, unit: Unit) -> object:
        """A unit without its numbers, and without which motifs it uses, except those of shared operations."""
        items = tuple(
            (item.op.kind if isinstance(item, OpUse) else self._own_motif(item), item.inputs) for item in unit.items
        )
        cell = next((scope.kind for scope in reversed((unit.scope, *unit.wrappers)) if scope.role == "cell"), None)
        counts = tuple(len(item.results) for item in unit.items if isinstance(item, UnitUse))
        return unit.scope.kind, cell, len(unit.inputs), unit.outputs, items, counts, _sharing(unit)

    def _own_motif(self, item: Item) -> Definition | None:
        """The motif of a shared operation, which may be written where it is named and so cannot be an argument."""
        is_own = isinstance(item, UnitUse) and item.weights and item.unit.scope.role == "share"
        return self.of(item.unit) if isinstance(item, UnitUse) and is_own else None

    def _motifs(self, unit: Unit) -> object:
        """The motifs that it uses, and the motifs that are their arguments."""
        return tuple(_shape(self._uses[item.unit]) for item in unit.items if isinstance(item, UnitUse))

    def _values(self, unit: Unit) -> object:
        """All its numbers."""
        values = [entry.value for item in unit.items for entry in self._entries(item)]
        return tuple(map(typed, values))

    def _entries(self, item: Item) -> list[OperationArgument]:
        """The arguments of the operation of an item, or its motif with its arguments."""
        if isinstance(item, UnitUse):
            return [OperationArgument(OPERATION, self._uses[item.unit])]
        assert isinstance(item, OpUse), "a fixed network of primitives has nothing else"
        settings = item.op.settings()
        return [
            OperationArgument(name, value, item.op.default(name))
            for name, value in settings.items()
            if value is not None
        ]


def _sharing(unit: Unit) -> tuple[int, ...]:
    """For every item that shares its weights, the first item with the same."""
    first: dict[str, int] = {}
    return tuple(
        first.setdefault(item.weights, i) if isinstance(item, OpUse | UnitUse) and item.weights else -1
        for i, item in enumerate(unit.items)
    )


def _shape(use: Applied) -> object:
    """A use of a motif without numbers."""
    return use.definition, tuple(_shape(value) if isinstance(value, Applied) else None for value in use.arguments)


def _grouped(units: list[Unit], key: Callable[[Unit], object]) -> list[list[Unit]]:
    groups: dict[object, list[Unit]] = defaultdict(list)
    for unit in units:
        groups[key(unit)].append(unit)
    return list(groups.values())
