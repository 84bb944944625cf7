"""The statements of a motif."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from bayesnas_graph.codegen.units import Item, results
from bayesnas_graph.codegen.unparse.layout import BodyLayout, join_of

MIN_RANGE = 3  # elements of an array that are written as a range

Operation = Callable[[int], str]  # the text of an item


@dataclass(frozen=True, slots=True)
class WrittenStatement:
    """A statement, the items whose operations are in it, and its bare edges: the item they lead into, and the slot."""

    text: str
    items: tuple[int, ...] = ()
    bare: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class _Edge:
    """An edge into a node: its sources, which are nodes or a call, and a chain of operations."""

    sources: tuple[str, ...]
    label: str
    items: tuple[int, ...]
    is_call: bool
    bare: tuple[tuple[int, int], ...] = ()


class BodyWriter:
    """Writes the statements of one unit."""

    def __init__(self, layout: BodyLayout, operation: Operation) -> None:
        self.layout = layout
        self.unit = layout.unit
        self.operation = operation
        self.names = layout.names
        self._array_of = {name: word for word, values in layout.arrays.items() for name in values}
        self._elements = {
            self.names[name]: (word, i) for word, values in layout.arrays.items() for i, name in enumerate(values)
        }
        self._joins = {word: layout.common_join(values) or "" for word, values in layout.arrays.items()}
        self._declared: set[str] = set()

    def lines(self) -> Iterator[WrittenStatement]:
        """All statements except the one that names the inputs."""
        for item in self.unit.items:
            if len(results(item)) > 1:
                targets = ", ".join(self.names[name] for name in results(item))
                yield WrittenStatement(f"node {targets} = {self._call(item)}", (int(item.name),))
            elif item.name == self.layout.out:
                yield from self._output(item)
            elif item.name in self._array_of:
                yield from self._element(item)
            elif item.name in self.names:
                yield from self._node(item)
        if self.layout.out is None:
            yield WrittenStatement(f"out {', '.join(self.names[name] for name in self.unit.outputs)}")

    # ---- the three kinds of nodes

    def _node(self, item: Item) -> Iterator[WrittenStatement]:
        name = self.names[item.name]
        if self.layout.has_edges(item):
            yield WrittenStatement(f"node {name}{_labelled(join_of(item))}", (int(item.name),))
            yield from self._edges(item, name)
        else:
            edge = self._edge(item)
            yield WrittenStatement(f"node {name} = {edge.sources[0]}{_labelled(edge.label)}", edge.items)

    def _element(self, item: Item) -> Iterator[WrittenStatement]:
        word, name = self._array_of[item.name], self.names[item.name]
        if word not in self._declared:
            self._declared.add(word)
            yield WrittenStatement(f"node {word}[{len(self.layout.arrays[word])}]{_labelled(self._joins[word])}")
        if self.layout.is_join(item) and join_of(item) == self._joins[word]:
            yield from self._edges(item, name, own=True)
        else:
            edge = self._edge(item)
            yield WrittenStatement(f"{edge.sources[0]} -> {name}{_labelled(edge.label)}", edge.items)

    def _output(self, item: Item) -> Iterator[WrittenStatement]:
        if self.layout.is_join(item) and not join_of(item):
            yield from self._edges(item, "out", own=True)
        elif self.layout.has_edges(item):
            yield WrittenStatement(f"out : {join_of(item)}", (int(item.name),))
            yield from self._edges(item, "out")
        else:
            edge = self._edge(item)
            text = f"{edge.sources[0]} -> out : {edge.label}" if edge.label else f"out {edge.sources[0]}"
            yield WrittenStatement(text, edge.items)

    # ---- edges

    def _edges(self, item: Item, target: str, *, own: bool = False) -> Iterator[WrittenStatement]:
        """The edges into a join. Its own item belongs to the first of them if no line declares it."""
        first: tuple[int, ...] = (int(item.name),) if own else ()
        for edge in self._merged([self._incoming(item, slot) for slot in range(len(item.inputs))]):
            text = f"{', '.join(edge.sources)} -> {target}{_labelled(edge.label)}"
            yield WrittenStatement(text, (*edge.items, *first), edge.bare)
            first = ()

    def _incoming(self, item: Item, slot: int) -> _Edge:
        name = item.inputs[slot]
        if name in self.names:
            return _Edge((self.names[name],), "", (), False, ((int(item.name), slot),))
        return self._edge(self.unit.items[int(name)])

    def _edge(self, item: Item) -> _Edge:
        """The chain that ends with an item, back to a node or to an item that cannot be part of a chain."""
        steps: list[int] = []  # the last first
        source = ""
        while self.layout.is_step(item) and not source:
            steps.append(int(item.name))
            (name,) = item.inputs
            source = self.names.get(name, "")
            item = item if source else self.unit.items[int(name)]
        label = " > ".join(self.operation(i) for i in reversed(steps))
        if source:
            return _Edge((source,), label, tuple(reversed(steps)), False)
        return _Edge((self._call(item),), label, (int(item.name), *reversed(steps)), True)

    def _merged(self, edges: Sequence[_Edge]) -> Iterator[_Edge]:
        """The edges, with consecutive edges of the same operations as one statement."""
        waiting: list[_Edge] = []
        for edge in edges:
            if waiting and (edge.is_call or waiting[-1].is_call or edge.label != waiting[-1].label):
                yield self._together(waiting)
                waiting = []
            waiting.append(edge)
        if waiting:
            yield self._together(waiting)

    def _together(self, edges: Sequence[_Edge]) -> _Edge:
        if len(edges) == 1:
            return edges[0]
        sources = self._listed([edge.sources[0] for edge in edges])
        items, bare = (tuple(i for edge in edges for i in getattr(edge, key)) for key in ("items", "bare"))
        return replace(edges[0], sources=tuple(sources), items=items, bare=bare)

    # ---- calls

    def _call(self, item: Item) -> str:
        """An operation applied to nodes."""
        read = self._listed([self.names[name] for name in item.inputs])
        return f"{self.operation(int(item.name))}({', '.join(read)})"

    def _listed(self, names: Sequence[str]) -> list[str]:
        """A list of nodes, with consecutive elements of an array as a range, or as the array."""
        listed: list[str] = []
        position = 0
        while position < len(names):
            size = 1
            if element := self._elements.get(names[position]):
                word, start = element
                while names[position + size : position + size + 1] == [f"{word}[{start + size}]"]:
                    size += 1
                if size == len(self.layout.arrays[word]):
                    listed.append(word)
                elif size >= MIN_RANGE:
                    listed.append(f"{word}[{start}..{start + size}]")
                else:
                    listed += names[position : position + size]
            else:
                listed.append(names[position])
            position += size
        return listed


def _labelled(label: str) -> str:
    return f" : {label}" if label else ""
