"""Match the nodes of two graphs by name, or by their ancestors if names differ."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bayesnas_graph.ir import Graph, Node
from bayesnas_graph.language.json.fingerprint import is_commutative, op_identity
from bayesnas_graph.language.json.subtrees import paths

ROUNDS = 8  # each round builds on the matches of the previous one


@dataclass(frozen=True)
class Matching:
    """Pairs of names, by either name."""

    after: dict[str, str]  # by the name before
    before: dict[str, str]  # by the name after


def match(before: Graph, after: Graph) -> Matching:
    """Match the nodes of two graphs. A node is matched at most once.

    Nodes with equal names are matched first. Then nodes with the same ancestry, up to matched nodes, if there are
    equally many on both sides. These matches show which parts of names were replaced, and so which other nodes were
    renamed.
    """
    names = {node.name for node in after}
    matching = Matching({}, {})
    for node in before:
        if node.name in names:
            _pair(matching, node.name, node.name)
    left, right = _Side(before), _Side(after)
    for _ in range(ROUNDS):
        known = len(matching.after)
        if known == min(len(before), len(after)):
            break
        for with_descent in (True, False):
            _match_equal(matching, left, right, with_descent)
            _match_renamed(matching, left, right)
        if len(matching.after) == known:
            break
    return matching


class _Side:
    """One of the two graphs, with the edges indexed by node."""

    def __init__(self, graph: Graph) -> None:
        self.nodes = list(graph)
        self.facts = {node.name: (op_identity(node.op), node.shape) for node in self.nodes}
        self.reads: dict[str, list[tuple[str, int]]] = {node.name: [] for node in self.nodes}
        self.readers: dict[str, list[tuple[str, int]]] = {node.name: [] for node in self.nodes}
        self.outputs: dict[str, list[int]] = {}
        for i, name in enumerate(graph.outputs):
            self.outputs.setdefault(name, []).append(i)
        for edge in graph.edges:
            slot = -1 if is_commutative(graph[edge.target].op) else edge.slot
            self.reads[edge.target].append((edge.source, slot))
            self.readers[edge.source].append((edge.target, slot))

    def ancestry(self, known: dict[str, str], numbers: dict[object, int]) -> dict[str, int]:
        """A number for each node, equal for equal ancestors, up to the nearest matched nodes."""
        return self._tokens(self.nodes, self.reads, known, numbers)

    def descent(self, known: dict[str, str], numbers: dict[object, int]) -> dict[str, int]:
        """A number for each node, equal for equal descendants."""
        return self._tokens(reversed(self.nodes), self.readers, known, numbers)

    def _tokens(
        self,
        order: Iterable[Node],
        around: dict[str, list[tuple[str, int]]],
        known: dict[str, str],
        numbers: dict[object, int],
    ) -> dict[str, int]:
        tokens: dict[str, int] = {}
        for node in order:
            name = node.name
            key: object
            if name in known:
                key = ("matched", known[name])
            else:
                near = tuple(sorted((slot, tokens[other]) for other, slot in around[name]))
                ends = tuple(self.outputs.get(name, ())) if around is self.readers else ()
                key = (self.facts[name], near, ends)
            tokens[name] = numbers.setdefault(key, len(numbers))
        return tokens


def _match_equal(matching: Matching, left: _Side, right: _Side, with_descent: bool) -> None:
    """Match classes of nodes that look alike, in graph order."""
    itself = dict(zip(matching.before, matching.before, strict=True))
    classes: list[dict[object, list[str]]] = []
    ancestry: dict[object, int] = {}
    descent: dict[object, int] = {}
    for side, known in ((left, matching.after), (right, itself)):
        up = side.ancestry(known, ancestry)
        down = side.descent(known, descent) if with_descent else {}
        alike: dict[object, list[str]] = {}
        for node in side.nodes:
            if node.name not in known:
                alike.setdefault((up[node.name], down.get(node.name)), []).append(node.name)
        classes.append(alike)
    for token, names in classes[0].items():
        others = classes[1].get(token, ())
        if len(names) == len(others):
            for old, new in zip(names, others, strict=True):
                _pair(matching, old, new)


def _match_renamed(matching: Matching, left: _Side, right: _Side) -> None:
    """Match nodes of a motif if another node of the motif was matched under another name."""
    moved: dict[str, str] = {}
    for old, new in matching.after.items():
        if old != new:
            ours, theirs = old.split("."), new.split(".")
            while ours and theirs and ours[-1] == theirs[-1]:
                ours.pop()
                theirs.pop()
                # Longer prefixes are certain too, and are tried first below.
                moved.setdefault(".".join([*ours, ""]), ".".join([*theirs, ""]))
    free = {node.name for node in right.nodes if node.name not in matching.before}
    for node in left.nodes:
        if node.name in matching.after:
            continue
        for path in reversed(list(paths(node.name))[:-1]):
            name = moved.get(f"{path}.", "") + node.name[len(path) + 1 :]
            if f"{path}." in moved:
                if name in free:
                    free.remove(name)
                    _pair(matching, node.name, name)
                break


def _pair(matching: Matching, before: str, after: str) -> None:
    matching.after[before] = after
    matching.before[after] = before
