"""Which channels must stay because other channels stay."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator

from bayesnas_graph.ir import Graph, Mask, Node, union
from bayesnas_graph.passes.shrink.alive import Alive, Tensors


def coupled(graph: Graph, tensors: Tensors, channels: Alive) -> dict[str, Mask]:
    """The channels of every node that stay: those with an effect, all of inputs and outputs, and those tied to them.

    Nodes that share their weights keep all their channels, and so does what they read.

    Every value that is read keeps at least one channel, even if it is zero: only a concatenation works without an
    input. A value that is not read keeps none, unless it is an input of the network.
    """
    ties = _Ties(graph, tensors)
    whole = {*graph.outputs, *graph.shared, *(e.source for e in graph.edges if e.target in graph.shared)}
    kept = {node.name: _own(node, channels, node.name in whole) for node in graph}
    ties.spread(kept, kept)
    while empty := [name for name in _read(graph, kept) if not any(kept[name])]:
        kept |= {name: (True, *kept[name][1:]) for name in empty}
        ties.spread(kept, empty)
    stays = {*_read(graph, kept), *(node.name for node in graph if node.op.is_input)}
    return {node.name: kept[node.name] if node.name in stays else (False,) * node.shape[0] for node in graph}


def _own(node: Node, channels: Alive, is_whole: bool) -> Mask:
    """The channels of a node that stay regardless of their ties."""
    keeps_all = node.op.is_input or is_whole
    return (True,) * node.shape[0] if keeps_all else channels.effective[node.name]


def _read(graph: Graph, kept: dict[str, Mask]) -> Iterator[str]:
    """The nodes that are read if these channels are kept, outputs included."""
    read = set(graph.outputs)
    for node in reversed(list(graph)):
        if node.name not in read:
            continue
        yield node.name
        for edge in graph.inputs(node.name):
            if any(kept[edge.source]) or not node.op.concatenates:
                read.add(edge.source)


class _Ties:
    """The ties between the channels of a graph."""

    def __init__(self, graph: Graph, tensors: Tensors) -> None:
        self.graph = graph
        self.tensors = tensors
        self.links = {node.name: node.op.coupling(*graph.input_shapes(node.name)).links for node in graph}
        self.readers: dict[str, list[str]] = defaultdict(list)
        for edge in graph.edges:
            self.readers[edge.source].append(edge.target)

    def spread(self, kept: dict[str, Mask], changed: Iterable[str]) -> None:
        """Extend `kept` by everything tied to it, after some nodes have changed."""
        waiting = deque(dict.fromkeys(other for name in changed for other in (name, *self.readers[name])))
        queued = set(waiting)
        while waiting:
            name = waiting.popleft()
            queued.remove(name)
            for changed_name in self._extend(name, kept):
                for other in (changed_name, *self.readers[changed_name]):
                    if other not in queued:
                        queued.add(other)
                        waiting.append(other)

    def _extend(self, name: str, kept: dict[str, Mask]) -> set[str]:
        """Extend `kept` by the ties of one node. Return the nodes that keep more now."""
        node, before = self.graph[name], kept[name]
        changed: set[str] = set()
        for edge, link in zip(self.graph.inputs(name), self.links[name], strict=True):
            source = kept[edge.source]
            if link.tied:
                kept[name] = union(kept[name], link.forwards(source, len(before)))
                kept[edge.source] = union(source, link.backwards(kept[name]))
            elif node.op.selects:  # it cannot select a removed channel
                (needed,) = node.op.needed_inputs(kept[name], self.tensors[name], *self.graph.input_shapes(name))
                kept[edge.source] = union(source, needed)
            changed |= {edge.source} if kept[edge.source] != source else set()
        return changed | ({name} if kept[name] != before else set())
