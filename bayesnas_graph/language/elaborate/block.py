"""Motifs expanded for given arguments and input shapes, and their conversion to a flat graph.

Blocks nest like motifs. A motif used a hundred times in the same way is one block, referenced a hundred times: this
keeps checking fast, and limits are checked without flattening.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir import Constraint, Edge, Gate, Graph, Node, Op, Scope, Shape, Term, WrittenEdge, inner_name
from bayesnas_graph.ir.ops import Input
from bayesnas_graph.ir.walks import reached
from bayesnas_graph.language.elaborate.channels import Channels
from bayesnas_graph.language.elaborate.labels import Name
from bayesnas_graph.language.elaborate.number_choices import NumberChoice, NumberOwner
from bayesnas_graph.language.elaborate.values import MotifNode
from bayesnas_graph.language.syntax import ast


@dataclass(frozen=True, slots=True)
class Compute:
    """One primitive applied to values of the block; computes one value."""

    called: Name
    op: Op
    inputs: tuple[int, ...]
    shape: Shape
    span: Span = field(repr=False)
    behind: tuple[str, ...] = ()  # the gates of the candidates it is part of, outermost first
    gates: tuple[Gate, ...] = ()  # one per input, where a search may close them
    number: NumberChoice | None = None  # the number that these gates choose

    @property
    def name(self) -> str:
        """Its id within the block."""
        return self.called.id


@dataclass(frozen=True, slots=True)
class Nested:
    """Another block applied to values of this one; computes one value per output."""

    called: Name
    block: Block
    inputs: tuple[int, ...]
    span: Span = field(repr=False)  # of the use
    behind: tuple[str, ...] = ()  # as for `Compute`

    @property
    def name(self) -> str:
        """Its id within the block."""
        return self.called.id


@dataclass(frozen=True, slots=True)
class BlockEdge:
    """An edge of a motif's text. Its ends are values of the block."""

    source: int  # the value that it carries
    target: int | None  # the value of the join that reads it, if there is one
    inside: tuple[str, ...]  # the ids of the choices and optional operations on it
    closable: bool  # whether it is off if all these are
    text: str


@dataclass(frozen=True, slots=True)
class BlockConstraint:
    """A constraint on the edges of a motif. See `ir.Constraint`."""

    terms: tuple[tuple[BlockEdge, bool], ...]
    least: int
    most: int
    around: tuple[int, ...]  # values
    text: str
    span: Span = field(repr=False)


@dataclass(frozen=True, eq=False)
class Block:
    """An expanded motif. Values are numbered: first the inputs, then the results of the steps, in order."""

    definition: ast.Motif
    inputs: tuple[tuple[MotifNode, Shape], ...]
    steps: tuple[Compute | Nested, ...]
    outputs: tuple[int, ...]
    output_shapes: tuple[Shape, ...]
    output_channels: tuple[Channels | None, ...]
    numbers: NumberOwner  # the numbers that are chosen in it
    constraints: tuple[BlockConstraint, ...] = ()

    @cached_property
    def gated(self) -> tuple[str, ...]:
        """The ids of all choices and optional operations, including nested blocks."""
        return gated(self.steps)

    @cached_property
    def closable(self) -> tuple[bool, ...]:
        """For every output, whether nothing reaches it if all choices and optional operations are off."""
        return closable(self.steps, len(self.inputs), self.outputs)

    @cached_property
    def nodes(self) -> int:
        """The number of primitives, including nested blocks."""
        return sum(1 if isinstance(step, Compute) else step.block.nodes for step in self.steps)

    @cached_property
    def edges(self) -> int:
        """The number of inputs of all its primitives."""
        return sum(len(step.inputs) if isinstance(step, Compute) else step.block.edges for step in self.steps)

    @cached_property
    def choice_of(self) -> dict[str, str]:
        """For the gate of every candidate, the id of its choice."""
        gates = (gate for step in self.steps if isinstance(step, Compute) for gate in step.gates)
        return {gate.name: gate.choice for gate in gates if gate.kind == "candidate"}

    def choice_around(self, step: Compute | Nested) -> str:
        """The id of the innermost choice that a step is part of a candidate of; empty if there is none."""
        return next((self.choice_of[gate] for gate in reversed(step.behind) if gate in self.choice_of), "")

    @cached_property
    def choices(self) -> int:
        """The number of choices and optional operations."""
        return sum(bool(step.gates) if isinstance(step, Compute) else step.block.choices for step in self.steps)


def gated(steps: Sequence[Compute | Nested]) -> tuple[str, ...]:
    """The ids of the choices and optional operations of some steps, including nested blocks."""
    found: list[str] = []
    for step in steps:
        if isinstance(step, Nested):
            found += [f"{step.name}.{id}" for id in step.block.gated]
        elif step.gates:
            found.append(step.name)
    return tuple(found)


def closable(steps: Sequence[Compute | Nested], first: int, values: Sequence[int]) -> tuple[bool, ...]:
    """For some values, whether they are lost if all choices and optional operations of these steps are off.

    The steps compute the values from `first` on. A choice that must keep candidates is never off.
    """
    lost: list[bool] = []

    def is_lost(value: int) -> bool:
        return value >= first and lost[value - first]

    for step in steps:
        if isinstance(step, Nested):
            no_input = all(map(is_lost, step.inputs)) and bool(step.inputs)
            lost += [no_input or is_cut for is_cut in step.block.closable]
        elif step.gates and not step.op.candidate_least:
            lost.append(True)
        else:
            some = all if step.op.tolerates_missing_inputs else any
            lost.append(bool(step.inputs) and some(map(is_lost, step.inputs)))
    return tuple(map(is_lost, values))


