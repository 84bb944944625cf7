"""Names of nodes that a text can have: words and numbers between dots.

A graph from a JSON document may have any names. Here they become harmless, so the rest of the package can rely on it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bayesnas_graph.ir import Node, inner_name
from bayesnas_graph.language.elaborate.labels import Names

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INDEX = re.compile(r"0|[1-9][0-9]{0,5}")


class PathNames:
    """Names for nodes and the scopes they are in. Names that already have the right form stay.

    >>> from bayesnas_graph.ir.ops import Relu
    >>> nodes = [Node("stem.relu", Relu(), (3,)), Node("stem.a b", Relu(), (3,)), Node('"', Relu(), (3,))]
    >>> list(PathNames(nodes).nodes.values())
    ['stem.relu', 'stem.relu_2', 'relu']
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._names = Names()
        self._known: dict[str, str] = {}  # a name, or the first parts of one -> its new form
        self.nodes: dict[str, str] = {}
        inputs = [node.name for node in nodes if node.op.is_input]
        for name in sorted(inputs, key=lambda name: not _is_path(name)):
            self.nodes[name] = self._names.unique(name if _WORD.fullmatch(name) else "x")  # inputs are in no scope
        for node in sorted(nodes, key=lambda node: not _is_path(node.name)):
            if not node.op.is_input:
                self.nodes[node.name] = self._path(node)

    def scope(self, name: str) -> str | None:
        """The name of a scope; None if it has no node, or a node has its name."""
        return None if name in self.nodes else self._known.get(name)

    def _path(self, node: Node) -> str:
        here = path = ""
        for i, part in enumerate(node.name.split(".")):
            here = f"{here}.{part}" if i else part
            if here not in self._known:
                instead = node.op.label if here == node.name and _WORD.fullmatch(node.op.label) else "part"
                word = part if _WORD.fullmatch(part) or (i and _INDEX.fullmatch(part)) else instead
                self._known[here] = self._names.unique(inner_name(path, word))
            path = self._known[here]
        return path


def _is_path(name: str) -> bool:
    first, *others = name.split(".")
    return bool(_WORD.fullmatch(first)) and all(_WORD.fullmatch(part) or _INDEX.fullmatch(part) for part in others)
