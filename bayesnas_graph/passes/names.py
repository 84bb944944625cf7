"""Names for the nodes that passes create. The name of a node says which motif it is in."""

from __future__ import annotations

from collections.abc import Sequence

from bayesnas_graph.ir import Graph, Scope


def prefix_of(graph: Graph, node: str) -> str:
    """The prefix of the names of all nodes in the innermost scope of a node."""
    scopes = graph.enclosing(node)
    return f"{scopes[0].name}." if scopes else ""


def cell_of(graph: Graph, node: str) -> Scope | None:
    """The innermost cell around a node. No pass moves anything across the border of a cell."""
    return next((scope for scope in graph.enclosing(node) if scope.role == "cell"), None)


def common_prefix(graph: Graph, nodes: Sequence[str], sources: Sequence[str]) -> str | None:
    """The prefix of the innermost scope that contains all these nodes.

    None if they cannot be moved there because their input is in a scope that one of them would leave: a motif cannot
    read what is computed from its own values outside it.
    """
    chains = [graph.enclosing(node) for node in nodes]
    shared = [scope for scope in chains[0] if all(scope in chain for chain in chains)]
    inner_scopes = {scope for chain in chains for scope in chain} - set(shared)
    if any(inner_scopes & set(graph.enclosing(source)) for source in sources):
        return None
    return f"{shared[0].name}." if shared else ""


class FreshNames:
    """Creates names that no node and no scope of a graph has, each once."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._taken = {node.name for node in graph} | {scope.name for scope in graph.scopes}

    def name(self, prefix: str, *words: str) -> str:
        """A name in a scope, made of words that may contain dots."""
        wanted = prefix + "_".join(words).replace(".", "_")
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name)
        return name

    def of_value(self, prefix: str, source: str, label: str) -> str:
        """A name for a function of a value: the ReLU of `p` in the scope `cell.` is `cell.p_relu`."""
        for scope in self._graph.enclosing(source):  # the value of a motif has the name of the motif
            if scope.outputs == 1 and scope.name.startswith(prefix):
                source = scope.name
        return self.name(prefix, source.removeprefix(prefix) if source.startswith(prefix) else "x", label)
