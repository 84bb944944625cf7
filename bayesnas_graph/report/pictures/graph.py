"""A flat graph as a diagram, before or after passes.

Motifs are opened level by level while the picture stays readable. Every closed use is one box.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from bayesnas_graph.diagnostics.words import counted
from bayesnas_graph.ir import Graph, Node, Scope, local_name, shape_text
from bayesnas_graph.report.pictures.body import LARGEST, PanelBody, grouped, summarised
from bayesnas_graph.report.pictures.diagram import Box, Diagram, DrawnChoice, Panel, Strand, Wire
from bayesnas_graph.report.pictures.settings import settings_of

MOST_BOXES = 60  # boxes and choices of a readable picture
MOST_STRANDS = 12  # of one choice; with more, it is drawn as a box


def diagram_of_graph(graph: Graph) -> Diagram:
    """A graph on one panel."""
    chains = {node.name: _closed_by(graph.enclosing(node.name)) for node in graph}
    deepest = max((sum(scope.role != "choice" for scope in chain) for chain in chains.values()), default=0)
    body, opened = _body(graph, chains, 0), 0
    for level in range(1, deepest + 1):
        if len({_closed(chain, level) or name for name, chain in chains.items()}) > LARGEST:
            break
        finer = _body(graph, chains, level)
        if len(finer.boxes) + len(finer.choices) > MOST_BOXES:
            break
        body, opened = finer, level
    notes = [f"motifs opened to level {opened} of {deepest}, and closed below"] if opened < deepest else []
    if len(body.boxes) + len(body.choices) > LARGEST:
        notes.append(f"{counted(len(body.boxes), 'box')}: too many to draw")
        body = summarised(body)
    switches = len({gate.group for gate in graph.gates})
    summary = f"{counted(len(graph), 'node')} · {counted(len(graph.edges), 'edge')} · {counted(switches, 'switch')}"
    panel = Panel(f"graph {graph.name}", tuple(notes), body.boxes, body.choices, body.wires, ("",), (graph.name,))
    return Diagram(graph.name, summary, (panel,))


def _closed_by(enclosing: Iterable[Scope]) -> tuple[Scope, ...]:
    """The scopes around a node, from the outermost to the first choice. Choices are never opened."""
    chain: list[Scope] = []
    for scope in reversed(tuple(enclosing)):
        chain.append(scope)
        if scope.role == "choice":
            break
    return tuple(chain)


def _closed(chain: tuple[Scope, ...], level: int) -> Scope | None:
    """The scope that represents a node in the picture; None if the node is shown itself."""
    if level < len(chain):
        return chain[level]
    return chain[-1] if chain and chain[-1].role == "choice" else None


def _body(graph: Graph, chains: dict[str, tuple[Scope, ...]], level: int) -> PanelBody:
    closed = {name: _closed(chain, level) for name, chain in chains.items()}
    owners = _without_cycles(graph, {name: scope.name if scope else name for name, scope in closed.items()})
    return grouped(_Builder(graph, owners, {scope.name: scope for scope in closed.values() if scope}).build())


def _without_cycles(graph: Graph, owners: dict[str, str]) -> dict[str, str]:
    """Merge owners that depend on each other.

    There are none in an elaborated graph, but passes share work between motifs.
    """
    import networkx as nx

    between: nx.DiGraph[str] = nx.DiGraph()
    between.add_nodes_from(owners.values())
    between.add_edges_from((owners[edge.source], owners[edge.target]) for edge in graph.edges)
    between.remove_edges_from(list(nx.selfloop_edges(between)))
    first = {}
    for component in nx.strongly_connected_components(between):
        first.update(dict.fromkeys(component, min(component, key=lambda name: (len(name), name))))
    return {name: first[owner] for name, owner in owners.items()}


class _Builder:
    def __init__(self, graph: Graph, owners: dict[str, str], scopes: dict[str, Scope]) -> None:
        self.graph, self.owners, self.scopes = graph, owners, scopes
        self.members: dict[str, list[Node]] = {}
        for node in graph:
            self.members.setdefault(owners[node.name], []).append(node)
        self.readers: dict[str, set[str]] = {owner: set() for owner in self.members}
        self.given: dict[str, dict[str, None]] = {owner: {} for owner in self.members}  # values that others read
        for source, target, name in self._between():
            self.readers[source].add(target)
            self.given[source][name] = None
        for name in graph.outputs:
            self.given[owners[name]][name] = None

    def _between(self) -> Iterable[tuple[str, str, str]]:
        for edge in self.graph.edges:
            source, target = self.owners[edge.source], self.owners[edge.target]
            if source != target:
                yield source, target, edge.source

    def build(self) -> PanelBody:
        boxes: list[Box] = []
        choices: list[DrawnChoice] = []
        wires: Counter[tuple[int, int]] = Counter()
        enters: dict[str, int] = {}
        leaves: dict[str, int] = {}
        key = 0
        for owner in self.members:
            enters[owner] = leaves[owner] = key
            choice = self._choice(owner, key)
            if choice is None:
                boxes.append(replace(self._box(owner), key=key))
            else:
                choices.append(choice)
                if len(self.readers[owner]) != 1 or self._is_output(owner):  # a choice has one reader
                    key += 1
                    leaves[owner] = key
                    wires[enters[owner], key] += 1
                    boxes.append(Box(key, "node", self._title(owner), (), self._shape(owner), owner))
            key += 1
        for source, target, _ in self._between():
            wires[leaves[source], enters[target]] += 1
        for number, name in enumerate(self.graph.outputs):
            title = "out" if len(self.graph.outputs) == 1 else f"out {number + 1}"
            shape = shape_text(self.graph[name].shape)
            boxes.append(Box(key, "output", title, (), shape, f"output\n{shape}"))
            wires[leaves[self.owners[name]], key] += 1
            key += 1
        return PanelBody(tuple(boxes), tuple(choices), tuple(Wire(*ends, count) for ends, count in wires.items()))

    def _choice(self, owner: str, key: int) -> DrawnChoice | None:
        """An owner as a choice, if it is one that can be shown, or an optional connection."""
        scope = self.scopes.get(owner)
        if scope is not None and scope.role != "choice":
            return None
        last = next((node for node in self.members[owner] if node.name == owner), None)
        gated = [] if last is None else [edge for edge in self.graph.inputs(owner) if edge.gate is not None]
        if last is None or not gated or len(gated) > MOST_STRANDS or len(gated) < len(self.graph.inputs(owner)):
            return None
        if scope is None and len(gated) > 1:
            return None  # part of a choice that a pass split
        strands = []
        for edge in gated:
            assert edge.gate is not None
            op = self.graph[edge.source].op
            label = "identity" if scope is None else edge.gate.label
            strands.append(Strand(label, edge.gate.name, edge.gate.choice, 0, str(op), switch=edge.gate.text))
        tip = f"{owner}: {last.op}\n{shape_text(last.shape)}"
        limit, least = last.op.candidate_limit, last.op.candidate_least
        return DrawnChoice(key, tuple(strands), limit, last.op.is_optional, tip=tip, least=least)

    def _box(self, owner: str) -> Box:
        shape = self._shape(owner)
        nodes = self.members[owner]
        scope = self.scopes.get(owner)
        if scope is not None or len(nodes) > 1:
            title = "shared" if scope is None else scope.kind
            lines = self._title(owner), counted(len(nodes), "operation")
            tip = f"{owner}: {lines[1]}\n{shape}"
            return Box(-1, "motif", title, lines + _shared(scope.weights if scope else ""), shape, tip)
        (node,) = nodes
        tip = f"{node.name}: {node.op}\n{shape}"
        if node.op.is_input:
            return Box(-1, "input", self._title(owner), (), shape, tip)
        if node.op.is_join:
            return Box(-1, "node", self._title(owner), (node.op.label,), shape, tip)
        return Box(-1, "operation", node.op.label, _shared(node.weights), shape, tip, settings=settings_of(node.op))

    def _title(self, owner: str) -> str:
        """The name of a node or use in the text; for a node added by a pass, its local name."""
        scope = self.scopes.get(owner)
        label = scope.label if scope is not None else self.graph[owner].label
        around = self.graph.scopes_from(scope.parent) if scope is not None else self.graph.enclosing(owner)
        return label or local_name(around[0].name if around else "", owner)

    def _shape(self, owner: str) -> str:
        shapes = {shape_text(self.graph[name].shape) for name in self.given[owner]}
        return shapes.pop() if len(shapes) == 1 else ""

    def _is_output(self, owner: str) -> bool:
        return any(self.owners[name] == owner for name in self.graph.outputs)


def _shared(weights: str) -> tuple[str, ...]:
    """The line that marks shared weights."""
    return (f"shared: {weights}",) if weights else ()
