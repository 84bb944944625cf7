"""The cost of a graph with all its operations, and of the operations behind every switch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bayesnas_graph.diagnostics.words import at_least
from bayesnas_graph.ir import Graph, Node, Op, Shape
from bayesnas_graph.passes.analysis.prices import Prices


@dataclass(frozen=True, slots=True)
class Cost:
    """Sums over all operations of a graph."""

    parameters: int
    flops: int  # multiply-adds for one sample, of convolutions and linear layers
    values: int  # stored by the operations for one sample
    flops_at_least: bool = False  # whether there are more, in Python operations that cannot be counted

    def __add__(self, other: Cost) -> Cost:
        at_least = self.flops_at_least or other.flops_at_least
        return Cost(self.parameters + other.parameters, self.flops + other.flops, self.values + other.values, at_least)

    @property
    def flops_text(self) -> str:
        """The multiply-adds as text; it says so if there may be more."""
        return at_least(self.flops, self.flops_at_least)

    def memory(self, batch: int, size: int = 4) -> int:
        """Bytes that the forward pass of a batch stores for the backward pass, with `size` bytes per value."""
        return self.values * batch * size


def cost(graph: Graph) -> Cost:
    """The cost of a graph. For a search space that is the cost of all candidates together.

    Shared weights are counted once, multiply-adds in every use.
    """
    return _total(graph, graph)


def _total(graph: Graph, nodes: Iterable[Node]) -> Cost:
    """The cost of some operations of a graph together."""
    shared: dict[str, int] = {}  # weights -> their parameters
    total = Cost(0, 0, 0)
    for node in nodes:
        own = cost_of(graph, node)
        if node.weights:
            shared[node.weights] = max(shared.get(node.weights, 0), own.parameters)
            own = replace(own, parameters=0)
        total += own
    return total + Cost(sum(shared.values()), 0, 0)


def cost_of(graph: Graph, node: Node) -> Cost:
    """The cost of one operation of a graph."""
    return Cost(0, 0, 0) if node.op.is_input else cost_of_op(node.op, graph.input_shapes(node.name))


def cost_of_op(op: Op, inputs: Sequence[Shape]) -> Cost:
    """The cost of an operation on inputs of these shapes."""
    counts = op.parameters(*inputs), op.flops(*inputs), op.stored_values(*inputs)
    return Cost(*counts, flops_at_least=not op.counts_all_flops(*inputs))


def cost_by_switch(graph: Graph) -> dict[str, Cost]:
    """The cost of the operations behind each switch, in all uses of its cell together.

    Behind a zero switch are all candidates of its choice. An option of a number costs what a network with it has more
    than one with the smallest option, all else being as large as possible; the values it stores are not counted.
    """
    groups = {gate.name: gate.group for gate in graph.gates}
    zeros = {gate.choice: gate.group for gate in graph.gates if gate.is_zero}
    behind: dict[str, list[Node]] = {group: [] for group in groups.values()}
    for node in graph:
        own = [groups[gate] for gate in graph.gates_of(node.name) if gate in groups]
        outer = [zeros[choice] for choice in graph.choices_around(node.name) if choice in zeros]
        for group in (*own, *outer):
            behind[group].append(node)
    return {group: _total(graph, nodes) for group, nodes in behind.items()} | _cost_by_option(graph)


def _cost_by_option(graph: Graph) -> dict[str, Cost]:
    """The cost of every option of a chosen number."""
    chosen = {gate.choice for gate in graph.gates if gate.number}
    numbers = {tuple(e.gate.group for e in graph.inputs(name) if e.gate) for name in sorted(chosen)}
    if not numbers:
        return {}
    everything = frozenset(graph.switches)
    prices = [Prices(graph, measure) for measure in ("parameters", "flops")]
    costs: dict[str, Cost] = {}
    for groups in sorted(numbers):
        sizes = [[of.unruled(everything - set(groups) | {group}) or 0 for of in prices] for group in groups]
        least = [min(column) for column in zip(*sizes, strict=True)]
        for group, size in zip(groups, sizes, strict=True):
            costs[group] = Cost(size[0] - least[0], size[1] - least[1], 0)
    return costs


def operations(graph: Graph) -> int:
    """The additions and multiplications of a whole graph for one sample, counted as in papers on compression.

    Budgets and `stats` count multiply-adds (`cost`). This number is for comparison with tables in papers.
    """
    return sum(operations_by_node(graph).values())


def operations_by_node(graph: Graph) -> dict[str, int]:
    """The additions and multiplications of every node that has any."""
    counts = {node.name: node.op.operations(*graph.input_shapes(node.name)) for node in graph}
    return {name: count for name, count in counts.items() if count}
