"""How the body of a motif is laid out: which values are nodes with names, and which are steps on the way to one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import count

from bayesnas_graph.codegen.emit.units import Compute, Item, Unit, Use
from bayesnas_graph.codegen.unparse.names import Place, is_label, place_of, unique
from bayesnas_graph.codegen.unparse.structure import results
from bayesnas_graph.ir.ops import Join, Sum

LEAST_IN_ARRAY = 2  # nodes that make an array worth having


class Layout:
    """The layout of one unit. A value flows where it is written within the statement that reads it.

    `paths` are the names of the items in the graph, part by part; `labels` what each is called as an operation; `given`
    the names that several outputs of a motif have inside of it. `inputs` are the names of the inputs, if they have any.
    """

    def __init__(
        self,
        unit: Unit,
        paths: Sequence[tuple[str, ...]],
        labels: Sequence[Collection[str]],
        given: Sequence[Sequence[str]],
        inputs: Sequence[str] | None,
        taken: Collection[str],
    ) -> None:
        self.unit = unit
        self.paths = paths
        self.labels = labels
        self.places = [place_of(path, label) for path, label in zip(paths, labels, strict=True)]
        reads = Counter(name for item in unit.items for name in item.inputs)
        reads.update(unit.outputs)
        self.out = self._only_output(reads)
        self.flowing = self._flowing(reads)
        self.names: dict[str, str] = {}  # of inputs and nodes, as they are written
        self.arrays: dict[str, list[str]] = {}  # the name of an array -> its values
        if inputs is None:  # what the nodes leave
            self._name_nodes(given, taken)
            self._name_inputs(_letters(len(unit.inputs), {*taken, *self._words()}), taken)
        else:
            self._name_inputs(inputs, taken)
            self._name_nodes(given, taken)

    def is_join(self, item: Item) -> bool:
        """Whether an item is a node that edges lead into."""
        return isinstance(item, Compute) and isinstance(item.op, Join)

    def is_step(self, item: Item) -> bool:
        """Whether an item can stand in a chain."""
        return len(item.inputs) == 1 and len(results(item)) == 1 and not self.is_join(item)

    def has_edges(self, item: Item) -> bool:
        """Whether a join is written as edges into a node: where operations lead to it."""
        return self.is_join(item) and any(name in self.flowing for name in item.inputs)

    def common_join(self, values: Iterable[str]) -> str | None:
        """How all nodes of an array join their edges; None where they cannot be told to in one way."""
        items = [self.unit.items[int(name)] for name in values]
        joins = {join_of(item) for item in items if self.is_join(item)}
        if len(joins) == 1 and all(map(self.is_join, items)):
            return joins.pop()
        return None if any(join_of(item) for item in items if self.has_edges(item)) else ""

    # ---- what has no name

    def _only_output(self, reads: Counter[str]) -> str | None:
        """The value that is the output and nothing else, if there is one."""
        first = self.unit.outputs[0]
        is_node = any(results(item) == (first,) for item in self.unit.items)
        return first if is_node and len(self.unit.outputs) == 1 and reads[first] == 1 else None

    def _flowing(self, reads: Counter[str]) -> set[str]:
        reader = {name: item for item in self.unit.items for name in item.inputs}
        found: set[str] = set()
        for item in reversed(self.unit.items):
            if len(results(item)) > 1 or reads[item.name] != 1 or item.name not in reader:
                continue
            target = reader[item.name]
            gathers = self.is_join(target) and len(target.inputs) > 1 and target.name not in found
            if (self.is_step(target) or gathers) and self._belongs(item, target) and not self._is_node(item):
                found.add(item.name)
        return found

    def _belongs(self, item: Item, target: Item) -> bool:
        """Whether an item was written on the way to another: it has no name of its own, or the same.

        Or several that are added up have it. Then it was that of their sum, which is part of a larger one now.
        """
        place = self._place(item.name)
        if place is None or place == self._place(target.name):
            return True
        return self.is_join(target) and sum(self._place(name) == place for name in target.inputs) > 1

    def _is_node(self, item: Item) -> bool:
        """Whether an item joins what was written as edges into it, so that it was a node."""
        place = self._place(item.name)
        return place is not None and self.is_join(item) and any(self._place(name) == place for name in item.inputs)

    def _place(self, name: str) -> Place | None:
        """The place of a value; those of an input or one of several outputs are not asked for."""
        return self.places[int(name)] if name.isdigit() else None

    # ---- names

    def _name_inputs(self, words: Sequence[str], taken: Collection[str]) -> None:
        for name, word in zip(self.unit.inputs, words, strict=True):
            self.names[name] = unique(word, {*taken, *self._words()})

    def _words(self) -> set[str]:
        return {name.partition("[")[0] for name in self.names.values()}

    def _name_nodes(self, given: Sequence[Sequence[str]], taken: Collection[str]) -> None:
        wanted: dict[str, str | Place] = {}  # value -> a word, or an element of an array
        owners: dict[Place, list[str]] = defaultdict(list)
        for i, item in enumerate(self.unit.items):
            place = self.places[i]
            if len(results(item)) > 1:
                wanted.update(zip(results(item), given[i], strict=True))
            elif item.name in self.flowing or item.name == self.out:
                continue
            elif place is None:
                wanted[item.name] = self._word(i, taken)
            else:
                wanted[item.name] = place
                owners[place].append(item.name)
        for place, values in owners.items():
            self._settle(place, values, wanted)
        self._give(wanted, taken)

    def _word(self, i: int, taken: Collection[str]) -> str:
        """A word for a node without a name."""
        word = self.paths[i][0]
        is_use = isinstance(self.unit.items[i], Use)
        return word if is_use and word != "out" and word not in taken else "y"

    def _settle(self, place: Place, values: list[str], wanted: dict[str, str | Place]) -> None:
        """Of several nodes that a place stands for, the one that is called so has it."""
        if len(values) == 1:
            return
        whole = (place.word,) if place.index is None else (place.word, str(place.index))
        for name in values:
            path = self.paths[int(name)]
            if path != whole:
                shown = path[:-1] if len(path) > len(whole) + 1 and is_label(path[-1], self.labels[int(name)]) else path
                wanted[name] = Place("_".join(shown))

    def _give(self, wanted: dict[str, str | Place], taken: Collection[str]) -> None:
        elements: dict[str, dict[int, str]] = defaultdict(dict)
        for name, place in wanted.items():
            if isinstance(place, Place) and place.index is not None:
                elements[place.word][place.index] = name
        used = {*taken, *self._words()}
        for name, place in wanted.items():
            if name in self.names:
                continue
            found = elements.get(place.word, {}) if isinstance(place, Place) and place.index is not None else {}
            is_array = len(found) >= LEAST_IN_ARRAY and sorted(found) == list(range(len(found)))
            if is_array and self.common_join(found.values()) is not None:
                word = unique(self.paths[int(name)][0], used)
                self.arrays[word] = [found[i] for i in range(len(found))]
                self.names.update({value: f"{word}[{i}]" for i, value in found.items()})
            else:
                word = self.names[name] = self._single(name, place, used)
            used.add(word)

    def _single(self, name: str, place: str | Place, used: Collection[str]) -> str:
        """A name for a node that is in no array: not what its operation is called, which would say nothing."""
        if not isinstance(place, Place):
            return unique(place, used)
        word = unique(place.word if place.index is None else f"{place.word}_{place.index}", used)
        return unique("y", used) if is_label(word, self.labels[int(name)]) else word


def join_of(item: Item) -> str:
    """How a node is told to join its edges; nothing where it need not be, as it adds them up."""
    assert isinstance(item, Compute), "joins are primitives"
    return "" if isinstance(item.op, Sum) and len(item.inputs) > 1 else item.op.name


def _letters(number: int, taken: Collection[str]) -> list[str]:
    """Names for so many inputs."""
    if number == 1 and "x" not in taken:
        return ["x"]
    letters = [letter for letter in "abcdefghijklmnopqrstuvwz" if letter not in taken]
    if number <= len(letters) and number > 1:
        return letters[:number]
    free = (word for i in count(1) if (word := f"x_{i}") not in taken)
    return [next(free) for _ in range(number)]
