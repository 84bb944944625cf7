"""A motif written out for given arguments and input shapes, and the way from there to a flat graph.

Blocks nest as motifs do, and a motif that is used a hundred times in the same way is one block that
is referred to a hundred times. That keeps checking fast, and it is what limits are counted on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir import Edge, Gate, Graph, Node, Op, Scope, Shape
from bayesnas_graph.ir.ops import Choice, Input
from bayesnas_graph.language.syntax import ast


@dataclass(frozen=True, slots=True)
class Compute:
    """One primitive on values of the block; gives one value."""

    name: str
    op: Op
    inputs: tuple[int, ...]
    shape: Shape
    span: Span = field(repr=False)
    gates: tuple[tuple[str, Span], ...] = ()  # one per input, where a search may close them, with what is behind it


@dataclass(frozen=True, slots=True)
class Nested:
    """Another block on values of this one; gives as many values as that has outputs."""

    name: str
    block: Block
    inputs: tuple[int, ...]
    span: Span = field(repr=False)  # of the use


@dataclass(frozen=True, eq=False)
class Block:
    """Values are numbered: the inputs first, then what each step gives, in order."""

    definition: ast.Motif
    inputs: tuple[tuple[str, Shape], ...]
    steps: tuple[Compute | Nested, ...]
    outputs: tuple[int, ...]
    output_shapes: tuple[Shape, ...]

    @cached_property
    def nodes(self) -> int:
        """How many primitives it has, those of nested blocks included."""
        return sum(1 if isinstance(step, Compute) else step.block.nodes for step in self.steps)

    @cached_property
    def edges(self) -> int:
        """How many values its primitives read."""
        return sum(len(step.inputs) if isinstance(step, Compute) else step.block.edges for step in self.steps)

    @cached_property
    def choices(self) -> int:
        """How many choices and optional operations it has."""
        return sum(bool(step.gates) if isinstance(step, Compute) else step.block.choices for step in self.steps)


def flatten(block: Block, name: str) -> Graph:
    """The graph of a network: every motif written out, nothing in it that does not reach an output."""
    flat = _Flattener()
    inputs = []
    for input_name, shape in block.inputs:
        flat.nodes.append(Node(input_name, Input(), shape, block.definition.span))
        inputs.append(input_name)
    outputs = flat.write(block, inputs, prefix="", cell=None)
    used = flat.reaching(outputs)
    nodes = [node for node in flat.nodes if node.name in used or isinstance(node.op, Input)]
    edges = [edge for edge in flat.edges if edge.target in used]
    return Graph(name, nodes, edges, outputs, flat.scopes)


class _Flattener:
    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.scopes: list[Scope] = []
        self.cells: dict[ast.Motif, str] = {}

    def write(self, block: Block, inputs: list[str], prefix: str, cell: tuple[str, int] | None) -> list[str]:
        """Write a block out; the names of its outputs. `cell` is the innermost cell and where its own names begin."""
        if block.definition.role == "cell":
            cell = self._cell(block.definition), len(prefix)
        values = list(inputs)
        for step in block.steps:
            name = prefix + step.name
            sources = [values[i] for i in step.inputs]
            if isinstance(step, Nested):
                motif = step.block.definition
                self.scopes.append(Scope(name, motif.name.name, motif.role, len(step.block.outputs), step.span))
                values.extend(self.write(step.block, sources, f"{name}.", cell))
                continue
            if isinstance(step.op, Choice):
                self.scopes.append(Scope(name, "choice", "choice", span=step.span))
            self.nodes.append(Node(name, step.op, step.shape, step.span))
            for slot, source in enumerate(sources):
                gate = None
                if step.gates:
                    label, span = step.gates[slot]
                    full = prefix + label
                    gate = Gate(full, f"{cell[0]}:{full[cell[1] :]}" if cell else full, span)
                self.edges.append(Edge(source, name, slot, gate, step.span))
            values.append(name)
        return [values[i] for i in block.outputs]

    def _cell(self, definition: ast.Motif) -> str:
        """A name for a cell: its own, numbered where another file has a cell of the same name."""
        if definition not in self.cells:
            name = definition.name.name
            same = sum(other.name.name == name for other in self.cells)
            self.cells[definition] = name if not same else f"{name}_{same + 1}"
        return self.cells[definition]

    def reaching(self, outputs: list[str]) -> set[str]:
        """The names of all nodes from which an output can be reached."""
        sources: dict[str, list[str]] = {}
        for edge in self.edges:
            sources.setdefault(edge.target, []).append(edge.source)
        found, waiting = set(outputs), list(outputs)
        while waiting:
            for source in sources.get(waiting.pop(), ()):
                if source not in found:
                    found.add(source)
                    waiting.append(source)
        return found
