"""Fixed graphs to unparse: pruned spaces and random programs, random graphs, and graphs with odd names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

from hypothesis import strategies as st

from bayesnas_graph.diagnostics import Report
from bayesnas_graph.ir import Edge, Graph, Node, Op, Scope, ShapeError
from bayesnas_graph.ir.ops import PRIMITIVES, Input
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.passes import Disconnected, Misfit, plain, prune
from tests.conftest import ROOT
from tests.language.json.graphs import generated

SEEDS = st.integers(0, 2**32 - 1)

# Words that mean something to the language, to Python or to this package, and words that nothing should mean.
WORDS = (
    *("h", "h.0", "h.1", "h.00", "x", "y", "n0", "m0", "a.b.c", "part", "0", "0.", ".", "..", ""),
    *("conv", "relu_2", "sum", "in", "out", "motif", "network", "image", "width", "k", "edge", "true"),
    *('a"b', "*/", "/*", "//!", "\n", "\r\n}", "é", "in x\nout x", "}", "x = 1", "\u2028", "\ud800", "x" * 200),
)


@cache
def shipped(name: str, network: str, **overrides: int) -> Graph:
    checker = Checker(Report())
    space = checker.path(ROOT / "spaces" / f"{name}.nas")
    assert space is not None
    found = checker.network(space.module, network, overrides)
    assert found is not None
    return found.graph()


def derived(graph: Graph, seed: int, share: float = 0.5) -> Graph:
    """The fixed network that remains after closing about `share` of the switches, or fewer if nothing would remain.

    Of every number, one option stays.
    """
    random = Random(seed)
    groups = sorted({gate.group for gate in graph.gates if not gate.number})
    numbers = {gate.choice: graph.inputs(gate.choice) for gate in graph.gates if gate.number}
    options = sorted({tuple(edge.gate.group for edge in edges if edge.gate) for edges in numbers.values()})
    kept = {random.choice(some) for some in options}
    others = {group for some in options for group in some} - kept
    while True:
        try:
            return plain(prune(graph, others | {group for group in groups if random.random() < share}))
        except (Disconnected, Misfit):
            share *= 0.9


def fixed() -> st.SearchStrategy[Graph]:
    """Pruned random programs."""
    return st.builds(derived, generated(), SEEDS, st.floats(0, 0.9))


def disordered() -> st.SearchStrategy[Graph]:
    """Random graphs with odd names and scopes."""
    return st.builds(lambda graph, seed: renamed(graph, Random(seed)), st.one_of(fixed(), tangled()), SEEDS)


# ------------------------------------------------------------------------------------ random graphs

_OPS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    *(("relu", {}), ("bn", {}), ("conv", {"width": 4}), ("conv", {"width": 4, "k": 1}), ("conv", {"k": 5})),
    *(
        ("conv", {"width": 4, "k": (1, 3)}),
        ("depthwise", {"k": (3, 1), "dilation": (1, 2)}),
        ("max_pool", {"k": (3, 5)}),
    ),
    *(("upsample", {"factor": (2, 1)}), ("resize", {"height": 6}), ("resize", {"height": 6, "mode": "nearest"})),
    *(("difference", {}), ("difference", {}), ("slice_channels", {"start": 1, "width": 2}), ("channel_shuffle", {})),
    *(("leaky_relu", {"slope": Fraction(1, 5)}), ("elu", {}), ("softmax", {}), ("adaptive_max_pool", {"height": 6})),
    *(("sum", {}), ("sum", {}), ("mean", {}), ("product", {}), ("concat", {}), ("scale", {}), ("global_avg_pool", {})),
)


def tangled() -> st.SearchStrategy[Graph]:
    """Unusual graphs of all kinds of operations, with several inputs and outputs."""
    return SEEDS.map(lambda seed: _tangled(Random(seed)))


def _tangled(random: Random) -> Graph:
    nodes = [Node(name, Input(), shape) for name, shape in (("x", (4, 6, 6)), ("z", (4,)))[: random.randint(1, 2)]]
    edges: list[Edge] = []
    for i in range(random.randint(1, 14)):
        name, arguments = random.choice(_OPS)
        op: Op = PRIMITIVES[name](**arguments)
        sources = [random.choice(nodes) for _ in range(op.inputs or random.randint(1, 3))]
        try:
            shape = op.shape(*(source.shape for source in sources))
        except ShapeError:
            continue
        word = random.choice(
            (f"h.{i}", f"h.{i // 2}.{name}", f"n{i}", f"n{i // 3}.{name}_{i}", f"{name}_{i}", f"out.{i}")
        )
        if word not in {node.name for node in nodes}:
            edges += [Edge(source.name, word, slot) for slot, source in enumerate(sources)]
            nodes.append(Node(word, op, shape))
    outputs = [node.name for node in random.choices(nodes, k=random.randint(1, 3))]
    return Graph("tangled", nodes, edges, outputs)


def live(graph: Graph) -> Graph:
    """A graph without the nodes that reach no output."""
    used = set(graph.outputs)
    for node in reversed(list(graph)):
        if node.name in used:
            used |= {edge.source for edge in graph.inputs(node.name)}
    nodes = [node for node in graph if node.name in used]
    return graph.replace(nodes, [edge for edge in graph.edges if edge.target in used], graph.outputs)


def renamed(graph: Graph, random: Random) -> Graph:
    """The same graph with odd names and arbitrary, possibly incomplete, scopes."""
    beginnings = ["", *(".".join(random.choices(WORDS, k=random.randint(1, 2))) for _ in range(4))]
    names: dict[str, str] = {}
    for node in graph:
        name = ""
        while not name or name in names.values():
            ending = random.choice(("", "", "_2", str(random.randint(0, 30)), f".{random.choice(WORDS)}"))
            name = f"{random.choice(beginnings)}.{random.choice(WORDS)}{ending}".removeprefix(".")
        names[node.name] = name
    scopes: dict[str, Scope] = {}
    for name in [*names.values(), *beginnings]:
        for i in range(1, len(name)):
            if name[i] == "." and random.random() < 0.5:
                role = random.choice(("motif", "cell", "choice", "network"))
                scopes[name[:i]] = Scope(name[:i], random.choice(WORDS), role, random.randint(1, 3))

    def around(name: str) -> str:
        """The scope with the longest name that this name begins with."""
        return max((scope for scope in scopes if name.startswith(f"{scope}.")), key=len, default="")

    nodes = [Node(names[node.name], node.op, node.shape, scope=around(names[node.name])) for node in graph]
    edges = [Edge(names[edge.source], names[edge.target], edge.slot) for edge in graph.edges]
    nested = [replace(scope, parent=around(scope.name)) for scope in scopes.values()]
    return Graph(random.choice(WORDS), nodes, edges, [names[name] for name in graph.outputs], nested)
