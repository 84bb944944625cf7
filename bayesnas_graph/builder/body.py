"""The body of a motif, cell or network: its statements, in order."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import overload

from bayesnas_graph.builder.functions import Join, Requirement, ValueType
from bayesnas_graph.builder.pieces import (
    Braces,
    Level,
    Named,
    Needs,
    Node,
    Nodes,
    Number,
    Operation,
    Piece,
    Set,
    Symbol,
    Value,
    check_name,
    piece,
)

HERE, CONTEXTLIB = str(Path(__file__).parent), contextlib.__file__

Sources = Node | Nodes | Sequence[Node | Nodes]
EachSource = Callable[[Nodes, Value], Sources]  # for an element of an array, given the array and the index


@dataclass(frozen=True, eq=False)
class Target(Piece):
    """The output, as the target of an edge."""


@dataclass(frozen=True)
class Line:
    """One line of the text; statements have an origin in Python, closing braces have none."""

    text: str
    origin: str | None = None


@dataclass(eq=False)
class _Block:
    """An open pair of braces, and the names declared in it."""

    scope: Braces
    names: set[str] = field(default_factory=set)


class Body:
    """Records the statements of a motif, cell or network. Its methods are those of the language."""

    def __init__(self, of: str) -> None:
        self.of = of
        self.lines: list[Line] = []
        self.types: tuple[list[ValueType], list[ValueType]] = ([], [])  # of a network: inputs and outputs
        self._needs: list[Piece] = []
        self._local: set[str] = set()  # all names that are declared anywhere in it
        self._blocks = [_Block(Braces(of))]
        self._open_if: int | None = None  # the number of lines after an `if` that may have an `else`

    @property
    def out(self) -> Target:
        """The output, as the target of an edge."""
        return Target("out")

    # ---- declarations

    def input(self, name: str = "x", type: ValueType | None = None) -> Node:
        """Declare an input. Those of a network have a type: `g.input("x", image(3, 32, 32))`."""
        if type is not None:
            self._need(type)
            self.types[0].append(type)
        node = Node(name, needs=self._declare(name))
        self._add(f"in {name}")
        return node

    def inputs(self, name: str, size: Number) -> Nodes:
        """Declare the remaining inputs as an array."""
        self._add(f"in {name}[{piece(size).text}]", piece(size))
        return Nodes(name, needs=self._declare(name), size=size)

    def returns(self, *types: ValueType) -> None:
        """Declare the outputs of a network: `g.returns(classes(10))`."""
        for one in types:
            self._need(one)
        self.types[1].extend(types)

    def node(
        self, name: str, sources: Sources | None = None, op: Operation | None = None, *, join: Join | None = None
    ) -> Node:
        """Declare a node. With sources, there is an edge from each of them, with an operation if one is given.

        Edges into a node are summed, unless there is another `join`.
        """
        connection = self._connection(sources, op, join)
        node = Node(name, needs=self._declare(name))
        self._add(f"node {name}{connection.text}", connection)
        return node

    def nodes(
        self,
        name: str,
        size: Number,
        sources: Sources | EachSource | None = None,
        op: Operation | None = None,
        *,
        join: Join | None = None,
        index: str | None = None,
    ) -> Nodes:
        """Declare an array of nodes. The sources of an element can be a function of the array and its index."""
        count = piece(size)
        nodes = Nodes(name, needs=self._declare(name), size=size)
        if isinstance(sources, Piece) or not callable(sources):
            connection = self._connection(sources, op, join)
            self._add(f"node {name}[{count.text}]{connection.text}", count, connection)
            return nodes
        with self._inside():
            variable = self._variable(index)
            connection = self._connection(sources(nodes, variable), op, join)
            slot = f"{name}[{variable.text} in 0..{count.within(Level.UNION)}]"
            self._add(f"node {slot}{connection.text}", count, connection)
        return nodes

    def unpack(self, names: Sequence[str], sources: Sources, op: Operation) -> tuple[Node, ...]:
        """Declare a node for each output of an operation."""
        connection = self._connection(sources, op, None)
        nodes = tuple(Node(name, needs=self._declare(name)) for name in names)
        self._add(f"node {', '.join(names)}{connection.text}", connection)
        return nodes

    @overload
    def let(self, name: str, value: Operation) -> Operation: ...
    @overload
    def let(self, name: str, value: Set) -> Set: ...
    @overload
    def let(self, name: str, value: Number | Sequence[Number]) -> Value: ...
    def let(self, name: str, value: Operation | Set | Number | Sequence[Number]) -> Operation | Set | Value:
        """Name a value."""
        given = piece(value)
        symbol = Symbol(name, needs=self._declare(name))
        self._add(f"let {name} = {given.text}", given)
        return symbol

    def share(self, name: str, op: Operation) -> Operation:
        """Name an operation with one set of weights, and of switches, for all its uses."""
        given = piece(op)
        symbol = Symbol(name, needs=self._declare(name))
        self._add(f"share {name} = {given.text}", given)
        return symbol

    # ---- edges and outputs

    def edge(self, sources: Sources, targets: Sources | Target, op: Operation | None = None) -> None:
        """An edge from each source to each target, with an operation if one is given."""
        starts, ends = _several(sources), [targets] if isinstance(targets, Target) else _several(targets)
        for one in starts:
            if one.level < Level.PLACE:
                raise TypeError(f"an edge cannot start at `{one.text}`: declare a node for it")
        operation = [] if op is None else [op]
        label = "" if op is None else f" : {op.text}"
        self._add(f"{_listed(starts)} -> {_listed(ends)}{label}", *starts, *ends, *operation)

    def output(self, *values: Node | Nodes) -> None:
        """The outputs. They cannot be combined with edges to `g.out`."""
        self._add(f"out {_listed(values)}", *values)

    def join_output(self, join: Join) -> None:
        """How edges into `g.out` are joined, if they are not summed."""
        self._add(f"out : {join.name}")

    # ---- control

    def range(self, start: Number, stop: Number | None = None, *, index: str | None = None) -> Iterator[Value]:
        """A loop of the text, like `range`. What is inside is recorded once, with the loop variable."""
        first, last = (piece(0), piece(start)) if stop is None else (piece(start), piece(stop))
        text = f"{first.within(Level.UNION)}..{last.within(Level.UNION)}"
        return self._loop(Piece(text, needs=Needs.of([first, last])), index)

    def each(self, values: Value | Set | Sequence[Number], *, index: str | None = None) -> Iterator[Value]:
        """A loop of the text over the elements of an array or a set."""
        return self._loop(piece(values), index)

    def _loop(self, over: Piece, index: str | None) -> Iterator[Value]:
        self._need(over)
        with self._inside():
            variable = self._variable(index)
            self._add(f"for {variable.text} in {over.text} {{")
            yield variable
            self.lines.append(Line("}"))

    @contextmanager
    def if_(self, condition: Value) -> Iterator[None]:
        """The statements inside are used only if a condition holds."""
        self._add(f"if {condition.text} {{", condition)
        with self._inside():
            yield
        self.lines.append(Line("}"))
        self._open_if = len(self.lines)

    @contextmanager
    def else_(self) -> Iterator[None]:
        """The statements inside are used if the condition of the `if_` before it does not hold."""
        if self._open_if != len(self.lines):
            raise TypeError("`else_` directly follows `if_`")
        self.lines.append(Line("else {"))
        with self._inside():
            yield
        self.lines.append(Line("}"))

    def check(self, condition: Value, message: str) -> None:
        """An error with a message when the space is loaded, unless a condition holds."""
        self._add(f"assert {condition.text}, {piece(message).text}", condition)

    def require(self, requirement: Requirement) -> None:
        """Limit what a search may find: `g.require(params < 20_000)`."""
        self._add(f"require {requirement.text}", requirement)

    # ---- recording

    def parameter(self, name: str) -> Symbol:
        """Declare a parameter."""
        return Symbol(name, needs=self._declare(name))

    def needs(self, *others: Piece) -> tuple[Named, ...]:
        """The definitions that it and others use. Raises ValueError if one has the name of something declared in it."""
        for other in others:
            self._need(other)
        needs = Needs.of(self._needs)
        hidden = sorted(self._local & needs.names)
        if hidden:
            raise ValueError(f"`{hidden[0]}` is declared in `{self.of}`, which also uses the global `{hidden[0]}`")
        return needs.definitions

    def _connection(self, sources: Sources | None, op: Operation | None, join: Join | None) -> Piece:
        """The part of a declaration after the name."""
        if sources is None:
            if op is not None:
                raise TypeError("an operation needs sources")
            return Piece("" if join is None else f" : {join.name}")
        if join is not None:
            raise TypeError("a node has a join or sources: declare the node first, then its edges")
        starts = _several(sources)
        label = "" if op is None else f" : {op.text}"
        return Piece(f" = {_listed(starts)}{label}", needs=Needs.of([*starts, *([] if op is None else [op])]))

    def _add(self, text: str, *parts: Piece) -> None:
        for part in parts:
            self._need(part)
        self.lines.append(Line(text, origin()))

    def _need(self, part: Piece) -> None:
        visible = {block.scope for block in self._blocks}
        for scope in part.needs.scopes - visible:
            inside = f"of `{scope.of}`" if scope.of != self.of else "outside of the block it is declared in"
            raise ValueError(f"`{part.text.strip()}` uses a name {inside}, which is not known here")
        self._needs.append(Piece("", needs=Needs(part.needs.definitions, part.needs.names)))

    def _declare(self, name: str) -> Needs:
        check_name(name)
        if any(name in block.names for block in self._blocks):
            raise ValueError(f"`{name}` is already declared in `{self.of}`")
        self._blocks[-1].names.add(name)
        self._local.add(name)
        return Needs(scopes=frozenset([self._blocks[-1].scope]))

    def _variable(self, name: str | None) -> Value:
        if name is None:
            used = {used for block in self._blocks for used in block.names}
            numbered = (f"i{number}" for number in range(1, 1000))
            name = next(one for one in ("i", "j", "k", *numbered) if one not in used)
        return Symbol(name, needs=self._declare(name))

    @contextmanager
    def _inside(self) -> Iterator[None]:
        self._blocks.append(_Block(Braces(self.of)))
        try:
            yield
        finally:
            self._blocks.pop()


def origin() -> str:
    """The place outside of this package that is being executed: `model.py:12`."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((HERE, CONTEXTLIB)):
        frame = frame.f_back
    return "" if frame is None else f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


def _several(nodes: Sources) -> list[Piece]:
    return [nodes] if isinstance(nodes, Piece) else list(nodes)


def _listed(pieces: Sequence[Piece]) -> str:
    if not pieces:
        raise TypeError("at least one node is needed")
    return ", ".join(one.text for one in pieces)
