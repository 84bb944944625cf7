"""The frozen graph that every pass takes and returns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir.constraint import Constraint
from bayesnas_graph.ir.op import Op, Shape, shape_text

if TYPE_CHECKING:
    import networkx as nx


Kind = Literal["candidate", "zero", "optional"]
OutputKind = Literal["classes", "values", "labels", "map"]  # what an output predicts, as its type says


@dataclass(frozen=True, slots=True)
class Gate:
    """A switch that a search may close.

    Gates with the same `group` are one switch: the same position in all uses of a cell. A gate outside cells is a
    group of its own. Both `name` and `group` are ids; everything else about a gate is in the other fields, which are
    ignored when gates are compared.
    """

    name: str
    group: str
    # The node that its candidate leads into: a choice, or an optional operation.
    choice: str = field(default="", compare=False, repr=False)
    label: str = field(default="", compare=False, repr=False)  # of the candidate: `sep_conv_3`
    kind: Kind = field(default="candidate", compare=False, repr=False)
    # The cell that shares it; outside cells the motif it is in, or the network.
    part: str = field(default="", compare=False, repr=False)
    # The use of a motif that it is in, relative to the part; empty if it is directly in the part.
    use: str = field(default="", compare=False, repr=False)
    target: str = field(default="", compare=False, repr=False)  # the node of the text that it leads to: `h[1]`
    # The node of the text that it reads, if others lead to the target too: `entry`.
    source: str = field(default="", compare=False, repr=False)
    span: Span | None = field(default=None, compare=False, repr=False)  # of its candidate
    # The number that it chooses an option of, if any: its name, and the scope that it is chosen in.
    number: str = field(default="", compare=False, repr=False)
    home: str = field(default="", compare=False, repr=False)

    @property
    def is_zero(self) -> bool:
        """Whether it closes all candidates of its choice at once."""
        return self.kind == "zero"

    @property
    def place(self) -> str:
        """The displayed name of the choice: `h[1] <- entry`."""
        target = inner_name(self.use, self.target)
        return f"{target} <- {self.source}" if self.source else target

    @property
    def operation(self) -> str:
        """What it switches on: the label of its candidate, `zero` or `optional`."""
        return self.label if self.kind == "candidate" else self.kind

    @property
    def text(self) -> str:
        """Its displayed name."""
        return switch_text(self.part, self.place, self.operation)


def zero_name(choice: str) -> str:
    """The id of the zero gate of a choice."""
    return f"{choice}.zero"


def inner_name(scope: str, name: str) -> str:
    """The full name of what has this name in a scope.

    >>> inner_name("large.h.1", "conv"), inner_name("", "conv")
    ('large.h.1.conv', 'conv')
    """
    return f"{scope}.{name}" if scope else name


def local_name(scope: str, name: str) -> str:
    """The name of a node or scope without that of a scope around it.

    >>> local_name("large.h.1", "large.h.1.conv"), local_name("", "conv")
    ('conv', 'conv')
    """
    return name.removeprefix(f"{scope}.") if scope else name


def switch_text(part: str, place: str, operation: str) -> str:
    """The displayed name of a switch.

    >>> switch_text("block", "h[1] <- entry", "sep_conv_3")
    'block h[1] <- entry: sep_conv_3'
    """
    return f"{part} {place}: {operation}"


@dataclass(frozen=True, slots=True)
class Node:
    """One operation, computing one value."""

    name: str  # unique in its graph
    op: Op
    shape: Shape
    span: Span | None = field(default=None, compare=False, repr=False)
    replaces: tuple[tuple[str, ...], ...] = field(default=(), compare=False, repr=False)
    label: str = field(default="", compare=False, repr=False)  # what the text calls it: `h[1]`, `sep_conv_3`
    # The gates of the candidates it is part of, outermost first.
    behind: tuple[str, ...] = field(default=(), compare=False, repr=False)
    scope: str = field(default="", compare=False, repr=False)  # the innermost scope it is in; empty if it is in none
    # The name of its weights, if `share` declares them: nodes with the same name share them. Empty if they are its own.
    weights: str = ""

    @property
    def stands_for(self) -> tuple[tuple[str, ...], ...]:
        """The nodes of the elaborated graph that it computes: itself, unless a pass has merged others into it.

        There is one entry for each equal part of its channels, listing the nodes with that part: `(("a", "b"),)` if
        `a` and `b` were merged, `(("a",), ("b",))` if they were fused side by side.
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

    @property
    def switch_span(self) -> Span | None:
        """Where its switch is written: its candidate, or the whole choice if that takes its candidates from a set.

        The options of a number are written where it is chosen.
        """
        own = self.gate.span if self.gate is not None else None
        if self.gate is not None and self.gate.number:
            return own
        return own if own is not None and (self.span is None or self.span.covers(own)) else self.span

    def __str__(self) -> str:
        return f"%{self.source}" + (f" @{self.gate.group}" if self.gate else "")


