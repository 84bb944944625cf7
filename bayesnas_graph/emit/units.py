"""A flat graph as nested units again: one per use of a motif that is still whole.

A motif is whole while nothing outside of it reads anything inside but its outputs. Where a pass has merged
part of one with part of another, all uses of that motif dissolve into what surrounds them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from bayesnas_graph.ir import Expression, Graph, ModuleCall, Node, Scope
from bayesnas_graph.ops import Choice, Gated, Input

LEAST = 2  # operations that make a class worth having


@dataclass(frozen=True, slots=True)
class Compute:
    """An operation of torch on values of the unit."""

    name: str
    call: ModuleCall | Expression
    inputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Weigh:
    """Values times their gates, added up."""

    name: str
    inputs: tuple[str, ...]
    gates: tuple[int, ...]  # positions among the gates of the unit


@dataclass(frozen=True, slots=True)
class Use:
    """Another unit on values of this one."""

    name: str
    unit: Unit
    inputs: tuple[str, ...]
    results: tuple[str, ...]  # what its outputs are called here


Item = Compute | Weigh | Use


@dataclass(frozen=True, eq=False)
class Unit:
    """One use of a motif. Values are called by the names of their nodes within the unit, inputs by `x`, `x2`, ..."""

    scope: Scope
    inputs: tuple[str, ...]
    items: tuple[Item, ...]
    outputs: tuple[str, ...]
    gates: tuple[str, ...]  # the full names of its own gates


def units(graph: Graph) -> Unit:
    """The unit of the whole graph."""
    return _Builder(graph).root()


class _Builder:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.root_scope = Scope("", graph.name, "network", len(graph.outputs))
        scopes = {scope.name: scope for scope in graph.scopes}
        self.chain = {node.name: tuple(_enclosing(node.name, scopes)) for node in graph}  # innermost first
        self.reads: dict[str, dict[str, None]] = defaultdict(dict)  # scope -> values from outside, in order
        self.gives: dict[str, dict[str, None]] = defaultdict(dict)  # scope -> values read outside, in order
        self.members: Counter[str] = Counter(scope.name for chain in self.chain.values() for scope in chain)
        self._cross()
        kinds = {scope.kind for scope in scopes.values() if len(self.gives[scope.name]) > scope.outputs}
        self.kept = {
            name
            for name, scope in scopes.items()
            if scope.kind not in kinds and self.members[name] >= LEAST and self.gives[name]
        }
        self.steps = self._steps(scopes)

    def _cross(self) -> None:
        """Find what crosses the border of every scope."""
        for edge in self.graph.edges:
            inside = {scope.name for scope in self.chain[edge.source]}
            around = {scope.name for scope in self.chain[edge.target]}
            for name in inside - around:
                self.gives[name][edge.source] = None
            for name in around - inside:
                self.reads[name][edge.source] = None
        for output in self.graph.outputs:
            for scope in self.chain[output]:
                self.gives[scope.name][output] = None

    def _steps(self, scopes: dict[str, Scope]) -> dict[str, list[Node | Scope]]:
        """For every kept scope, and "" for the whole, its own nodes and the kept scopes directly in it, in order.

        The nodes of a scope follow each other in a graph, so a scope can stand where its last node does.
        """
        left = self.members.copy()
        steps: dict[str, list[Node | Scope]] = defaultdict(list)
        for node in self.graph:
            if isinstance(node.op, Input):
                continue
            chain = [scope.name for scope in self.chain[node.name] if scope.name in self.kept]
            steps[chain[0] if chain else ""].append(node)
            for name, outer in zip(chain, [*chain[1:], ""], strict=False):
                left[name] -= 1
                if left[name] == 0:
                    steps[outer].append(scopes[name])
        return steps

    def root(self) -> Unit:
        inputs = {node.name: _input(i) for i, node in enumerate(n for n in self.graph if isinstance(n.op, Input))}
        return self._unit(self.root_scope, inputs, self.graph.outputs)

    def _unit(self, scope: Scope, inputs: dict[str, str], outputs: tuple[str, ...]) -> Unit:
        names = dict(inputs)  # node -> what it is called here
        prefix = f"{scope.name}." if scope.name else ""
        gates: dict[str, int] = {}
        items: list[Item] = []
        for step in self.steps[scope.name]:
            if isinstance(step, Scope):
                read = tuple(self.reads[step.name])
                given = tuple(self.gives[step.name])
                unit = self._unit(step, {name: _input(i) for i, name in enumerate(read)}, given)
                names.update({name: name.removeprefix(prefix) for name in given})
                results = tuple(names[name] for name in given)
                items.append(Use(step.name.removeprefix(prefix), unit, tuple(names[name] for name in read), results))
                continue
            names[step.name] = step.name.removeprefix(prefix)
            items.append(self._item(step, names, gates))
        return Unit(scope, tuple(inputs.values()), tuple(items), tuple(names[name] for name in outputs), tuple(gates))

    def _item(self, node: Node, names: dict[str, str], gates: dict[str, int]) -> Item:
        edges = self.graph.inputs(node.name)
        read = tuple(names[edge.source] for edge in edges)
        if isinstance(node.op, Choice | Gated):
            positions = tuple(gates.setdefault(edge.gate.name, len(gates)) for edge in edges if edge.gate)
            return Weigh(names[node.name], read, positions)
        return Compute(names[node.name], node.op.torch(*(self.graph[edge.source].shape for edge in edges)), read)


def _enclosing(name: str, scopes: dict[str, Scope]) -> Iterator[Scope]:
    while "." in name:
        name = name.rpartition(".")[0]
        if name in scopes:
            yield scopes[name]


def _input(position: int) -> str:
    return "x" if position == 0 else f"x{position + 1}"
