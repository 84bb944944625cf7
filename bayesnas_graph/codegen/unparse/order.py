"""Reading order: every node after what it reads, found by walking back from the outputs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from bayesnas_graph.ir import Graph


def walk(ends: Iterable[str], reads: Mapping[str, Sequence[str]], done: Iterable[str] = ()) -> list[str]:
    """Everything that leads to some ends, each after what it reads.

    >>> walk(["d"], {"d": ["b", "c"], "b": ["a"], "c": ["a"]})
    ['a', 'b', 'c', 'd']
    """
    seen, order = set(done), []
    for end in ends:
        waiting = [(end, iter(reads.get(end, ())))] if end not in seen else []
        seen.add(end)
        while waiting:
            name, rest = waiting[-1]
            source = next((source for source in rest if source not in seen), None)
            if source is None:
                order.append(name)
                waiting.pop()
            else:
                seen.add(source)
                waiting.append((source, iter(reads.get(source, ()))))
    return order


def in_order(graph: Graph) -> list[str]:
    """The inputs, then everything the outputs depend on. The order of the nodes in the graph does not matter."""
    inputs = [node.name for node in graph if node.op.is_input]
    reads = {node.name: [edge.source for edge in graph.inputs(node.name)] for node in graph}
    return [*inputs, *walk(graph.outputs, reads, done=inputs)]


def in_scopes(graph: Graph) -> list[str]:
    """The same, with the nodes of every scope together. No path may lead out of a scope and back in."""
    levels = _Levels(graph)
    inputs = [node.name for node in graph if node.op.is_input]

    def inside(scope: str) -> Iterator[str]:
        for name in walk(levels.ends[scope], levels.reads[scope], done=inputs):
            if name in levels.scopes:
                yield from inside(levels.scopes[name])
            else:
                yield name

    return [*inputs, *inside("")]


class _Levels:
    """For every scope, and "" for the graph, what reads what in it: its own nodes, and scopes directly in it."""

    def __init__(self, graph: Graph) -> None:
        self._around = {node.name: ["", *(s.name for s in reversed(graph.enclosing(node.name)))] for node in graph}
        self.reads: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        self.ends: dict[str, list[str]] = defaultdict(list)  # read outside
        self.scopes: dict[str, str] = {}  # the name of a scope among nodes -> its own name
        read = dict.fromkeys(graph.outputs, 0)  # a node -> how many of the scopes around it contain all its readers
        for edge in graph.edges:
            source, target = self._around[edge.source], self._around[edge.target]
            common = sum(ours == theirs for ours, theirs in zip(source, target, strict=False))
            part = self._part(edge.target, common - 1)
            self.reads[source[common - 1]][part].append(self._part(edge.source, common - 1))
            read[edge.source] = min(common, read.get(edge.source, common))
        self.ends[""] = [self._part(name, 0) for name in graph.outputs]
        for node in graph:
            around = self._around[node.name]
            for level in range(max(read.get(node.name, 0), 1), len(around)):
                self.ends[around[level]].append(self._part(node.name, level))

    def _part(self, name: str, level: int) -> str:
        """What contains a node in the scope of a level: the next scope, or the node itself."""
        around = self._around[name]
        if level + 1 == len(around):
            return name
        part = f"{around[level + 1]}."  # no node has this name
        self.scopes[part] = around[level + 1]
        return part
