"""What a graph costs, everything in it being computed."""

from __future__ import annotations

from dataclasses import dataclass

from bayesnas_graph.ir import Graph
from bayesnas_graph.ops import Input


@dataclass(frozen=True, slots=True)
class Cost:
    """Sums over all operations of a graph."""

    parameters: int
    flops: int  # multiply-adds for one sample, of convolutions and linear layers
    values: int  # that the operations write for one sample

    def memory(self, batch: int, size: int = 4) -> int:
        """Bytes that the forward pass of a batch leaves for the backward pass, with `size` bytes per value."""
        return self.values * batch * size


def cost(graph: Graph) -> Cost:
    """The cost of a graph. For a search space that is the cost of all candidates together."""
    parameters = flops = values = 0
    for node in graph:
        if isinstance(node.op, Input):
            continue
        inputs = [graph[edge.source].shape for edge in graph.inputs(node.name)]
        parameters += node.op.parameters(*inputs)
        flops += node.op.flops(*inputs)
        values += node.op.stores(*inputs)
    return Cost(parameters, flops, values)