def flatten(block: Block, name: str) -> Graph:
    """The graph of a network: all motifs expanded, without nodes that reach no output."""
    flat = _Flattener(_Position(part=name, prefix=":"))
    inputs = []
    for node, shape in block.inputs:
        flat.nodes.append(Node(node.name, Input(), shape, block.definition.span, label=node.text))
        inputs.append(node.name)
    outputs = flat.write(block, inputs, _Position(part=name))
    sources: dict[str, list[str]] = {node.name: [] for node in flat.nodes}
    for edge in flat.edges:
        sources[edge.target].append(edge.source)
    used = reached(outputs, sources.__getitem__)
    nodes = [node for node in flat.nodes if node.name in used or node.op.is_input]
    edges = [edge for edge in flat.edges if edge.target in used]
    constraints = [constraint for constraint in flat.constraints if not used.isdisjoint(constraint.around)]
    return Graph(name, nodes, edges, outputs, flat.scopes, constraints)


@dataclass(frozen=True, slots=True)
class _Position:
    """The position of a block in the graph."""

    part: str  # the enclosing cell; outside cells its motif, or the network
    scope: str = ""  # the name of the use
    prefix: str = ""  # of its names
    text: str = ""  # the displayed name of the use, from the network on
    in_cell: bool = False
    inside: str = ""  # prefix of its names within the cell
    use: str = ""  # the displayed name of the use, from the part on
    behind: tuple[str, ...] = ()  # the gates of the candidates it is part of

    def enter(self, step: Nested, cell: str | None) -> _Position:
        """The position of a nested block; `cell` is its name if it is a cell."""
        scope, behind = self.prefix + step.name, (*self.behind, *(self.prefix + gate for gate in step.behind))
        prefix, text = f"{scope}.", self.within(step.called.text)
        if cell is not None:
            return _Position(cell, scope, prefix, text, in_cell=True, behind=behind)
        if not self.in_cell:
            return _Position(step.block.definition.name.name, scope, prefix, text, use=text, behind=behind)
        use = inner_name(self.use, step.called.text)
        return _Position(self.part, scope, prefix, text, True, f"{self.inside}{step.name}.", use, behind)

    def within(self, text: str) -> str:
        """The displayed name of a step, from the network on."""
        return inner_name(self.text, text)

    def gate(self, gate: Gate, home: _Position | None = None) -> Gate:
        """A gate of the block, with its names in the graph. `home` is where its number is chosen, if it has one."""
        home = home or self
        return replace(
            gate,
            name=self.prefix + gate.name,
            group=f"{home.part}:{home.inside}{gate.group}" if home.in_cell else home.prefix + gate.group,
            choice=self.prefix + gate.choice,
            part=home.part,
            use=home.use,
            home=home.scope if gate.number else "",
        )


class _Flattener:
    def __init__(self, file: _Position) -> None:
        self.file = file  # the position of numbers that are chosen outside motifs
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.scopes: list[Scope] = []
        self.cells: dict[ast.Motif, str] = {}
        self.homes: dict[NumberOwner, _Position] = {}  # the blocks being written
        self.constraints: list[Constraint] = []

    def write(self, block: Block, inputs: list[str], position: _Position) -> list[str]:
        """Add a block to the graph; return the names of its outputs."""
        values = list(inputs)
        self.homes[block.numbers] = position
        for step in block.steps:
            name, label = position.prefix + step.name, step.called.label
            sources = [values[i] for i in step.inputs]
            choice, text = block.choice_around(step), position.within(step.called.text)
            scope = position.prefix + choice if choice else position.scope
            if isinstance(step, Nested):
                motif = step.block.definition
                inner = position.enter(step, self._cell(motif) if motif.role == "cell" else None)
                outputs = len(step.block.outputs)
                self.scopes.append(Scope(name, motif.name.name, motif.role, outputs, step.span, label, text, scope))
                values.extend(self.write(step.block, sources, inner))
                continue
            if step.op.is_choice:
                self.scopes.append(Scope(name, "choice", "choice", 1, step.span, label, text, scope))
                scope = name
            behind = (*position.behind, *(position.prefix + gate for gate in step.behind))
            self.nodes.append(Node(name, step.op, step.shape, step.span, label=label, behind=behind, scope=scope))
            home = self.homes.get(step.number.owner, self.file) if step.number else None
            for slot, source in enumerate(sources):
                gate = position.gate(step.gates[slot], home) if step.gates else None
                self.edges.append(Edge(source, name, slot, gate, step.span))
            values.append(name)
        for constraint in block.constraints:
            terms = tuple(Term(_edge(edge, values, position.prefix), kept) for edge, kept in constraint.terms)
            around = tuple(values[i] for i in constraint.around)
            least, most, text = constraint.least, constraint.most, constraint.text
            self.constraints.append(Constraint(terms, least, most, around, text, position.part, constraint.span))
        return [values[i] for i in block.outputs]

    def _cell(self, definition: ast.Motif) -> str:
        """The name of a cell, numbered if another file has a cell of the same name."""
        if definition not in self.cells:
            name = definition.name.name
            same = sum(other.name.name == name for other in self.cells)
            self.cells[definition] = name if not same else f"{name}_{same + 1}"
        return self.cells[definition]


def _edge(edge: BlockEdge, values: Sequence[str], prefix: str) -> WrittenEdge:
    """An edge of a block with the names of the graph."""
    target = "" if edge.target is None else values[edge.target]
    inside = tuple(prefix + id for id in edge.inside)
    return WrittenEdge(values[edge.source], target, inside, edge.closable, edge.text)
