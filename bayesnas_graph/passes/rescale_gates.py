"""Turns a searched network into a fixed one that computes the same: the gates become factors of the weights."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from bayesnas_graph.ir import Edge, Graph, Node
from bayesnas_graph.ir.ops import RescaleOp
from bayesnas_graph.passes.plain import plain


@dataclass(frozen=True, eq=False)
class Rescaled:
    """A fixed network, and the gates that multiply the tensors of its nodes (`op.scale_tensors`)."""

    graph: Graph
    factors: dict[str, tuple[str, ...]]  # node -> the gates whose product multiplies its output


def rescale_gates(graph: Graph) -> Rescaled:
    """The fixed network in which all open switches of a graph stay, each with the value of its gate.

    A gate on the output of a convolution, a linear layer or a norm is multiplied into its weights. If the operation has
    no weights, shares them, or has other readers too, a `rescale` node holds the factor. The gate of a zero switch
    multiplies the candidates.
    """
    gates = _distributed(graph)
    readers = Counter(edge.source for edge in graph.edges) + Counter(graph.outputs)
    names = {node.name for node in graph}
    factors: dict[str, tuple[str, ...]] = {}
    nodes: list[Node] = []
    edges: list[Edge] = []
    for node in graph:
        for edge in graph.inputs(node.name):
            factor = gates.get((edge.target, edge.slot), ())
            bare = replace(edge, gate=None)
            if not factor:
                edges.append(bare)
                continue
            source = graph[edge.source]
            if source.op.scale_tensors() and readers[edge.source] == 1 and edge.source not in graph.shared:
                factors[edge.source] = factor
                edges.append(bare)
                continue
            name = _new_name(f"{factor[0]}_rescale", names)
            factors[name] = factor
            nodes.append(Node(name, RescaleOp(), source.shape, edge.span, behind=node.behind, scope=node.scope))
            edges += [Edge(edge.source, name, 0, None, edge.span), replace(bare, source=name)]
        nodes.append(node)
    return Rescaled(plain(graph.replace(nodes, edges, graph.outputs)), factors)


def _distributed(graph: Graph) -> dict[tuple[str, int], tuple[str, ...]]:
    """For every edge with a factor, the gates whose product it is."""
    readers = Counter(edge.source for edge in graph.edges) + Counter(graph.outputs)
    factors: dict[tuple[str, int], tuple[str, ...]] = {}
    for node in graph:
        for edge in graph.inputs(node.name):
            if edge.gate is None:
                continue
            source = graph[edge.source]
            if node.op.is_zero_switch and source.op.is_choice and readers[edge.source] == 1:
                for candidate in graph.inputs(edge.source):
                    key = candidate.target, candidate.slot
                    factors[key] = (*factors.get(key, ()), edge.gate.name)
            else:
                factors[node.name, edge.slot] = (edge.gate.name,)
    return factors


def _new_name(name: str, names: set[str]) -> str:
    while name in names:
        name += "_"
    names.add(name)
    return name
