"""What is left of a graph when switches are closed for good."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from bayesnas_graph.ir import Edge, Graph, Node, Shape, ShapeError, shape_text
from bayesnas_graph.ir.ops import Input
from bayesnas_graph.ir.ops.join import Concat


class Disconnected(Exception):
    """With these switches closed, nothing reaches some outputs.

    `cut` are groups of closed switches that something still arrives at, and behind which the outputs
    lie. Closing them alone loses the same outputs.
    """

    def __init__(self, outputs: tuple[str, ...], cut: tuple[str, ...]) -> None:
        super().__init__(f"nothing reaches {', '.join(outputs)} with {', '.join(cut)} closed")
        self.outputs = outputs
        self.cut = cut


class Misfit(Exception):
    """What is left does not fit together at a node: something before it is narrower than it was."""

    def __init__(self, node: str, reason: str, narrower: tuple[str, ...]) -> None:
        super().__init__(f"{node}: {reason}, after inputs were lost by {', '.join(narrower)}")
        self.node = node
        self.reason = reason
        self.narrower = narrower  # the concatenations that lost inputs


def prune(graph: Graph, off: Collection[str]) -> Graph:
    """Take the switches of these groups out of a graph, and all that is of no use without them.

    A closed switch hands on nothing. A sum, a mean, a choice and a concatenation do with the inputs that
    are left, and are gone when none is; everything else is gone when one of its inputs is. What then
    reaches no output is dropped. The inputs of the network stay, so that it is called as before; so do
    the gates of the remaining switches, and a choice of one candidate is still a choice.

    Where zero stays zero on its way, the outputs are those of the whole graph with the gates at 0, with
    two exceptions. A mean becomes the mean of what is left, where zeros would still have counted. And a
    concatenation becomes narrower, and with it all that takes its width from it: the network gets
    smaller in fact, not only on paper. If something cannot be narrower, as the sum with a value of full
    width, that is a Misfit, and so is an output of another shape than before. Only a concatenation that
    lost an input can cause one.

    Groups that the graph does not have are passed over, so pruning twice is pruning once. Raises
    Disconnected if an output is lost.
    """
    closed = frozenset(off)
    arriving = _arriving(graph, closed)
    lost = tuple(name for name in graph.outputs if name not in arriving)
    if lost:
        raise Disconnected(lost, _cut(graph, closed, arriving, lost))
    used = _used(graph.outputs, arriving)
    left = [node for node in graph if node.name in used or isinstance(node.op, Input)]
    edges = {node.name: [replace(e, slot=slot) for slot, e in enumerate(arriving[node.name])] for node in left}
    nodes = _fitted(graph, left, edges)
    return graph.replace(nodes, [edge for node in left for edge in edges[node.name]], graph.outputs)


def _arriving(graph: Graph, closed: frozenset[str]) -> dict[str, list[Edge]]:
    """For every node that is not gone, the edges that bring it something."""
    found: dict[str, list[Edge]] = {}
    for node in graph:
        inputs = graph.inputs(node.name)
        brought = [e for e in inputs if e.source in found and not _is_closed(e, closed)]
        if len(brought) == len(inputs) or (brought and node.op.bears_losses):
            found[node.name] = brought
    return found


def _is_closed(edge: Edge, closed: frozenset[str]) -> bool:
    return edge.gate is not None and edge.gate.group in closed


def _used(outputs: tuple[str, ...], arriving: dict[str, list[Edge]]) -> set[str]:
    """What the outputs are computed from."""
    found, waiting = set(outputs), list(outputs)
    while waiting:
        for edge in arriving[waiting.pop()]:
            if edge.source not in found:
                found.add(edge.source)
                waiting.append(edge.source)
    return found


def _cut(
    graph: Graph, closed: frozenset[str], arriving: dict[str, list[Edge]], lost: tuple[str, ...]
) -> tuple[str, ...]:
    """The groups of closed edges at which values end that would have gone on to the lost outputs.

    The walk goes back from the outputs over what is gone. Of a node that needs all its inputs, one that
    is missing explains enough.
    """
    cut: dict[str, None] = {}
    seen, waiting = set(lost), list(lost)
    while waiting:
        name = waiting.pop()
        missing = [e for e in graph.inputs(name) if e.source not in arriving or _is_closed(e, closed)]
        for edge in missing if graph[name].op.bears_losses else missing[:1]:
            if edge.source in arriving:
                assert edge.gate is not None, "only a gate keeps back what is there"
                cut[edge.gate.group] = None
            elif edge.source not in seen:
                seen.add(edge.source)
                waiting.append(edge.source)
    return tuple(sorted(cut))


def _fitted(graph: Graph, left: list[Node], edges: dict[str, list[Edge]]) -> list[Node]:
    """The nodes that are left with the shapes they have now. Raises Misfit where there is none."""

    def misfit(node: Node, reason: str) -> Misfit:
        before = _used((node.name,), edges)
        joins = [other.name for other in left if other.name in before and isinstance(other.op, Concat)]
        return Misfit(node.name, reason, tuple(name for name in joins if len(edges[name]) < len(graph.inputs(name))))

    nodes: list[Node] = []
    shapes: dict[str, Shape] = {}
    for node in left:
        inputs = [shapes[edge.source] for edge in edges[node.name]]
        try:
            shape = node.op.shape(*inputs) if inputs else node.shape
        except ShapeError as error:
            raise misfit(node, str(error)) from error
        if node.name in graph.outputs and shape != node.shape:
            raise misfit(node, f"an output of {shape_text(node.shape)} has become {shape_text(shape)}")
        shapes[node.name] = shape
        nodes.append(replace(node, shape=shape))
    return nodes
