"""The nodes of a motif and the operations between them, and how they are put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bayesnas_graph.diagnostics import Diagnostic
from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir import Shape
from bayesnas_graph.language.elaborate.channels import Channels
from bayesnas_graph.language.elaborate.labels import Names, label_of
from bayesnas_graph.language.elaborate.limits import Meter
from bayesnas_graph.language.elaborate.number_choices import NumberOwner
from bayesnas_graph.language.elaborate.values import MotifNode, Operation, Primitive, Shared
from bayesnas_graph.language.syntax import ast


@dataclass(frozen=True, slots=True, eq=False)
class Application:
    """An operation that reads some nodes and contributes to others."""

    operation: Operation
    inputs: tuple[MotifNode, ...]
    outputs: tuple[MotifNode, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Budget:
    """A `require` clause: stored with the network, enforced when an architecture is derived."""

    quantity: str
    comparison: str
    bound: int
    span: Span = field(compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.quantity} {self.comparison} {self.bound:,}"


@dataclass(frozen=True, slots=True)
class EdgeBetween:
    """`edge(a, b)` in a requirement."""

    source: MotifNode
    target: MotifNode
    span: Span = field(compare=False, repr=False)

    def __str__(self) -> str:
        return f"edge({self.source.text}, {self.target.text})"


@dataclass(frozen=True, slots=True)
class CountRequirement:
    """`inputs(h) == 2` or, without a node, `edges <= 9`."""

    node: MotifNode | None
    comparison: str
    bound: int
    span: Span = field(compare=False, repr=False)

    def __str__(self) -> str:
        counted = "edges" if self.node is None else f"inputs({self.node.text})"
        return f"{counted} {self.comparison} {self.bound}"


@dataclass(frozen=True, slots=True)
class ClauseRequirement:
    """At least one of these edges is kept or, if its flag is false, not kept."""

    edges: tuple[tuple[EdgeBetween, bool], ...]
    span: Span = field(compare=False, repr=False)

    def __str__(self) -> str:
        if_kept = " and ".join(str(edge) for edge, kept in self.edges if not kept)
        then = " or ".join(str(edge) for edge, kept in self.edges if kept)
        if if_kept and then:
            return f"{if_kept} implies {then}"
        return then or (f"not ({if_kept})" if " and " in if_kept else f"not {if_kept}")


Requirement = CountRequirement | ClauseRequirement


@dataclass
class Wiring:
    """The nodes and operations of a motif. Not changed after `wire` has returned it."""

    inputs: list[MotifNode] = field(default_factory=list)
    nodes: list[MotifNode] = field(default_factory=list)  # except the inputs, in the order of the text
    joins: dict[MotifNode, Primitive] = field(default_factory=dict)
    applications: list[Application] = field(default_factory=list)
    outputs: list[MotifNode] = field(default_factory=list)
    out: MotifNode | None = None  # the node `out` of `x -> out`
    budgets: list[Budget] = field(default_factory=list)
    requirements: list[Requirement] = field(default_factory=list)  # on edges
    numbers: NumberOwner = field(default_factory=NumberOwner)  # the numbers that are chosen here
    shared: list[Shared] = field(default_factory=list)  # the operations that `share` names
    sound: bool = True  # false if a statement failed
    problems: list[Diagnostic] = field(default_factory=list)  # of the failed statements


class WiringBuilder:
    """Adds nodes and operations to a wiring. Every node gets a name of its own."""

    def __init__(self, meter: Meter, shapes: Sequence[Shape], channels: Sequence[Channels | None]) -> None:
        self.wiring = Wiring()
        self._meter = meter
        self._shapes, self._channels = shapes, channels  # of the inputs
        self._input_nodes: set[MotifNode] = set()  # for fast lookup
        self._names = Names()
        self._shared_names = Names()

    def add_input(self, name: str, span: Span, index: int | None = None) -> MotifNode:
        position = len(self.wiring.inputs)
        # The number of inputs is checked when the whole body is known.
        known = position < len(self._shapes)
        shape, channels = (self._shapes[position], self._channels[position]) if known else (None, None)
        node = MotifNode(*self._unique_name(name, index), span, shape, channels)
        self.wiring.inputs.append(node)
        self._input_nodes.add(node)
        return node

    def is_input(self, node: MotifNode) -> bool:
        return node in self._input_nodes

    def add_node(self, name: str, span: Span, index: int | None = None, declared: bool = True) -> MotifNode:
        node = MotifNode(*self._unique_name(name, index), span, declared=declared)
        self.wiring.nodes.append(node)
        self._meter.nodes(len(self.wiring.nodes), span)
        return node

    def out_node(self, span: Span) -> MotifNode:
        """The node `out` of `x -> out`."""
        if self.wiring.out is None:
            self.wiring.out = self.add_node("out", span)
        return self.wiring.out

    def connect(
        self, operation: Operation, inputs: tuple[MotifNode, ...], outputs: tuple[MotifNode, ...], span: Span
    ) -> None:
        """Apply an operation between nodes that exist."""
        self.wiring.applications.append(Application(operation, inputs, outputs, span))

    def apply(self, operation: Operation, inputs: tuple[MotifNode, ...], span: Span) -> MotifNode:
        """A new node for the result of an operation inside an expression, such as `concat(h)`."""
        node = self.add_node(label_of(operation), span, declared=False)
        self.connect(operation, inputs, (node,), span)
        return node

    def add_shared(self, definition: ast.Motif, operation: Operation) -> Shared:
        """An operation with one set of weights for all its uses."""
        name = definition.name.name
        shared = Shared(definition, self._shared_names.unique(name), operation, self.wiring.numbers)
        self.wiring.shared.append(shared)
        return shared

    def is_result(self, node: MotifNode, span: Span) -> bool:
        """Return whether a node was just added for an operation that is applied in this expression."""
        nodes, applications = self.wiring.nodes, self.wiring.applications
        if not nodes or nodes[-1] is not node or node.declared:
            return False
        return applications[-1].outputs == (node,) and applications[-1].span == span

    def replace_latest(self, node: MotifNode, target: MotifNode) -> None:
        """`node y = f(x)`: `y` itself holds `f(x)`, so the node that `apply` added for it is removed."""
        latest = self.wiring.nodes.pop()
        assert node is latest, "it was just created by applying an operation"
        self._names.release(node.name)
        self.wiring.applications[-1] = replace(self.wiring.applications[-1], outputs=(target,))

    def _unique_name(self, name: str, index: int | None) -> tuple[str, str]:
        """The id and the text of a node, numbered if the name is taken."""
        id, text = (name, name) if index is None else (f"{name}.{index}", f"{name}[{index}]")
        suffix = self._names.suffix(id)
        return id + suffix, text + suffix
