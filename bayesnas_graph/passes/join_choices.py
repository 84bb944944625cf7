"""Computes the choices that lead into one node as one sum, on a GPU."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

from bayesnas_graph.ir import Graph, Node, Scope
from bayesnas_graph.ir.ops import Total
from bayesnas_graph.passes.names import cell_of
from bayesnas_graph.passes.options import DEFAULT, Options


def join_choices(graph: Graph, options: Options = DEFAULT) -> Graph:
    """Put choices that only one sum reads into one scope with it, so that their gates are one tensor.

    The sum becomes a `total`, which is computed with all its choices at once. That takes fewer kernels; on CPUs the
    graph is not changed. Choices that contain candidates stay as they are: `fuse_parallel` moves most of them out.
    Choices with names of their own, as in `node a = x : choose { ... }`, stay too: what is in a scope is named after
    it.
    """
    if options.device == "cpu" or options.apart:
        return graph
    readers = Counter(edge.source for edge in graph.edges)
    readers.update(graph.outputs)
    inside: dict[str, list[Node]] = defaultdict(list)
    for node in graph:
        for scope in graph.enclosing(node.name):
            inside[scope.name].append(node)
    taken = {scope.name for scope in graph.scopes}
    moved: dict[str, Node] = {}  # by name: what is in the scope of a sum now
    joined: dict[str, list[Node]] = {}  # a sum -> its choices, with their zero switches
    scopes: list[Scope] = []
    for node in graph:
        choices = _choices(graph, node, inside, readers)
        if not choices or node.name in taken:
            continue
        first = graph.scopes_from(choices[0].scope)[0]
        scopes.append(replace(first, name=node.name, parent=node.scope))
        joined[node.name] = [replace(part, scope=node.name) for part in choices]
        moved |= {part.name: part for part in joined[node.name]}
        moved[node.name] = replace(node, op=Total(), scope=node.name)
    if not joined:
        return graph
    nodes = []
    for node in graph:
        if node.name in joined:
            nodes += [*joined[node.name], moved[node.name]]
        elif node.name not in moved:
            nodes.append(node)
    empty = {graph[part.name].scope for parts in joined.values() for part in parts}
    found = Graph(
        graph.name, nodes, graph.edges, graph.outputs, [*graph.scopes, *scopes], graph.constraints, graph.kinds
    )
    return found.keep_scopes({scope.name for scope in found.scopes} - empty)


def _choices(graph: Graph, node: Node, inside: dict[str, list[Node]], readers: Counter[str]) -> list[Node]:
    """The choices that a sum reads, each with its zero switch; none if it reads anything else."""
    edges = graph.inputs(node.name)
    if not node.op.adds or node.op.is_gated or len(edges) < 2 or cell_of(graph, node.name) is None:
        return []
    found: list[Node] = []
    for edge in edges:
        source = graph[edge.source]
        chain = graph.scopes_from(source.scope)
        own = inside[source.scope]
        is_alone = all(readers[part.name] == 1 and part.op.is_gated for part in own)
        if not is_alone or own[-1] != source or not chain or chain[0].role != "choice" or chain[0].parent != node.scope:
            return []
        if not all(part.name.startswith(f"{node.name}.") for part in own):
            return []
        found += own
    return found if len({part.scope for part in found}) == len(edges) else []
