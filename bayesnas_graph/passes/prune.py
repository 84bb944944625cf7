"""Removes closed switches from a graph, and everything that only they led to."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from bayesnas_graph.ir import Edge, Graph, Mask, ModuleCall, Node, Op, Shape, ShapeError, intersection, shape_text
from bayesnas_graph.ir.walks import reached
from bayesnas_graph.passes.widths import chosen_widths, remaining_mask


class Disconnected(Exception):
    """With these switches closed, some outputs are disconnected from the inputs.

    `cut` are the groups of the closed switches that separate the two: closing them alone loses the same outputs.
    """

    def __init__(self, outputs: tuple[str, ...], cut: tuple[str, ...]) -> None:
        super().__init__(f"nothing reaches {', '.join(outputs)} with {', '.join(cut)} closed")
        self.outputs = outputs
        self.cut = cut


class Misfit(Exception):
    """The inputs of a node no longer fit together, because a value before it has become narrower."""

    def __init__(self, node: str, reason: str, narrower: tuple[str, ...]) -> None:
        super().__init__(f"{node}: {reason}, after inputs were lost by {', '.join(narrower)}")
        self.node = node
        self.reason = reason
        self.narrower = narrower  # the concatenations that lost inputs


def prune(graph: Graph, off: Collection[str]) -> Graph:
    """Remove the switches of these groups from a graph, and everything that is useless without them.

    A closed switch passes on nothing. A sum, a mean, a choice or a concatenation works with its remaining inputs, and
    is removed with the last of them; any other operation is removed with its first missing input. Nodes that then reach
    no output are removed too. The inputs of the network stay, to preserve its signature, and so do the gates of the
    other switches: a choice of one candidate is still a choice.

    If all operations map zeros to zeros, the outputs are those of the whole graph with the gates at 0, with two
    exceptions. A mean becomes the mean of its remaining inputs, not counting zeros. A concatenation becomes narrower,
    and so does everything that takes its width from it. If something cannot become narrower, such as a sum with a value
    of full width, an output, or one of several uses of shared weights, Misfit is raised; only a concatenation that lost
    an input can cause this.

    Where a width is chosen, operations become as narrow as the widest option that is open: the network is then as small
    as if it had been written with that width.

    Groups that are not in the graph are ignored, so pruning twice is pruning once. Raises Disconnected if an output is
    lost.
    """
    closed = frozenset(off)
    arriving = _arriving(graph, closed)
    lost = tuple(name for name in graph.outputs if name not in arriving)
    if lost:
        raise Disconnected(lost, _cut(graph, closed, arriving, lost))
    used = _used(graph.outputs, arriving)
    remaining = [node for node in graph if node.name in used or node.op.is_input]
    edges = {node.name: [replace(e, slot=slot) for slot, e in enumerate(arriving[node.name])] for node in remaining}
    nodes = _fitted(graph, remaining, edges, closed)
    constraints = [constraint for constraint in graph.constraints if not used.isdisjoint(constraint.around)]
    return graph.replace(nodes, [edge for node in remaining for edge in edges[node.name]], graph.outputs, constraints)


def _arriving(graph: Graph, closed: frozenset[str]) -> dict[str, list[Edge]]:
    """For every remaining node, the edges that still carry a value."""
    arriving: dict[str, list[Edge]] = {}
    for node in graph:
        inputs = graph.inputs(node.name)
        brought = [e for e in inputs if e.source in arriving and not _is_closed(e, closed)]
        if len(brought) == len(inputs) or (brought and node.op.tolerates_missing_inputs):
            arriving[node.name] = brought
    return arriving


def _is_closed(edge: Edge, closed: frozenset[str]) -> bool:
    return edge.gate is not None and edge.gate.group in closed


def _used(outputs: tuple[str, ...], arriving: dict[str, list[Edge]]) -> set[str]:
    """The nodes that the outputs are computed from."""
    return reached(outputs, lambda name: (edge.source for edge in arriving[name]))


def _cut(
    graph: Graph, closed: frozenset[str], arriving: dict[str, list[Edge]], lost: tuple[str, ...]
) -> tuple[str, ...]:
    """The groups of the closed edges that a value reaches and that separate it from the lost outputs.

    The walk goes back from the outputs over removed nodes. For a node that needs all its inputs, only one missing input
    is followed.
    """
    cut: dict[str, None] = {}
    seen, waiting = set(lost), list(lost)
    while waiting:
        name = waiting.pop()
        missing = [e for e in graph.inputs(name) if e.source not in arriving or _is_closed(e, closed)]
        for edge in missing if graph[name].op.tolerates_missing_inputs else missing[:1]:
            if edge.source in arriving:
                assert edge.gate is not None, "only a gate stops a value"
                cut[edge.gate.group] = None
            elif edge.source not in seen:
                seen.add(edge.source)
                waiting.append(edge.source)
    return tuple(sorted(cut))


def _fitted(graph: Graph, remaining: list[Node], edges: dict[str, list[Edge]], closed: frozenset[str]) -> list[Node]:
    """The remaining nodes with their new shapes. Raises Misfit if a node has none."""

    def misfit(node: Node, reason: str) -> Misfit:
        before = _used((node.name,), edges)
        joins = [other.name for other in remaining if other.name in before and other.op.concatenates]
        return Misfit(node.name, reason, tuple(name for name in joins if len(edges[name]) < len(graph.inputs(name))))

    narrower = _Narrower(graph, closed)
    nodes: list[Node] = []
    shapes: dict[str, Shape] = {}
    forms: dict[str, tuple[str, object]] = {}  # shared weights -> the first node that uses them, and their form
    for node in remaining:
        inputs = [shapes[edge.source] for edge in edges[node.name]]
        try:
            op = narrower.op(node, edges[node.name], inputs)
            shape = op.shape(*inputs) if inputs else node.shape
        except ShapeError as error:
            raise misfit(node, str(error)) from error
        if node.name in graph.outputs and shape != node.shape:
            raise misfit(node, f"an output of {shape_text(node.shape)} has become {shape_text(shape)}")
        shapes[node.name] = shape
        nodes.append(replace(node, op=op, shape=shape))
        if node.weights:
            call = op.torch(*inputs)
            assert isinstance(call, ModuleCall), "only modules have weights"
            first = forms.setdefault(node.weights, (node.name, call.module))
            if first[1] != call.module:
                raise misfit(node, f"it shares its weights with {first[0]}, which reads or has other channels")
    return _among_themselves(nodes)


def _among_themselves(nodes: list[Node]) -> list[Node]:
    """The nodes, with operations that depend on what else shares their weights."""
    sharing: dict[str, list[Op]] = {}
    for node in nodes:
        if node.weights:
            sharing.setdefault(node.weights, []).append(node.op)
    return [replace(node, op=node.op.among(sharing[node.weights])) if node.weights else node for node in nodes]


class _Narrower:
    """Makes operations narrower where widths are chosen. Nodes must be passed in order."""

    def __init__(self, graph: Graph, closed: frozenset[str]) -> None:
        self._graph = graph
        self._closed = closed
        self._widths = chosen_widths(graph)
        self._kept: dict[str, Mask] = {}  # the channels that each node still has, out of all

    def op(self, node: Node, arriving: list[Edge], inputs: list[Shape]) -> Op:
        """The operation of a node that reads inputs of these shapes."""
        if not self._widths:
            return node.op
        everything = (True,) * node.shape[0]
        brought = {(edge.source, edge.gate) for edge in arriving}
        edges = self._graph.inputs(node.name)
        sides = [self._kept[e.source] if (e.source, e.gate) in brought else None for e in edges]
        own = remaining_mask(self._widths[node.name], self._closed) if node.name in self._widths else everything
        if node.op.is_input or (all(own) and all(side is not None and all(side) for side in sides)):
            self._kept[node.name] = everything
            return node.op
        coupling = node.op.coupling(*self._graph.input_shapes(node.name))
        left = intersection(coupling.remaining(sides, node.shape[0]), own)
        masks = tuple(side for side in sides if side is not None)
        if node.op.is_mask:
            self._kept[node.name] = masks[0]
            return node.op.narrowed(masks, masks[0])
        (width, *_) = node.op.shape(*inputs)
        follows = len(masks) == 1 and len(masks[0]) == len(own) and sum(intersection(masks[0], own)) == width
        if width == sum(left):
            self._kept[node.name] = left
        elif follows:
            self._kept[node.name] = intersection(masks[0], own)  # its width is that of its input
        elif all(own):
            self._kept[node.name] = tuple(i < width for i in range(node.shape[0]))
        else:
            self._kept[node.name] = left
            return node.op.narrowed(masks, left)
        return node.op
