"""Names for nodes that passes make. A name says in which motif a node stands."""

from __future__ import annotations

from collections.abc import Sequence

from bayesnas_graph.ir import Graph, Scope


def prefix_of(graph: Graph, node: str) -> str:
    """What the names of all nodes in the innermost scope of a node begin with."""
    scopes = graph.enclosing(node)
    return f"{scopes[0].name}." if scopes else ""


def cell_of(graph: Graph, node: str) -> Scope | None:
    """The innermost cell that a node stands in: its border is one that no pass moves anything across."""
    return next((scope for scope in graph.enclosing(node) if scope.role == "cell"), None)


def common_prefix(graph: Graph, nodes: Sequence[str], sources: Sequence[str]) -> str | None:
    """The prefix of the innermost scope that holds all of some nodes.

    None if they cannot be moved there, because what they read is in a scope that one of them would leave: a
    motif cannot read what is made of its own values outside of it.
    """
    chains = [graph.enclosing(node) for node in nodes]
    shared = [scope for scope in chains[0] if all(scope in chain for chain in chains)]
    left = {scope for chain in chains for scope in chain} - set(shared)
    if any(left & set(graph.enclosing(source)) for source in sources):
        return None
    return f"{shared[0].name}." if shared else ""


class Fresh:
    """Gives names that no node and no scope of a graph has, and none twice."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._taken = {node.name for node in graph} | {scope.name for scope in graph.scopes}

    def name(self, prefix: str, *words: str) -> str:
        """A name in a scope, of words that may have dots in them."""
        wanted = prefix + "_".join(words).replace(".", "_")
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name)
        return name

    def of_value(self, prefix: str, source: str, what: str) -> str:
        """The name of what is made of a value: the ReLU of `p` in the scope `cell.` is called `cell.p_relu`."""
        for scope in self._graph.enclosing(source):  # the value of a motif is called as the motif is
            if scope.outputs == 1 and scope.name.startswith(prefix):
                source = scope.name
        return self.name(prefix, source.removeprefix(prefix) if source.startswith(prefix) else "x", what)