@dataclass(frozen=True, slots=True)
class Scope:
    """One use of a motif. Nodes and scopes name the scope that they are directly in.

    A choice is a scope too: its candidates, and the choice itself, which has the name of the scope.
    """

    name: str
    kind: str  # the name of the motif
    role: str  # "motif", "cell", "network", "choice", or "share" for an operation that `share` names
    outputs: int = 1
    span: Span | None = field(default=None, compare=False, repr=False)  # of the use
    label: str = field(default="", compare=False, repr=False)  # what the text calls the use: `h[1]`
    text: str = field(default="", compare=False, repr=False)  # the same with all uses around it: `stage[0].h[1]`
    parent: str = field(default="", compare=False, repr=False)  # the scope it is directly in; empty if it is in none
    arguments: tuple[tuple[str, int | str], ...] = field(default=(), compare=False, repr=False)  # numbers and names
    # The weights of its nodes, if they are shared; uses with the same name have the same weights.
    weights: str = field(default="", compare=False, repr=False)


class Graph:
    """A directed acyclic graph, frozen once constructed.

    A multigraph keyed by slot, because `sum(x, x)` is two edges between the same two nodes. Nodes keep the order of
    construction: every value comes before its uses.
    """

    def __init__(
        self,
        name: str,
        nodes: Iterable[Node],
        edges: Iterable[Edge],
        outputs: Iterable[str],
        scopes: Iterable[Scope] = (),
        constraints: Iterable[Constraint] = (),
        kinds: Iterable[OutputKind] = (),
    ) -> None:
        import networkx as nx  # slow to import, and checking a file needs no graph

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
        self.kinds = _kinds(len(self.outputs), tuple(kinds))  # of the outputs
        self._chains: dict[str, tuple[Scope, ...]] = {}
        self.scopes = tuple(scopes)  # like spans, not compared
        self.constraints = tuple(constraints)  # may name nodes and edges that were pruned
        self.nx: nx.MultiDiGraph[str] = nx.freeze(graph)

    @cached_property
    def _scopes(self) -> dict[str, Scope]:
        return {scope.name: scope for scope in self.scopes}

    def enclosing(self, name: str) -> tuple[Scope, ...]:
        """The scopes around a node, the innermost first. A choice is in its own scope."""
        return self.scopes_from(self[name].scope)

    def scopes_from(self, name: str) -> tuple[Scope, ...]:
        """The scope of this name and the scopes around it, the innermost first; empty if there is no such scope."""
        if name not in self._chains:
            found, inner = [], name
            while inner and inner in self._scopes:
                found.append(self._scopes[inner])
                inner = found[-1].parent
            self._chains[name] = tuple(found)
        return self._chains[name]

    def replace(
        self,
        nodes: Iterable[Node],
        edges: Iterable[Edge],
        outputs: Iterable[str],
        constraints: Iterable[Constraint] | None = None,
    ) -> Graph:
        """A graph with the same name, scopes and, unless others are given, constraints, and these nodes and edges."""
        kept = self.constraints if constraints is None else constraints
        return Graph(self.name, nodes, edges, outputs, self.scopes, kept, self.kinds)

    def keep_scopes(self, kept: Collection[str]) -> Graph:
        """The graph with only these scopes. What is in another scope moves to the one around it."""

        def nearest(name: str) -> str:
            return next((scope.name for scope in self.scopes_from(name) if scope.name in kept), "")

        nodes = [replace(node, scope=nearest(node.scope)) for node in self]
        scopes = [replace(scope, parent=nearest(scope.parent)) for scope in self.scopes if scope.name in kept]
        return Graph(self.name, nodes, self.edges, self.outputs, scopes, self.constraints, self.kinds)

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

    def input_shapes(self, name: str) -> tuple[Shape, ...]:
        """The shapes of the values that a node reads."""
        return tuple(self[edge.source].shape for edge in self.inputs(name))

    def gates_of(self, name: str) -> set[str]:
        """The gates that switch a node off: of the candidates it is part of, and its own unless it is a choice."""
        own = (edge.gate.name for edge in self.inputs(name) if edge.gate and edge.gate.kind != "candidate")
        return {*self[name].behind, *own}

    @cached_property
    def gates(self) -> tuple[Gate, ...]:
        """All gates, in the order of their edges."""
        return tuple(edge.gate for edge in self.edges if edge.gate is not None)

    @cached_property
    def switches(self) -> dict[str, Gate]:
        """The first gate of every group, in the order of the graph."""
        found: dict[str, Gate] = {}
        for gate in self.gates:
            found.setdefault(gate.group, gate)
        return found

    @cached_property
    def shared(self) -> frozenset[str]:
        """The nodes that share their weights with another node."""
        uses = Counter(node.weights for node in self if node.weights)
        return frozenset(node.name for node in self if uses[node.weights] > 1)

    @cached_property
    def _choice_of(self) -> dict[str, str]:
        return {gate.name: gate.choice for gate in self.gates if gate.kind == "candidate"}

    @cached_property
    def _choices(self) -> frozenset[str]:
        return frozenset(self._choice_of.values())

    def choices_around(self, name: str) -> list[str]:
        """The choices that a node belongs to, outermost first: as part of a candidate, or as the choice itself."""
        around = [self._choice_of[gate] for gate in self[name].behind if gate in self._choice_of]
        return [*around, name] if name in self._choices else around

    def __eq__(self, other: object) -> bool:
        """Whether operations, shapes, names, edges, order, outputs and constraints are equal; spans do not matter."""
        if not isinstance(other, Graph):
            return NotImplemented
        one = list(self), self.edges, self.outputs, self.kinds, self.constraints
        return one == (list(other), other.edges, other.outputs, other.kinds, other.constraints)

    __hash__ = None  # type: ignore[assignment]  # two equal graphs may come from different texts

    def __str__(self) -> str:
        lines = [
            f"%{node.name} = {node.op}({', '.join(map(str, self.inputs(node.name)))})"
            f"{f' with {node.weights}' * bool(node.weights)} : {shape_text(node.shape)}"
            for node in self
        ]
        lines += [f"require {constraint}" for constraint in self.constraints]
        return "\n".join([*lines, f"return {', '.join(f'%{name}' for name in self.outputs)}"]) + "\n"

    def __repr__(self) -> str:
        return f"<graph {self.name}: {len(self):,} nodes, {len(self.edges):,} edges, {len(self.gates):,} gates>"

    def _repr_svg_(self) -> str | None:
        """The picture that a notebook shows. The report package imports graphs, so it is imported by name here."""
        svg: str | None = import_module("bayesnas_graph.report.notebook").graph_svg(self)
        return svg


def _kinds(count: int, known: tuple[OutputKind, ...]) -> tuple[OutputKind, ...]:
    """A kind for each output. One that is added, such as that of an auxiliary head, predicts what the first does."""
    others: OutputKind = known[0] if known else "classes"
    return (*known, *(others for _ in range(count - len(known))))[:count]
