"""The frozen graph that every pass takes and returns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir.op import Op, Shape, shape_text

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, slots=True)
class Gate:
    """A switch that a search may close.

    Gates with the same `group` are one switch: the same place in all uses of a cell. A gate outside
    every cell is a group of its own.
    """

    name: str
    group: str
    span: Span | None = field(default=None, compare=False, repr=False)  # of what it lets through, where that is one


@dataclass(frozen=True, slots=True)
class Node:
    """One operation, computing one value."""

    name: str  # unique in its graph; dots separate the motifs it stands in
    op: Op
    shape: Shape
    span: Span | None = field(default=None, compare=False, repr=False)
    replaces: tuple[tuple[str, ...], ...] = field(default=(), compare=False, repr=False)

    @property
    def stands_for(self) -> tuple[tuple[str, ...], ...]:
        """The nodes of the elaborated graph whose work it does: itself, unless a pass has put others together.

        There is one entry for each equal part of its channels, and all nodes of an entry have that part: the
        merged node of `a` and `b` stands for `(("a", "b"),)`, and the wide one for `(("a",), ("b",))`.
        """
        return self.replaces or ((self.name,),)


@dataclass(frozen=True, slots=True)
class Edge:
    """The value of `source` as argument number `slot` of `target`."""

    source: str
    target: str
    slot: int
    gate: Gate | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"%{self.source}" + (f" @{self.gate.group}" if self.gate else "")


@dataclass(frozen=True, slots=True)
class Scope:
    """One use of a motif: the nodes whose names begin with `name` and a dot.

    A choice is a scope too, made of its candidates and of the choice itself, which has the scope's name.
    """

    name: str
    kind: str  # the name of the motif
    role: str  # "motif", "cell", "network" or "choice"
    outputs: int = 1
    span: Span | None = field(default=None, compare=False, repr=False)  # of the use


class Graph:
    """A directed graph without cycles, complete when constructed and frozen after.

    A multigraph keyed by slot, because `sum(x, x)` is two edges between the same two nodes. Nodes
    keep the order in which they were given, which has every value before its uses.
    """

    def __init__(
        self,
        name: str,
        nodes: Iterable[Node],
        edges: Iterable[Edge],
        outputs: Iterable[str],
        scopes: Iterable[Scope] = (),
    ) -> None:
        import networkx as nx  # here, because checking a file needs no graph and this takes a while

        graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
        for node in nodes:
            if node.name in graph:
                raise ValueError(f"two nodes are called {node.name}")
            graph.add_node(node.name, node=node)
        inputs: dict[str, list[Edge]] = {}
        for edge in edges:
            graph.add_edge(edge.source, edge.target, key=edge.slot, edge=edge)
            inputs.setdefault(edge.target, []).append(edge)
        self._inputs = {name: tuple(sorted(into, key=lambda edge: edge.slot)) for name, into in inputs.items()}
        self.name = name
        self.outputs = tuple(outputs)
        self._chains: dict[str, tuple[Scope, ...]] = {"": ()}
        self.scopes = tuple(scopes)  # like spans, they tell where nodes come from and do not count when compared
        self.nx: nx.MultiDiGraph[str] = nx.freeze(graph)

    @cached_property
    def _scopes(self) -> dict[str, Scope]:
        return {scope.name: scope for scope in self.scopes}

    def enclosing(self, name: str) -> tuple[Scope, ...]:
        """The scopes that a node stands in, the innermost first."""
        own = self._scopes.get(name)
        around = self._around(name.rpartition(".")[0])
        return (own, *around) if own is not None and own.role == "choice" else around

    def _around(self, name: str) -> tuple[Scope, ...]:
        """The scope of a name, if there is one, and those around it; asked once for all that stands in it."""
        unknown = []
        while name not in self._chains:
            unknown.append(name)
            name = name.rpartition(".")[0]
        found = self._chains[name]
        for inner in reversed(unknown):
            found = (self._scopes[inner], *found) if inner in self._scopes else found
            self._chains[inner] = found
        return found

    def replace(self, nodes: Iterable[Node], edges: Iterable[Edge], outputs: Iterable[str]) -> Graph:
        """A graph of other nodes and edges, under the same name."""
        return Graph(self.name, nodes, edges, outputs, self.scopes)

    def __iter__(self) -> Iterator[Node]:
        for _, data in self.nx.nodes(data=True):
            yield data["node"]

    def __len__(self) -> int:
        return len(self.nx)

    def __getitem__(self, name: str) -> Node:
        node: Node = self.nx.nodes[name]["node"]
        return node

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """All edges, by target and slot."""
        return tuple(edge for node in self for edge in self.inputs(node.name))

    def inputs(self, name: str) -> tuple[Edge, ...]:
        """The edges into a node, in the order of its arguments."""
        return self._inputs.get(name, ())

    @cached_property
    def gates(self) -> tuple[Gate, ...]:
        """All gates, in the order of their edges."""
        return tuple(edge.gate for edge in self.edges if edge.gate is not None)

    def __eq__(self, other: object) -> bool:
        """Equal operations, shapes, names, edges and order; where they were written does not matter."""
        if not isinstance(other, Graph):
            return NotImplemented
        return (list(self), self.edges, self.outputs) == (list(other), other.edges, other.outputs)

    __hash__ = None  # type: ignore[assignment]  # two equal graphs may come from different texts

    def __str__(self) -> str:
        lines = [
            f"%{node.name} = {node.op}({', '.join(map(str, self.inputs(node.name)))}) : {shape_text(node.shape)}"
            for node in self
        ]
        return "\n".join([*lines, f"return {', '.join(f'%{name}' for name in self.outputs)}"]) + "\n"

    def __repr__(self) -> str:
        return f"<graph {self.name}: {len(self):,} nodes, {len(self.edges):,} edges, {len(self.gates):,} gates>"

    def _repr_svg_(self) -> str | None:
        """What a notebook shows. It asks the graph, but what draws graphs knows them, so that is found by its name."""
        svg: str | None = import_module("bayesnas_graph.report.notebook").graph_svg(self)
        return svg
