"""The cost of a graph, with all its operations."""

from __future__ import annotations

from dataclasses import dataclass

from bayesnas_graph.ir import Graph, Node


@dataclass(frozen=True, slots=True)
class Cost:
    """Sums over all operations of a graph."""

    parameters: int
    flops: int  # multiply-adds for one sample, of convolutions and linear layers
    values: int  # stored by the operations for one sample

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.parameters + other.parameters, self.flops + other.flops, self.values + other.values)

    def memory(self, batch: int, size: int = 4) -> int:
        """Bytes that the forward pass of a batch stores for the backward pass, with `size` bytes per value."""
        return self.values * batch * size


def cost(graph: Graph) -> Cost:
    """The cost of a graph. For a search space that is the cost of all candidates together."""
    return sum((cost_of(graph, node) for node in graph), Cost(0, 0, 0))


def cost_of(graph: Graph, node: Node) -> Cost:
    """The cost of one operation of a graph."""
    if node.op.is_input:
        return Cost(0, 0, 0)
    inputs = [graph[edge.source].shape for edge in graph.inputs(node.name)]
    return Cost(node.op.parameters(*inputs), node.op.flops(*inputs), node.op.stored_values(*inputs))
