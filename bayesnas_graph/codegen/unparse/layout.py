"""The layout of the body of a motif: which values are named nodes, and which are steps on the way to one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import count

from bayesnas_graph.codegen.units import Item, OpUse, Unit, UnitUse, results
from bayesnas_graph.codegen.unparse.names import TargetNode, is_label, target_of, unique

MIN_ARRAY = 2  # nodes


class BodyLayout:
    """The layout of one unit. A value is `flowing` if it is written within the statement that reads it.

    `paths` are the names of the items in the graph, split into parts; `labels` the names of each as an operation;
    `given` the names that several outputs of a motif have inside it; `inputs` the names of the inputs, if any.
    """

    def __init__(
        self,
        unit: Unit,
        paths: Sequence[tuple[str, ...]],
        labels: Sequence[Collection[str]],
        output_names: Sequence[Sequence[str]],
        inputs: Sequence[str] | None,
        taken: Collection[str],
    ) -> None:
        self.unit = unit
        self.paths = paths
        self.labels = labels
        names = [item.name for item in unit.items]  # not inputs, nor the values of an item with several
        self.targets = dict(zip(names, map(target_of, paths, labels), strict=True))
        reads = Counter(name for item in unit.items for name in item.inputs)
        reads.update(unit.outputs)
        self.out = self._only_output(reads)
        self.flowing = self._flowing(reads)
        self.names: dict[str, str] = {}  # of inputs and nodes, as written
        self.used = set(taken)  # words that nothing else may have as its name
        self.arrays: dict[str, list[str]] = {}  # the name of an array -> its values
        if inputs is None:  # nodes choose their names first
            self._name_nodes(output_names, taken)
            self._name_inputs(_letters(len(unit.inputs), self.used))
        else:
            self._name_inputs(inputs)
            self._name_nodes(output_names, taken)

    def is_join(self, item: Item) -> bool:
        """Return whether an item is a node that edges lead into."""
        return isinstance(item, OpUse) and item.op.is_join

    def is_step(self, item: Item) -> bool:
        """Return whether an item can be part of a chain."""
        return len(item.inputs) == 1 and len(results(item)) == 1 and not self.is_join(item)

    def has_edges(self, item: Item) -> bool:
        """Return whether a join is written as edges into a node, because operations lead to it."""
        return self.is_join(item) and any(name in self.flowing for name in item.inputs)

    def common_join(self, values: Iterable[str]) -> str | None:
        """How all nodes of an array join their edges; None if one declaration cannot say so."""
        items = [self.unit.items[int(name)] for name in values]
        joins = {join_of(item) for item in items if self.is_join(item)}
        if len(joins) == 1 and all(map(self.is_join, items)):
            return joins.pop()
        return None if any(join_of(item) for item in items if self.has_edges(item)) else ""

    # ---- values without a name

    def _only_output(self, reads: Counter[str]) -> str | None:
        """The value that is the output and nothing else, if there is one."""
        first = self.unit.outputs[0]
        is_node = any(results(item) == (first,) for item in self.unit.items)
        return first if is_node and len(self.unit.outputs) == 1 and reads[first] == 1 else None

    def _flowing(self, reads: Counter[str]) -> set[str]:
        reader = {name: item for item in self.unit.items for name in item.inputs}
        flowing: set[str] = set()
        for item in reversed(self.unit.items):
            if len(results(item)) > 1 or reads[item.name] != 1 or item.name not in reader:
                continue
            target = reader[item.name]
            gathers = self.is_join(target) and len(target.inputs) > 1 and target.name not in flowing
            if (self.is_step(target) or gathers) and self._belongs(item, target) and not self._is_node(item):
                flowing.add(item.name)
        return flowing

    def _belongs(self, item: Item, reader: Item) -> bool:
        """Return whether an item was written on the way to another: it has no name of its own, or the same name.

        Or several terms of a sum have its name: then it was the name of their sum, now part of a larger sum.
        """
        target = self.targets[item.name]
        if target is None or target == self.targets[reader.name]:
            return True
        return self.is_join(reader) and sum(self.targets.get(name) == target for name in reader.inputs) > 1

    def _is_node(self, item: Item) -> bool:
        """Return whether an item joins values that were written as edges into it, and so was a node."""
        target = self.targets[item.name]
        return target is not None and self.is_join(item) and target in map(self.targets.get, item.inputs)

    # ---- names

    def _name_inputs(self, words: Sequence[str]) -> None:
        for name, word in zip(self.unit.inputs, words, strict=True):
            self.names[name] = unique(word, self.used)
            self.used.add(self.names[name])

    def _name_nodes(self, output_names: Sequence[Sequence[str]], taken: Collection[str]) -> None:
        name_of: dict[str, str | TargetNode] = {}  # value -> a word, or an element of an array
        owners: dict[TargetNode, list[str]] = defaultdict(list)
        for i, item in enumerate(self.unit.items):
            target = self.targets[item.name]
            if len(results(item)) > 1:
                name_of.update(zip(results(item), output_names[i], strict=True))
            elif item.name in self.flowing or item.name == self.out:
                continue
            elif target is None:
                name_of[item.name] = self._word(i, taken)
            else:
                name_of[item.name] = target
                owners[target].append(item.name)
        for target, values in owners.items():
            self._settle(target, values, name_of)
        self._give(name_of)

    def _word(self, i: int, taken: Collection[str]) -> str:
        """A word for a node without a name."""
        word = self.paths[i][0]
        is_use = isinstance(self.unit.items[i], UnitUse)
        return word if is_use and word != "out" and word not in taken else "y"

    def _settle(self, target: TargetNode, values: list[str], name_of: dict[str, str | TargetNode]) -> None:
        """If several nodes have one target, assign it to the node with exactly that name."""
        if len(values) == 1:
            return
        target_path = (target.word,) if target.index is None else (target.word, str(target.index))
        for name in values:
            path = self.paths[int(name)]
            if path != target_path:
                shown = (
                    path[:-1]
                    if len(path) > len(target_path) + 1 and is_label(path[-1], self.labels[int(name)])
                    else path
                )
                name_of[name] = TargetNode("_".join(shown))

    def _give(self, name_of: dict[str, str | TargetNode]) -> None:
        elements: dict[str, dict[int, str]] = defaultdict(dict)
        for name, target in name_of.items():
            if isinstance(target, TargetNode) and target.index is not None:
                elements[target.word][target.index] = name
        for name, target in name_of.items():
            if name in self.names:
                continue
            members = (
                elements.get(target.word, {}) if isinstance(target, TargetNode) and target.index is not None else {}
            )
            is_array = len(members) >= MIN_ARRAY and sorted(members) == list(range(len(members)))
            if is_array and self.common_join(members.values()) is not None:
                word = unique(self.paths[int(name)][0], self.used)
                self.arrays[word] = [members[i] for i in range(len(members))]
                self.names.update({value: f"{word}[{i}]" for i, value in members.items()})
            else:
                word = self.names[name] = self._single(name, target)
            self.used.add(word)

    def _single(self, name: str, target: str | TargetNode) -> str:
        """A name for a node outside arrays. The name of its operation would say nothing."""
        if not isinstance(target, TargetNode):
            return unique(target, self.used)
        word = unique(target.word if target.index is None else f"{target.word}_{target.index}", self.used)
        return unique("y", self.used) if is_label(word, self.labels[int(name)]) else word


def join_of(item: Item) -> str:
    """The join in the declaration of a node; empty for a sum, which is the default."""
    assert isinstance(item, OpUse), "joins are primitives"
    return "" if item.op.adds and len(item.inputs) > 1 else item.op.name


def _letters(number: int, taken: Collection[str]) -> list[str]:
    """Names for `number` inputs."""
    if number == 1 and "x" not in taken:
        return ["x"]
    letters = [letter for letter in "abcdefghijklmnopqrstuvwz" if letter not in taken]
    if number <= len(letters) and number > 1:
        return letters[:number]
    free = (word for i in count(1) if (word := f"x_{i}") not in taken)
    return [next(free) for _ in range(number)]
