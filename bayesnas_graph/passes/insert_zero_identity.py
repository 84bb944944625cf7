"""A zero switch on every choice."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Literal

from bayesnas_graph.ir import Edge, Gate, Graph, Node
from bayesnas_graph.ir.ops import Choice, Zero


def insert_zero_identity(graph: Graph, where: Literal["before", "after"] = "after") -> Graph:
    """Put an identity with a gate of its own on every choice: off, it turns all candidates off.

    `before`, as in the paper, all candidates of the choice read the identity:

        x -> candidates -> choice           becomes    x -> zero -> candidates -> choice

    `after`, it reads the choice, and what read the choice reads it instead:

        x -> candidates -> choice -> y      becomes    x -> candidates -> choice -> zero -> y

    The logic is the same. But a candidate that begins with a norm is blind to the scale of its input, so
    `before` it hides the gate from the loss; `after` does not. A choice that has its zero switch is left
    alone, and so is an optional operation, which is nothing but a zero switch.
    """
    done = {edge.source for edge in graph.edges if isinstance(graph[edge.target].op, Zero)}
    done |= {edge.target.rpartition(".zero")[0] for edge in graph.edges if isinstance(graph[edge.target].op, Zero)}
    choices = [node for node in graph if isinstance(node.op, Choice) and node.name not in done]
    return _after(graph, choices) if where == "after" else _before(graph, choices)


def _gate(graph: Graph, choice: Node) -> Gate:
    """The zero gate of a choice, in the group of the cell in which its candidates are."""
    first = graph.inputs(choice.name)[0].gate
    assert first is not None, "the edges of a choice are gated"
    label = first.name.rpartition(".")[2]
    return Gate(f"{choice.name}.zero", f"{first.group.removesuffix(label)}zero")


def _after(graph: Graph, choices: list[Node]) -> Graph:
    zero = {choice.name: f"{choice.name}.zero" for choice in choices}
    nodes: list[Node] = []
    edges = [replace(edge, source=zero.get(edge.source, edge.source)) for edge in graph.edges]
    for node in graph:
        nodes.append(node)
        if node.name in zero:
            nodes.append(replace(node, name=zero[node.name], op=Zero()))
            edges.append(Edge(node.name, zero[node.name], 0, _gate(graph, node), node.span))
    return graph.replace(nodes, edges, [zero.get(name, name) for name in graph.outputs])


def _before(graph: Graph, choices: list[Node]) -> Graph:
    """Candidates are told from the rest of the graph by their names, which begin with that of their choice.

    Outer choices come first, so that a choice among the candidates of another reads the other's zero node.
    """
    entry: dict[Edge, str] = {}  # edges that lead into a choice or its candidates -> the zero node they come from now
    zeros: dict[str, list[tuple[str, Node]]] = defaultdict(list)  # what is read -> the zero nodes that read it
    for choice in reversed(choices):
        inside = f"{choice.name}."
        found: dict[str, str] = {}
        for member in _members(graph, choice.name, inside):
            for edge in graph.inputs(member):
                if not edge.source.startswith(inside):
                    source = entry.get(edge, edge.source)
                    number = "" if not found or source in found else f"_{len(found) + 1}"
                    entry[edge] = found.setdefault(source, f"{choice.name}.zero{number}")
        for source, name in found.items():
            zeros[source].append((name, choice))
    nodes: list[Node] = []
    edges = [replace(edge, source=entry.get(edge, edge.source)) for edge in graph.edges]
    waiting = list(reversed(list(graph)))
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        for name, choice in zeros[node.name]:
            waiting.append(Node(name, Zero(), node.shape, choice.span))
            edges.append(Edge(node.name, name, 0, _gate(graph, choice), choice.span))
    return graph.replace(nodes, edges, graph.outputs)


def _members(graph: Graph, choice: str, inside: str) -> list[str]:
    """A choice and the nodes of its candidates, found by walking back from it."""
    found, waiting = {choice: None}, [choice]
    while waiting:
        for edge in graph.inputs(waiting.pop()):
            if edge.source.startswith(inside) and edge.source not in found:
                found[edge.source] = None
                waiting.append(edge.source)
    return list(found)
