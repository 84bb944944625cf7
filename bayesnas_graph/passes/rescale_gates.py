"""A fixed network that computes what a searched one does: the values of its gates go into its weights."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from bayesnas_graph.ir import Edge, Graph, Node
from bayesnas_graph.ir.ops import Choice, Rescale, Zero
from bayesnas_graph.passes.plain import plain


@dataclass(frozen=True, eq=False)
class Rescaled:
    """A fixed network, and which of its tensors are to be multiplied by gates: those that `op.scaled_by` names."""

    graph: Graph
    factors: dict[str, tuple[str, ...]]  # node -> the gates by whose product its output is multiplied


def rescale_gates(graph: Graph) -> Rescaled:
    """The fixed network that is left when all open switches of a graph stay, each with the value of its gate.

    A gate multiplies the output of a convolution, a linear layer or a norm by multiplying its weights. Where there are
    none, or others read them as well, a node `rescale` has the factor. That of a zero switch goes to the candidates.
    """
    gates = _distributed(graph)
    readers = Counter(edge.source for edge in graph.edges) + Counter(graph.outputs)
    names = {node.name for node in graph}
    factors: dict[str, tuple[str, ...]] = {}
    nodes: list[Node] = []
    edges: list[Edge] = []
    for node in graph:
        for edge in graph.inputs(node.name):
            found = gates.get((edge.target, edge.slot), ())
            bare = replace(edge, gate=None)
            if not found:
                edges.append(bare)
                continue
            source = graph[edge.source]
            if source.op.scaled_by() and readers[edge.source] == 1:
                factors[edge.source] = found
                edges.append(bare)
                continue
            name = _new_name(f"{found[0]}_rescale", names)
            factors[name] = found
            nodes.append(Node(name, Rescale(), source.shape, edge.span))
            edges += [Edge(edge.source, name, 0, None, edge.span), replace(bare, source=name)]
        nodes.append(node)
    return Rescaled(plain(graph.replace(nodes, edges, graph.outputs)), factors)


def _distributed(graph: Graph) -> dict[tuple[str, int], tuple[str, ...]]:
    """For the edges that have a factor, the gates whose product it is."""
    readers = Counter(edge.source for edge in graph.edges) + Counter(graph.outputs)
    found: dict[tuple[str, int], tuple[str, ...]] = {}
    for node in graph:
        for edge in graph.inputs(node.name):
            if edge.gate is None:
                continue
            source = graph[edge.source]
            if isinstance(node.op, Zero) and isinstance(source.op, Choice) and readers[edge.source] == 1:
                for candidate in graph.inputs(edge.source):
                    key = candidate.target, candidate.slot
                    found[key] = (*found.get(key, ()), edge.gate.name)
            else:
                found[node.name, edge.slot] = (edge.gate.name,)
    return found


def _new_name(wanted: str, names: set[str]) -> str:
    while wanted in names:
        wanted += "_"
    names.add(wanted)
    return wanted
