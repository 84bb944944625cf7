"""Which channels have to stay, because of others that do."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator

from bayesnas_graph.ir import Graph, Kept, Node, either
from bayesnas_graph.ir.ops import Input, Select
from bayesnas_graph.ir.ops.join import Concat
from bayesnas_graph.passes.shrink.alive import Alive, Tensors, shapes


def coupled(graph: Graph, tensors: Tensors, found: Alive) -> dict[str, Kept]:
    """The channels of every node that stay: those that count, all of inputs and outputs, and what is tied to these.

    Something stays of everything that is read, though it be zero: only a concatenation can do without an input.
    Nothing stays of what is not read, unless it is an input of the network.
    """
    ties = _Ties(graph, tensors)
    kept = {node.name: _own(graph, node, found) for node in graph}
    ties.spread(kept, kept)
    while empty := [name for name in _read(graph, kept) if not any(kept[name])]:
        kept |= {name: (True, *kept[name][1:]) for name in empty}
        ties.spread(kept, empty)
    stays = {*_read(graph, kept), *(node.name for node in graph if isinstance(node.op, Input))}
    return {node.name: kept[node.name] if node.name in stays else (False,) * node.shape[0] for node in graph}


def _own(graph: Graph, node: Node, found: Alive) -> Kept:
    """The channels of a node that stay for their own sake."""
    whole = isinstance(node.op, Input) or node.name in graph.outputs
    return (True,) * node.shape[0] if whole else found.counting[node.name]


def _read(graph: Graph, kept: dict[str, Kept]) -> Iterator[str]:
    """The nodes that are read when this is kept, outputs included."""
    read = set(graph.outputs)
    for node in reversed(list(graph)):
        if node.name not in read:
            continue
        yield node.name
        for edge in graph.inputs(node.name):
            if any(kept[edge.source]) or not isinstance(node.op, Concat):
                read.add(edge.source)


class _Ties:
    """What is tied to what in a graph."""

    def __init__(self, graph: Graph, tensors: Tensors) -> None:
        self.graph = graph
        self.tensors = tensors
        self.links = {node.name: node.op.coupling(*shapes(graph, node.name)).links for node in graph}
        self.readers: dict[str, list[str]] = defaultdict(list)
        for edge in graph.edges:
            self.readers[edge.source].append(edge.target)

    def spread(self, kept: dict[str, Kept], changed: Iterable[str]) -> None:
        """Keep all that is tied to what is kept, where some nodes may keep more than before."""
        waiting = deque(dict.fromkeys(other for name in changed for other in (name, *self.readers[name])))
        queued = set(waiting)
        while waiting:
            name = waiting.popleft()
            queued.remove(name)
            for changed_name in self._settle(name, kept):
                for other in (changed_name, *self.readers[changed_name]):
                    if other not in queued:
                        queued.add(other)
                        waiting.append(other)

    def _settle(self, name: str, kept: dict[str, Kept]) -> set[str]:
        """Keep what is tied by one node; the nodes of which more is kept now."""
        before = kept[name]
        changed: set[str] = set()
        for edge, link in zip(self.graph.inputs(name), self.links[name], strict=True):
            some = kept[edge.source]
            if link.tied:
                kept[name] = either(kept[name], link.forwards(some, len(before)))
                kept[edge.source] = either(some, link.backwards(kept[name]))
            elif isinstance(self.graph[name].op, Select):  # which cannot select what is gone
                named = self.graph[name].op.needs(kept[name], self.tensors[name], *shapes(self.graph, name))
                kept[edge.source] = either(some, named[0])
            changed |= {edge.source} if kept[edge.source] != some else set()
        return changed | ({name} if kept[name] != before else set())
