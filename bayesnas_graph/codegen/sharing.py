"""Which scopes can be modules although they share weights with others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from bayesnas_graph.ir import Graph, ModuleCall, Node, Scope, local_name


@dataclass(frozen=True, slots=True)
class Sharing:
    """The scopes that must be dissolved, and the weights of all scopes that are uses of one module."""

    split: frozenset[str] = frozenset()
    modules: frozenset[str] = frozenset()


def sharing(graph: Graph, whole: Collection[str]) -> Sharing:
    """What becomes of scopes that are whole because of the weights that they share.

    Uses of a shared operation can be one module that is called several times, if they consist of the same operations
    and share all that these have: each use has its own gates, and factors that were gates. Any other scope can be a
    module only if all uses of the weights in it are inside it.
    """
    if not graph.shared:
        return Sharing()
    around = {node.name: graph.enclosing(node.name) for node in graph}
    inside: dict[str, list[Node]] = defaultdict(list)
    users: dict[str, list[str]] = defaultdict(list)  # weights -> the nodes that use them
    for node in graph:
        for scope in around[node.name]:
            inside[scope.name].append(node)
        if node.name in graph.shared:
            users[node.weights].append(node.name)
    alike: dict[str, list[Scope]] = defaultdict(list)  # weights -> the scopes that use them
    for scope in graph.scopes:
        if scope.weights and scope.name in inside:
            alike[scope.weights].append(scope)
    one_module = {
        weights
        for weights, scopes in alike.items()
        if any(node.name in graph.shared for node in inside[scopes[0].name])
        and all(scope.name in whole for scope in scopes)
        and _are_equal(graph, scopes, inside)
    }

    def is_split(scope: Scope) -> bool:
        peers = alike[scope.weights] if scope.weights in one_module else [scope]
        covered = {node.name for peer in peers for node in inside[peer.name]}
        used = {node.weights for node in inside[scope.name] if node.name in graph.shared}
        return any(name not in covered for weights in used for name in users[weights])

    split = {scope.name for scope in graph.scopes if scope.name in whole and is_split(scope)}
    one_module -= {scope.weights for scope in graph.scopes if scope.name in split}
    return Sharing(frozenset(split), frozenset(one_module))


def _are_equal(graph: Graph, scopes: Iterable[Scope], inside: dict[str, list[Node]]) -> bool:
    """Whether scopes consist of the same operations, connected in the same way, without switches."""
    forms = [_form(graph, scope, inside[scope.name]) for scope in scopes]
    return all(form is not None and form == forms[0] for form in forms)


def _form(graph: Graph, scope: Scope, nodes: list[Node]) -> object:
    """A scope without the names of what it reads; None if something in it is not shared: a switch, or a factor."""
    names = {node.name: local_name(scope.name, node.name) for node in nodes}
    items = []
    for node in nodes:
        reads = tuple(names.get(edge.source, "") for edge in graph.inputs(node.name))
        call = node.op.torch(*graph.input_shapes(node.name))
        if node.op.is_gated or (isinstance(call, ModuleCall) and node.name not in graph.shared):
            return None
        items.append((names[node.name], call, reads))
    read_outside = {e.source for e in graph.edges if e.source in names and e.target not in names}
    outputs = [names[node.name] for node in nodes if node.name in read_outside or node.name in graph.outputs]
    return items, outputs
