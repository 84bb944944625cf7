"""Adds a zero switch to every choice that may keep nothing."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from bayesnas_graph.ir import Edge, Gate, Graph, Node, zero_name
from bayesnas_graph.ir.ops import Zero
from bayesnas_graph.passes.options import DEFAULT, Options


def insert_zero_identity(graph: Graph, options: Options = DEFAULT) -> Graph:
    """Add an identity with its own gate to every choice that may keep nothing: when off, it turns all candidates off.

    `options.zero` says where. `before`, as in the paper, all candidates of the choice read the identity:

        x -> candidates -> choice           becomes    x -> zero -> candidates -> choice

    `after`, it reads the choice, and the readers of the choice read it instead:

        x -> candidates -> choice -> y      becomes    x -> candidates -> choice -> zero -> y

    The logic is the same. But a candidate that begins with a norm ignores the scale of its input, so the gate affects
    the loss only with `after`. Choices that already have a zero switch are not changed, nor are optional operations,
    whose gate acts as one, nor choices that must keep some candidates.
    """
    done = {gate.choice for gate in graph.gates if gate.is_zero}
    choices = [node for node in graph if node.op.is_choice and not node.op.candidate_least and node.name not in done]
    return _after(graph, choices) if options.zero == "after" else _before(graph, choices)


def _gate(graph: Graph, choice: Node) -> Gate:
    """The zero gate of a choice, in the group of the cell that contains its candidates."""
    first = graph.inputs(choice.name)[0].gate
    assert first is not None, "the edges of a choice are gated"
    name, group = zero_name(choice.name), f"{first.group.removesuffix(first.label)}zero"
    return replace(first, name=name, group=group, choice=choice.name, label="zero", kind="zero", span=choice.span)


def _after(graph: Graph, choices: list[Node]) -> Graph:
    zeros = {choice.name: zero_name(choice.name) for choice in choices}
    nodes: list[Node] = []
    edges = [replace(edge, source=zeros.get(edge.source, edge.source)) for edge in graph.edges]
    for node in graph:
        nodes.append(node)
        if node.name in zeros:
            nodes.append(replace(node, name=zeros[node.name], op=Zero(), label="zero"))
            edges.append(Edge(node.name, zeros[node.name], 0, _gate(graph, node), node.span))
    sources = {(edge.source, edge.target): zeros[edge.source] for edge in graph.edges if edge.source in zeros}
    sources |= {(choice, ""): zero for choice, zero in zeros.items()}
    constraints = [constraint.moved(sources) for constraint in graph.constraints]
    return graph.replace(nodes, edges, [zeros.get(name, name) for name in graph.outputs], constraints)


def _before(graph: Graph, choices: list[Node]) -> Graph:
    """Outer choices come first, so that a choice among the candidates of another reads the other's zero node."""
    entry: dict[Edge, str] = {}  # edges into a choice or its candidates -> the zero node they now come from
    zeros: dict[str, list[tuple[str, Node]]] = defaultdict(list)  # value -> the zero nodes that read it
    for choice in reversed(choices):
        names: dict[str, str] = {}
        members = _members(graph, choice.name)
        for member in members:
            for edge in graph.inputs(member):
                if edge.source not in members:
                    source = entry.get(edge, edge.source)
                    number = "" if not names or source in names else f"_{len(names) + 1}"
                    entry[edge] = names.setdefault(source, zero_name(choice.name) + number)
        for source, name in names.items():
            zeros[source].append((name, choice))
    nodes: list[Node] = []
    edges = [replace(edge, source=entry.get(edge, edge.source)) for edge in graph.edges]
    waiting = list(reversed(list(graph)))
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        for name, choice in zeros[node.name]:
            waiting.append(replace(choice, name=name, op=Zero(), shape=node.shape, label="zero"))
            edges.append(Edge(node.name, name, 0, _gate(graph, choice), choice.span))
    sources = {(edge.source, edge.target): source for edge, source in entry.items()}
    constraints = [constraint.moved(sources) for constraint in graph.constraints]
    return graph.replace(nodes, edges, graph.outputs, constraints)


def _members(graph: Graph, choice: str) -> dict[str, None]:
    """A choice and the nodes of its candidates, found by walking back from it."""
    gates = {edge.gate.name for edge in graph.inputs(choice) if edge.gate is not None}
    members, waiting = {choice: None}, [choice]
    while waiting:
        for edge in graph.inputs(waiting.pop()):
            if edge.source not in members and not gates.isdisjoint(graph[edge.source].behind):
                members[edge.source] = None
                waiting.append(edge.source)
    return members
