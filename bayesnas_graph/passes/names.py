"""The scopes and names of the nodes that passes create."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from bayesnas_graph.ir import Graph, Node, Scope, inner_name, local_name


def cell_of(graph: Graph, node: str) -> Scope | None:
    """The innermost cell around a node. No pass moves anything across the border of a cell."""
    return next((scope for scope in graph.enclosing(node) if scope.role == "cell"), None)


def common_scope(graph: Graph, nodes: Sequence[Node], sources: Sequence[Node]) -> str | None:
    """The name of the innermost scope that contains all these nodes; empty if there is none.

    None if they cannot be moved there because their input is in a scope that one of them would leave: a motif cannot
    read what is computed from its own values outside it.
    """
    chains = [graph.scopes_from(node.scope) for node in nodes]
    shared = [scope for scope in chains[0] if all(scope in chain for chain in chains)]
    left = {scope for chain in chains for scope in chain} - set(shared)
    if any(left & set(graph.scopes_from(source.scope)) for source in sources):
        return None
    return shared[0].name if shared else ""


def scopes_below(graph: Graph, scope: str, node: Node) -> list[Scope]:
    """The scopes around a node that are inside this scope, the innermost first."""
    return list(takewhile(lambda other: other.name != scope, graph.scopes_from(node.scope)))


def common_gates(nodes: Sequence[Node]) -> tuple[str, ...]:
    """The gates that all these nodes are behind, outermost first."""
    return tuple(gate for gate in nodes[0].behind if all(gate in node.behind for node in nodes))


class FreshNames:
    """Creates names that no node and no scope of a graph has, each once."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._taken = {node.name for node in graph} | {scope.name for scope in graph.scopes}

    def name(self, scope: str, *words: str) -> str:
        """A name in a scope, made of words that may contain dots."""
        wanted = inner_name(scope, "_".join(words).replace(".", "_"))
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name)
        return name

    def of_value(self, scope: str, source: Node, label: str) -> str:
        """A name for a function of a value: the ReLU of `p` in the scope `cell` is `cell.p_relu`."""
        if scope and scope not in {around.name for around in self._graph.scopes_from(source.scope)}:
            return self.name(scope, "x", label)
        name = source.name
        for inner in scopes_below(self._graph, scope, source):  # the value of a motif has the name of the motif
            name = inner.name if inner.outputs == 1 else name
        return self.name(scope, local_name(scope, name), label)
