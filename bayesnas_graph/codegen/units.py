"""A flat graph as nested units: one per use of a motif that is still whole.

A motif is whole if only its outputs are read outside it. If a pass merged part of it with part of another, all its uses
are dissolved into the enclosing units. So are motifs that only use another motif, and motifs that share only some of
their weights with something outside.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from bayesnas_graph.codegen.names import plain
from bayesnas_graph.codegen.sharing import sharing
from bayesnas_graph.ir import Expression, Graph, ModuleCall, Node, Op, Scope, local_name

MIN_OPERATIONS = 2  # in a unit; smaller ones are dissolved


@dataclass(frozen=True, slots=True)
class OpUse:
    """An operation on values of the unit."""

    name: str
    op: Op
    call: ModuleCall | Expression  # how torch computes it
    inputs: tuple[str, ...]
    weights: str = ""  # the name of its weights, if another item of the unit has the same


@dataclass(frozen=True, slots=True)
class Weigh:
    """The sum of values times their gates, times the zero gate if nothing else reads the sum.

    It may be the total of several such sums, each of which has a zero gate, or none of them.
    """

    name: str
    inputs: tuple[str, ...]
    gates: tuple[int, ...]  # positions among the gates of the unit; in a total, zero gates included
    zero: int | None = None
    sizes: tuple[int, ...] = ()  # in a total, the numbers of values


@dataclass(frozen=True, slots=True)
class UnitUse:
    """Another unit on values of this one."""

    name: str
    unit: Unit
    inputs: tuple[str, ...]
    results: tuple[str, ...]  # the names of its outputs here
    weights: str = ""  # as for `OpUse`


@dataclass(frozen=True, slots=True)
class Split:
    """All parts of the channels of a value, one after another."""

    name: str
    inputs: tuple[str, ...]
    results: tuple[str, ...]
    sizes: tuple[int, ...]  # of the parts, relative to each other


Item = OpUse | Weigh | UnitUse | Split


@dataclass(frozen=True, eq=False)
class Unit:
    """One use of a motif, or a choice.

    Values have the names of their nodes within the unit. Inputs are named by their position and a dot, like no node.
    """

    scope: Scope
    inputs: tuple[str, ...]
    words: tuple[str, ...]  # of the inputs: `x`, or the operation if a pass moved it out of the unit
    items: tuple[Item, ...]
    outputs: tuple[str, ...]
    gates: tuple[str, ...]  # the full names of its own gates
    wrappers: tuple[Scope, ...] = ()  # motifs that only use this one, the innermost first


def units(graph: Graph) -> Unit:
    """The unit of the whole graph."""
    return _Builder(graph).root()


def results(item: Item) -> tuple[str, ...]:
    """The values that an item computes."""
    return item.results if isinstance(item, UnitUse | Split) else (item.name,)


def updates_itself(item: Item) -> bool:
    """Whether an item has statistics that its uses update, so that their order matters."""
    if isinstance(item, UnitUse):
        return any(map(updates_itself, item.unit.items))
    return isinstance(item, OpUse) and (item.op.uses_batch_statistics or item.op.is_python)


def by_height(root: Unit) -> list[list[Unit]]:
    """All units, those that use no other first, then those that use only them, and so on."""
    levels: dict[int, list[Unit]] = defaultdict(list)

    def visit(unit: Unit) -> int:
        height = max((1 + visit(item.unit) for item in unit.items if isinstance(item, UnitUse)), default=0)
        levels[height].append(unit)
        return height

    visit(root)
    return [levels[height] for height in sorted(levels)]


def common_scope(members: Sequence[Unit]) -> Scope:
    """The scope that units of one kind are named after: the outermost motif that only uses them, if they share it."""
    kinds = [{scope.kind for scope in unit.wrappers} for unit in members]
    common = [scope for scope in members[0].wrappers if all(scope.kind in own for own in kinds)]
    return common[-1] if common else members[0].scope


class _Builder:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.root_scope = Scope("", plain(graph.name), "network", len(graph.outputs))
        scopes = {scope.name: scope for scope in graph.scopes}
        self.chain = {node.name: graph.enclosing(node.name) for node in graph}  # innermost first
        self.reads: dict[str, dict[str, None]] = defaultdict(dict)  # scope -> values from outside, in order
        self.gives: dict[str, dict[str, None]] = defaultdict(dict)  # scope -> values read outside, in order
        self.members: Counter[str] = Counter(scope.name for chain in self.chain.values() for scope in chain)
        self._cross()
        broken = [scope for scope in scopes.values() if len(self.gives[scope.name]) > scope.outputs]
        choices = {scope.name for scope in broken if scope.role == "choice"}  # dissolved one by one: they have no kind
        kinds = {scope.kind for scope in broken if scope.role != "choice"}
        self.whole = {
            name
            for name, scope in scopes.items()
            if self.members[name] >= MIN_OPERATIONS
            and self.gives[name]
            and (name not in choices if scope.role == "choice" else scope.kind not in kinds)
        }
        self.sharing = sharing(graph, self.whole)
        self.whole -= self.sharing.split
        self.steps = self._steps(scopes)

    def _cross(self) -> None:
        """Find the values that cross the border of every scope."""
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
        """For every whole scope, and "" for the graph, its own nodes and the whole scopes directly in it, in order.

        The nodes of a scope are consecutive in a graph, so a scope can take the place of its last node.
        """
        members_left = self.members.copy()
        steps: dict[str, list[Node | Scope]] = defaultdict(list)
        for node in self.graph:
            if node.op.is_input:
                continue
            chain = [scope.name for scope in self.chain[node.name] if scope.name in self.whole]
            steps[chain[0] if chain else ""].append(node)
            for name, outer in zip(chain, [*chain[1:], ""], strict=False):
                members_left[name] -= 1
                if members_left[name] == 0:
                    steps[outer].append(scopes[name])
        return steps

    def root(self) -> Unit:
        inputs = [node.name for node in self.graph if node.op.is_input]
        unit = self._unit(self.root_scope, inputs, self.graph.outputs)
        body = unwrapped(unit)
        return replace(body, scope=replace(self.root_scope, name=body.scope.name), wrappers=())

    def _unit(self, scope: Scope, inputs: Sequence[str], outputs: Sequence[str]) -> Unit:
        names = {value: f"{i}." for i, value in enumerate(inputs)}  # node -> its name here
        words = tuple(self._word(value) for value in inputs)
        gates: dict[str, int] = {}
        items: list[Item] = []
        for step in self._together(self.steps[scope.name]):
            if isinstance(step, list):
                names.update({part.name: _local(part.name, scope) for part in step})
                source = self.graph.inputs(step[0].name)[0].source
                word = self._word(source) if source in inputs else names[source]
                parts = tuple(names[part.name] for part in step)
                sizes = tuple(end - start for start, end in (part.op.part for part in step))
                items.append(Split(f"{word}.parts.", (names[source],), parts, sizes))
                continue
            if isinstance(step, Scope):
                read = tuple(self.reads[step.name])
                produced = tuple(self.gives[step.name])
                unit = unwrapped(self._unit(step, read, produced))
                weights = _local_weights(step.weights, scope) if step.weights in self.sharing.modules else ""
                names.update({name: self._result(name, scope) for name in produced})
                results = tuple(names[name] for name in produced)
                items.append(
                    UnitUse(_local(step.name, scope), unit, tuple(names[name] for name in read), results, weights)
                )
                continue
            names[step.name] = _local(step.name, scope)
            items.append(self._item(step, names, gates, scope))
        unit_outputs = tuple(names[name] for name in outputs)
        places = tuple(names[value] for value in inputs)
        return Unit(
            scope,
            places,
            words,
            tuple(_totals(list(_folded(_sharing(items), unit_outputs)))),
            unit_outputs,
            tuple(gates),
        )

    def _word(self, value: str) -> str:
        """A word for a value, from its operation."""
        return self.graph[value].op.label if self.graph[value].replaces else "x"

    def _together(self, steps: list[Node | Scope]) -> Iterator[Node | Scope | list[Node]]:
        """The steps, with all parts of one value as one step, because `chunk` is faster than slices."""
        parts: dict[str, list[Node]] = defaultdict(list)
        for step in steps:
            if isinstance(step, Node) and step.op.parts:
                parts[self.graph.inputs(step.name)[0].source].append(step)
        for step in steps:
            if not isinstance(step, Node) or not step.op.parts:
                yield step
                continue
            siblings = parts[self.graph.inputs(step.name)[0].source]
            if not _are_all(siblings):
                yield step
            elif step is siblings[0]:
                yield sorted(siblings, key=lambda part: part.op.part)

    def _result(self, value: str, scope: Scope) -> str:
        """The name of a value that units output: that of the outermost unit with no other output."""
        name = value
        for inner in takewhile(lambda other: other != scope, self.chain[value]):
            if inner.name in self.whole and len(self.gives[inner.name]) == 1:
                name = inner.name
        return _local(name, scope)

    def _item(self, node: Node, names: dict[str, str], gates: dict[str, int], scope: Scope) -> Item:
        edges = self.graph.inputs(node.name)
        read = tuple(names[edge.source] for edge in edges)
        if node.op.is_gated:
            positions = tuple(gates.setdefault(edge.gate.name, len(gates)) for edge in edges if edge.gate)
            return Weigh(names[node.name], read, positions)
        call = node.op.torch(*self.graph.input_shapes(node.name))
        return OpUse(names[node.name], node.op, call, read, _local_weights(node.weights, scope))


def unwrapped(unit: Unit) -> Unit:
    """The unit that a unit passes its inputs on to, if it does nothing else."""
    match unit.items:
        case (UnitUse() as use,) if use.inputs == unit.inputs and use.results == unit.outputs and not unit.gates:
            return replace(use.unit, wrappers=(*use.unit.wrappers, unit.scope))
    return unit


def _folded(items: list[Item], outputs: tuple[str, ...]) -> Iterator[Item]:
    """The items, with a zero gate included in the sum that only it reads."""
    readers: dict[str, list[Item | None]] = defaultdict(list)
    for item in items:
        for name in item.inputs:
            readers[name].append(item)
    for name in outputs:
        readers[name].append(None)
    sums: dict[str, Weigh] = {}
    for item in items:
        match item, readers[item.name]:
            case Weigh(inputs=(value,), gates=(gate,)), _ if value in sums:
                yield replace(sums[value], name=item.name, zero=gate)
            case Weigh() as weigh, [Weigh(gates=(gate,))] if gate == weigh.gates[-1] + 1:
                sums[weigh.name] = weigh
            case _:
                yield item


def _totals(items: list[Item]) -> Iterator[Item]:
    """The items, with the choices of a total included in it if their gates are in a row."""
    sums = {item.name: item for item in items if isinstance(item, Weigh)}
    totals: dict[str, Weigh] = {}
    included: set[str] = set()
    for item in items:
        if isinstance(item, OpUse) and item.op.adds_choices and all(name in sums for name in item.inputs):
            parts = [sums[name] for name in item.inputs]
            gates = tuple(
                gate for part in parts for gate in (*part.gates, *(() if part.zero is None else (part.zero,)))
            )
            inputs = tuple(name for part in parts for name in part.inputs)
            if len({part.zero is None for part in parts}) == 1 and gates == tuple(range(gates[0], gates[-1] + 1)):
                sizes = tuple(len(part.inputs) for part in parts)
                totals[item.name] = Weigh(item.name, inputs, gates, sizes=sizes)
                included |= set(item.inputs)
    return (totals.get(item.name, item) for item in items if item.name not in included)


def _are_all(parts: list[Node]) -> bool:
    """Whether these parts of a value are all of it, and no two overlap."""
    ends = sorted(part.op.part for part in parts)
    last = parts[0].op.parts
    return [start for start, _ in ends] == [0, *(stop for _, stop in ends[:-1])] and ends[-1][1] == last


def _sharing(items: list[Item]) -> list[Item]:
    """The items; only those that share their weights with another one name them."""
    uses = Counter(item.weights for item in items if isinstance(item, OpUse | UnitUse))
    return [
        replace(item, weights="") if isinstance(item, OpUse | UnitUse) and uses[item.weights] == 1 else item
        for item in items
    ]


def _local_weights(weights: str, scope: Scope) -> str:
    """The name of weights in a unit."""
    return local_name(scope.weights or scope.name, weights)


def _local(name: str, scope: Scope) -> str:
    """The name of a node in a unit. The dot distinguishes the sum of a choice from everything inside it."""
    return "total." if name == scope.name else local_name(scope.name, name)
