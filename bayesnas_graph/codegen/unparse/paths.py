"""Names of nodes as a text brings them about: words and numbers between dots.

A graph from a document may call its nodes as it likes. Here its names become harmless, and the rest of this package
need not think of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bayesnas_graph.ir import Node
from bayesnas_graph.ir.ops import Input
from bayesnas_graph.language.elaborate.labels import Names

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INDEX = re.compile(r"0|[1-9][0-9]{0,5}")


class Paths:
    """Names for some nodes, and for what they stand in. Those that are of the right form stay.

    >>> from bayesnas_graph.ir.ops import Relu
    >>> nodes = [Node("stem.relu", Relu(), (3,)), Node("stem.a b", Relu(), (3,)), Node('"', Relu(), (3,))]
    >>> list(Paths(nodes).nodes.values())
    ['stem.relu', 'stem.relu_2', 'relu']
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._names = Names()
        self._known: dict[tuple[str, ...], str] = {}  # the parts of a name, or its first parts -> what they become
        self.nodes: dict[str, str] = {}
        inputs = [node.name for node in nodes if isinstance(node.op, Input)]
        for name in sorted(inputs, key=lambda name: not _is_path(name)):
            self.nodes[name] = self._names.unique(name if _WORD.fullmatch(name) else "x")  # they stand in nothing
        for node in sorted(nodes, key=lambda node: not _is_path(node.name)):
            if not isinstance(node.op, Input):
                self.nodes[node.name] = self._path(node)

    def scope(self, name: str) -> str | None:
        """The name of a scope; none if no node stands in it, or one is called so."""
        found = self._known.get(tuple(name.split(".")))
        return None if name in self.nodes else found

    def _path(self, node: Node) -> str:
        parts = tuple(node.name.split("."))
        path = ""
        for i, part in enumerate(parts):
            here = parts[: i + 1]
            if here not in self._known:
                is_last = i + 1 == len(parts)
                instead = node.op.label if is_last and _WORD.fullmatch(node.op.label) else "part"
                word = part if _WORD.fullmatch(part) or (i and _INDEX.fullmatch(part)) else instead
                self._known[here] = self._names.unique(f"{path}.{word}" if path else word)
            path = self._known[here]
        return path


def _is_path(name: str) -> bool:
    first, *others = name.split(".")
    return bool(_WORD.fullmatch(first)) and all(_WORD.fullmatch(part) or _INDEX.fullmatch(part) for part in others)
