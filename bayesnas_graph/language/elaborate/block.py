"""Motifs expanded for given arguments and input shapes, and their conversion to a flat graph.

Blocks nest like motifs. A motif used a hundred times in the same way is one block, referenced a hundred times: this
keeps checking fast, and limits are checked without flattening.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir import (
    Constraint,
    Edge,
    Gate,
    Graph,
    ModuleCall,
    Node,
    Op,
    OutputKind,
    Scope,
    Shape,
    Term,
    TokenShape,
    WrittenEdge,
    inner_name,
)
from bayesnas_graph.ir.ops import Input
from bayesnas_graph.ir.walks import reached
from bayesnas_graph.language.elaborate.channels import Channels
from bayesnas_graph.language.elaborate.labels import Name
from bayesnas_graph.language.elaborate.number_choices import NumberChoice, NumberOwner
from bayesnas_graph.language.elaborate.values import MotifFunction, MotifNode, Shared, Use, Value
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
    shared: Shared | None = None  # whose weights it has, if it is all of a shared operation

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
    shared: Shared | None = None  # as for `Compute`

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
class UnfinishedBlock:
    """What is known about a motif with errors: the steps that could be expanded, and the shapes of their values."""

    steps: tuple[Compute | Nested, ...]
    value_shapes: tuple[Shape, ...]
    nodes_of_text: tuple[tuple[MotifNode, int], ...]


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
    arguments: tuple[tuple[str, Value], ...] = ()  # the value of every parameter, in order
    nodes_of_text: tuple[tuple[MotifNode, int], ...] = ()  # the nodes of the text and their values

    @cached_property
    def value_shapes(self) -> tuple[Shape, ...]:
        """The shape of every value."""
        shapes = [shape for _, shape in self.inputs]
        for step in self.steps:
            shapes += (step.shape,) if isinstance(step, Compute) else step.block.output_shapes
        return tuple(shapes)

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
    def plain_arguments(self) -> tuple[tuple[str, int | str], ...]:
        """The arguments that are numbers, booleans, or motifs, given by their names; others are left out."""
        plain: list[tuple[str, int | str]] = []
        for name, value in self.arguments:
            if isinstance(value, int):
                plain.append((name, value))
            elif isinstance(value, Fraction):
                plain.append((name, str(value)))
            elif isinstance(value, MotifFunction | Use):
                function = value.function if isinstance(value, Use) else value
                plain.append((name, function.definition.name.name))
        return tuple(plain)

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


def flatten(block: Block, name: str, kinds: Sequence[OutputKind] = ()) -> Graph:
    """The graph of a network: all motifs expanded, without nodes that reach no output."""
    flat = _Flattener(_Position(part=name, prefix=":", groups=":"))
    inputs = []
    for node, shape in block.inputs:
        source = Input(isinstance(shape, TokenShape))
        flat.nodes.append(Node(node.name, source, shape, block.definition.span, label=node.text))
        flat.shapes[node.name] = shape
        inputs.append(node.name)
    outputs = flat.write(block, inputs, _Position(part=name))
    sources: dict[str, list[str]] = {node.name: [] for node in flat.nodes}
    for edge in flat.edges:
        sources[edge.target].append(edge.source)
    used = reached(outputs, sources.__getitem__)
    nodes = [node for node in flat.nodes if node.name in used or node.op.is_input]
    edges = [edge for edge in flat.edges if edge.target in used]
    constraints = [constraint for constraint in flat.constraints if not used.isdisjoint(constraint.around)]
    return Graph(name, nodes, edges, outputs, flat.scopes, constraints, kinds)


@dataclass(frozen=True, slots=True)
class _Position:
    """The position of a block in the graph."""

    part: str  # the enclosing cell or shared operation; outside these its motif, or the network
    scope: str = ""  # the name of the use
    prefix: str = ""  # of its names
    text: str = ""  # the displayed name of the use, from the network on
    groups: str = ""  # prefix of its switches
    shares_switches: bool = False  # whether it is in a cell or in a shared operation
    use: str = ""  # the displayed name of the use, from the part on
    behind: tuple[str, ...] = ()  # the gates of the candidates it is part of
    weights: str | None = None  # prefix of its weights, in a shared operation

    def enter(self, step: Nested, cell: str | None, home: _Position | None) -> _Position:
        """The position of a nested block; `cell` is its name if it is a cell.

        `home` is where the step is declared, if it is a shared operation.
        """
        scope, behind = self.prefix + step.name, (*self.behind, *(self.prefix + gate for gate in step.behind))
        prefix, text = f"{scope}.", self.within(step.called.text)
        weights = self.weights_of(step, home)
        inner = _Position("", scope, prefix, text, behind=behind, weights=f"{weights}." if weights else None)
        if cell is not None:
            return replace(inner, part=cell, groups=f"{cell}:", shares_switches=True)
        if home is not None and step.shared is not None:
            id, switches = step.shared.id, f"{home.groups}{step.shared.id}:"
            part, use = (home.part, inner_name(home.use, id)) if home.shares_switches else (home.within(id), "")
            return replace(inner, part=part, groups=switches, shares_switches=True, use=use)
        if not self.shares_switches:
            return replace(inner, part=step.block.definition.name.name, groups=prefix, use=text)
        switches, use = f"{self.groups}{step.name}.", inner_name(self.use, step.called.text)
        return replace(inner, part=self.part, groups=switches, shares_switches=True, use=use)

    def weights_of(self, step: Compute | Nested, home: _Position | None) -> str:
        """The name of the weights of a step, if they are shared; `home` is where they are declared."""
        if home is not None and step.shared is not None:
            return (home.prefix if home.weights is None else home.weights) + step.shared.id
        return "" if self.weights is None else self.weights + step.name

    def within(self, text: str) -> str:
        """The displayed name of a step, from the network on."""
        return inner_name(self.text, text)

    def gate(self, gate: Gate, home: _Position | None = None) -> Gate:
        """A gate of the block, with its names in the graph. `home` is where its number is chosen, if it has one."""
        home = home or self
        return replace(
            gate,
            name=self.prefix + gate.name,
            group=home.groups + gate.group,
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
        self.shapes: dict[str, Shape] = {}
        self.scopes: list[Scope] = []
        self.cells: dict[ast.Motif, str] = {}
        self.constraints: list[Constraint] = []
        self.homes: dict[NumberOwner, _Position] = {}  # the blocks being written

    def write(self, block: Block, inputs: list[str], position: _Position) -> list[str]:
        """Add a block to the graph; return the names of its outputs."""
        values = list(inputs)
        self.homes[block.numbers] = position
        for step in block.steps:
            name, label = position.prefix + step.name, step.called.label
            sources = [values[i] for i in step.inputs]
            choice, text = block.choice_around(step), position.within(step.called.text)
            scope = position.prefix + choice if choice else position.scope
            shared_by = self.homes[step.shared.owner] if step.shared else None
            if isinstance(step, Nested):
                motif = step.block.definition
                inner = position.enter(step, self._cell(motif) if motif.role == "cell" else None, shared_by)
                outputs, weights = len(step.block.outputs), position.weights_of(step, shared_by)
                facts = outputs, step.span, label, text, scope, step.block.plain_arguments, weights
                self.scopes.append(Scope(name, motif.name.name, motif.role, *facts))
                values.extend(self.write(step.block, sources, inner))
                continue
            if step.op.is_choice:
                self.scopes.append(Scope(name, "choice", "choice", 1, step.span, label, text, scope))
                scope = name
            behind = (*position.behind, *(position.prefix + gate for gate in step.behind))
            weights = position.weights_of(step, shared_by)
            has_module = bool(weights) and self._has_module(step.op, sources)
            node = Node(name, step.op, step.shape, step.span, label=label, behind=behind, scope=scope)
            self.nodes.append(replace(node, weights=weights) if has_module else node)
            self.shapes[name] = step.shape
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

    def _has_module(self, op: Op, sources: Sequence[str]) -> bool:
        return isinstance(op.torch(*(self.shapes[name] for name in sources)), ModuleCall)

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
