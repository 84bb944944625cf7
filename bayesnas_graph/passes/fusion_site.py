"""Siblings that may be fused, taken out of their graph so that they can be timed alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bayesnas_graph.ir import Edge, Graph, Node, Op
from bayesnas_graph.ir.op import Shape, shape_text
from bayesnas_graph.ir.ops import Input


@dataclass(frozen=True, eq=False)
class FusionSite:
    """Siblings and whatever follows each of them.

    The key says all that their cost depends on, apart from the device and the batch: sites of equal keys do the same
    work. Names of nodes and scopes are not in it, so uses of a cell and other networks have the same sites.
    """

    key: str
    graph: Graph  # of the siblings alone; what other nodes read of them are its outputs

    @staticmethod
    def of(graph: Graph, families: Sequence[Sequence[str]], parents: Sequence[int | None]) -> FusionSite:
        """Return the site of these families; each reads another one, and the first reads one value."""
        members = {name for family in families for name in family}
        (value,) = graph.inputs(families[0][0])
        source, edges, outputs = graph[value.source], list[Edge](), list[str]()
        nodes = [Node("x", Input(), source.shape)]
        lines = [f"{len(families[0])} of {shape_text(source.shape)}"]
        if source.op.changes_batch:  # what is computed before it has the batch of the network
            (before,) = graph.inputs(source.name)
            nodes = [Node("input", Input(), graph[before.source].shape), Node("x", source.op, source.shape)]
            edges.append(Edge("input", "x", 0))
            lines = [f"{lines[0]}: {_text(source.op, source.shape)}"]
        for number, (family, parent) in enumerate(zip(families, parents, strict=True)):
            read = [
                member in graph.outputs or any(target not in members for target in graph.nx.successors(member))
                for member in family
            ]
            first = graph[family[0]]
            reads = "x" if parent is None else str(parent)
            lines.append(f"{number}: {_text(first.op, first.shape)} of {reads}, {sum(read)} read")
            for i, member in enumerate(family):
                name = f"h.{number}.{i}"
                nodes.append(Node(name, graph[member].op, graph[member].shape))
                edges.append(Edge("x" if parent is None else f"h.{parent}.{i}", name, 0))
                if read[i]:
                    outputs.append(name)
        return FusionSite("; ".join(lines), Graph("site", nodes, edges, outputs))


def _text(op: Op, shape: Shape) -> str:
    arguments = ", ".join(f"{name}={value}" for name, value in op.settings().items())
    return f"{op.name}({arguments}) {shape_text(shape)}"
