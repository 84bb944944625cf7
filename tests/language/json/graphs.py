"""Graphs of random programs and shipped spaces, and mutations of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cache
from random import Random

import networkx as nx
from hypothesis import strategies as st

from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.ir import Constraint, Edge, Gate, Graph, Node
from bayesnas_graph.ir.ops import Choice, Conv, Input
from bayesnas_graph.ir.ops.join import Concat
from bayesnas_graph.language.elaborate import Checker, Limits
from bayesnas_graph.language.json.fingerprint import is_commutative, op_key
from tests.conftest import ROOT, SPACES
from tests.programs import Program

LIMITS = Limits(nodes=3_000, edges=12_000, depth=60, steps=20_000)
SMALL = ("quickstart", "densenet", "nasbench201", "lenet5", "resnet18_cifar")


@cache
def shipped(name: str, number: int = 0) -> Graph:
    space = Checker(Report()).path(ROOT / "spaces" / f"{name}.nas")
    assert space is not None
    return space.networks[number].graph()


def all_shipped() -> Iterator[tuple[str, int]]:
    for path in SPACES:
        space = Checker(Report()).path(path)
        assert space is not None
        for number in range(len(space.networks)):
            yield path.stem, number


def _generated(random: Random) -> Graph:
    """The graph of the next random program that has one."""
    while True:
        space = Checker(Report(), LIMITS).text(Source("random.nas", Program(random, 0).text()))
        if space.networks:
            return space.networks[0].graph()


def facts(graph: Graph) -> list[dict[str, object]]:
    """All fields of the parts of a graph, also those that are not compared. Only spans are left out."""
    parts = (*graph, *graph.gates, *graph.scopes, *graph.constraints)
    return [{field.name: getattr(part, field.name) for field in fields(part) if field.name != "span"} for part in parts]


def generated() -> st.SearchStrategy[Graph]:
    return st.integers(0, 2**32).map(lambda seed: _generated(Random(seed)))


def graphs() -> st.SearchStrategy[Graph]:
    return st.one_of(generated(), st.sampled_from(SMALL).map(shipped))


# ------------------------------------------------------------------------- changes without meaning


def disguised(graph: Graph, random: Random) -> Graph:
    """The same space with other names and another order of nodes and of the inputs of sums and choices."""
    names = [f"@{i}" for i in range(len(graph))]
    random.shuffle(names)
    name = {node.name: new for node, new in zip(graph, names, strict=True)}
    groups = list(dict.fromkeys(gate.group for gate in graph.gates))
    group = dict(zip(groups, random.sample(range(10**6), len(groups)), strict=True))
    edges = []
    for node in graph:
        inputs = graph.inputs(node.name)
        slots = [edge.slot for edge in inputs]
        if is_commutative(node.op):
            random.shuffle(slots)
        for edge, slot in zip(inputs, slots, strict=True):
            gate = edge.gate and Gate(f"g{random.random()}", f"c{group[edge.gate.group]}")
            edges.append(Edge(name[edge.source], name[edge.target], slot, gate))
    random.shuffle(edges)
    nodes = [replace(graph[old], name=name[old]) for old in _shuffled(graph, random)]
    constraints = [_renamed(constraint, name, random) for constraint in graph.constraints]
    random.shuffle(constraints)
    return Graph("disguised", nodes, edges, [name[output] for output in graph.outputs], constraints=constraints)


def _renamed(constraint: Constraint, name: dict[str, str], random: Random) -> Constraint:
    terms = []
    for term in random.sample(constraint.terms, len(constraint.terms)):
        edge, inside = term.edge, tuple(name[choice] for choice in term.edge.inside)
        target = name[edge.target] if edge.target else ""
        terms.append(replace(term, edge=replace(edge, source=name[edge.source], target=target, inside=inside)))
    return replace(constraint, terms=tuple(terms), around=tuple(name[other] for other in constraint.around))


def _shuffled(graph: Graph, random: Random) -> list[str]:
    """Another topological order, with the inputs unchanged."""
    chance = {node.name: random.random() for node in graph}
    chance.update((node.name, -1.0) for node in graph if isinstance(node.op, Input))
    inputs = [node.name for node in graph if isinstance(node.op, Input)]
    rest = nx.lexicographical_topological_sort(nx.DiGraph(graph.nx), key=chance.__getitem__)
    return inputs + [name for name in rest if name not in inputs]


# ---------------------------------------------------------------------------- changes with meaning


@dataclass
class Parts:
    """The parts of a graph, to reassemble with one change."""

    nodes: list[Node]
    edges: list[Edge]
    outputs: list[str]
    constraints: list[Constraint]

    @staticmethod
    def of(graph: Graph) -> Parts:
        return Parts(list(graph), list(graph.edges), list(graph.outputs), list(graph.constraints))

    def graph(self) -> Graph:
        return Graph("changed", self.nodes, self.edges, self.outputs, constraints=self.constraints)


def _argument(parts: Parts, random: Random) -> bool:
    found = [i for i, node in enumerate(parts.nodes) if isinstance(node.op, Conv)]
    if not found:
        return False
    i = random.choice(found)
    op = parts.nodes[i].op
    assert isinstance(op, Conv)
    parts.nodes[i] = replace(parts.nodes[i], op=replace(op, bias=not op.bias))
    return True


def _shape(parts: Parts, random: Random) -> bool:
    i = random.randrange(len(parts.nodes))
    first, *rest = parts.nodes[i].shape
    parts.nodes[i] = replace(parts.nodes[i], shape=(first + 1, *rest))
    return True


def _source(parts: Parts, random: Random) -> bool:
    if not parts.edges:
        return False
    i = random.randrange(len(parts.edges))
    names = [node.name for node in parts.nodes]
    earlier = [n for n in names[: names.index(parts.edges[i].target)] if n != parts.edges[i].source]
    if not earlier:
        return False
    parts.edges[i] = replace(parts.edges[i], source=random.choice(earlier))
    return True


def _grouping(parts: Parts, random: Random) -> bool:
    gated = [i for i, edge in enumerate(parts.edges) if edge.gate]
    if not gated:
        return False
    i = random.choice(gated)
    gate = parts.edges[i].gate
    assert gate is not None
    groups = [e.gate.group for e in parts.edges if e.gate and e.gate.group != gate.group]
    group = random.choice([*groups, "a new one"])
    parts.edges[i] = replace(parts.edges[i], gate=Gate(gate.name, group))
    return True


def _limit(parts: Parts, random: Random) -> bool:
    found = [i for i, node in enumerate(parts.nodes) if isinstance(node.op, Choice)]
    if not found:
        return False
    i = random.choice(found)
    op = parts.nodes[i].op
    assert isinstance(op, Choice)
    parts.nodes[i] = replace(parts.nodes[i], op=Choice(7 if op.limit is None else None))
    return True


def _outputs(parts: Parts, random: Random) -> bool:
    others = [node.name for node in parts.nodes if node.name not in parts.outputs]
    if not others:
        return False
    parts.outputs.insert(random.randrange(len(parts.outputs) + 1), random.choice(others))
    return True


def _concat(parts: Parts, random: Random) -> bool:
    joins = {node.name for node in parts.nodes if isinstance(node.op, Concat)}
    found = [i for i, edge in enumerate(parts.edges) if edge.target in joins and edge.slot == 0]
    found = [i for i in found if i + 1 < len(parts.edges) and parts.edges[i + 1].target == parts.edges[i].target]
    if not found:
        return False
    i = random.choice(found)
    first, second = parts.edges[i], parts.edges[i + 1]
    if first.source == second.source:
        return False
    parts.edges[i] = replace(first, source=second.source)
    parts.edges[i + 1] = replace(second, source=first.source)
    return True


def _constraint(parts: Parts, random: Random) -> bool:
    if not parts.constraints:
        return False
    i = random.randrange(len(parts.constraints))
    constraint = parts.constraints.pop(i)
    if random.random() < 0.5:
        changed = replace(constraint, least=constraint.least + 1, most=constraint.most + 1, text="another")
        parts.constraints.insert(i, changed)
    # The others of its text, in other uses, go too: a text says what a file says.
    parts.constraints = [other for other in parts.constraints if str(other) != str(constraint)]
    return True


Mutation = Callable[[Parts, Random], bool]
MUTATIONS: dict[str, Mutation] = {
    "argument": _argument,
    "shape": _shape,
    "source": _source,
    "grouping": _grouping,
    "limit": _limit,
    "outputs": _outputs,
    "concat": _concat,
    "constraint": _constraint,
}


def mutated(graph: Graph, mutation: Mutation, random: Random) -> Graph | None:
    """The graph with one change, which may have no effect; None if the change is not possible."""
    parts = Parts.of(graph)
    return parts.graph() if mutation(parts, random) else None


# ------------------------------------------------------------------------------------- the oracle


def isomorphic(a: Graph, b: Graph) -> bool:
    """Whether two graphs are isomorphic, by search instead of hashing."""
    return bool(nx.is_isomorphic(_plain(a), _plain(b), node_match=lambda x, y: x["key"] == y["key"]))


def _plain(graph: Graph) -> nx.DiGraph[object]:
    """The graph with slots and groups as separate nodes, for comparison by a library."""
    plain: nx.DiGraph[object] = nx.DiGraph()
    inputs = [node.name for node in graph if isinstance(node.op, Input)]
    for node in graph:
        place = inputs.index(node.name) if node.name in inputs else -1
        outputs = tuple(i for i, name in enumerate(graph.outputs) if name == node.name)
        plain.add_node(("node", node.name), key=("node", op_key(node.op), node.shape, place, outputs))
    for i, edge in enumerate(graph.edges):
        slot = -1 if is_commutative(graph[edge.target].op) else edge.slot
        plain.add_node(("edge", i), key=("edge", slot))
        plain.add_edge(("node", edge.source), ("edge", i))
        plain.add_edge(("edge", i), ("node", edge.target))
        if edge.gate:
            plain.add_node(("group", edge.gate.group), key="group")
            plain.add_edge(("group", edge.gate.group), ("edge", i))
    for i, constraint in enumerate(graph.constraints):
        plain.add_node(("constraint", i), key=("constraint", constraint.least, constraint.most))
        plain.add_edges_from((("node", name), ("constraint", i)) for name in constraint.around)
        for j, term in enumerate(constraint.terms):
            plain.add_node(("term", i, j), key=("term", term.kept))
            plain.add_edge(("term", i, j), ("constraint", i))
            plain.add_edge(("node", term.edge.source), ("term", i, j))
            if term.edge.target:
                plain.add_edge(("term", i, j), ("node", term.edge.target))
    return plain
