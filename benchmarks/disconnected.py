"""How often architectures are disconnected, with and without zero as a candidate: `python -m benchmarks.disconnected`.

If zero is a candidate and every edge takes a random one, some node is often on no path from input to output. For four
ordered nodes, all six edges between them, and three operations besides zero, BayesNAS (Zhou et al., 2019) gives the
probability as 511/1024. Here it is computed exactly, by enumeration of the missing edges.

The same spaces then go through the decisions of a search, without training: gates and curvatures are drawn at random
and processed as in the strategy `bayesnas`. No resulting architecture may have an operation on no
path. For comparison, the same numbers are used to take the strongest candidate of each edge, zero included.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path

import networkx as nx
import torch

from bayesnas_graph import bayes, passes
from bayesnas_graph.bayes import Decision, State, Switches
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.ir import Graph
from bayesnas_graph.ir.ops import Choice, Input
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.passes import Disconnected, prune
from benchmarks import tables
from benchmarks.command import arguments, command, finish
from benchmarks.record import Record

LONG = 10**6  # largest denominator of a fraction that is shown as such


@dataclass(frozen=True)
class Space:
    """A text with a network `searched`, and the target nodes of its edges."""

    text: str
    nodes: tuple[str, ...]


FOUR_NODES = Space(
    """
network searched : image(8, 8, 8) -> image(8, 8, 8) {
    in x
    node h[3]
    for j in 0..3 {
        x, h[0..j] -> h[j] : choose 1 { conv(8, 3), conv(8, 5), max_pool(3) }
    }
    out h[2]
}
""",
    ("h.0", "h.1", "h.2"),
)
NASBENCH201 = Space(
    """
import "nasbench201.nas"
network searched : image(8, 8, 8) -> image(8, 8, 8) {
    in x
    out dense(choose 1 candidates)(x)
}
""",
    ("dense.h.0", "dense.h.1", "dense.h.2"),
)
DARTS = Space(
    """
import "darts.nas"
network searched : image(8, 8, 8) -> classes(10) {
    in x
    normal(8, false, affine = false)(x, x) -> out : global_avg_pool > linear(10)
}
""",
    ("normal.h.0", "normal.h.1", "normal.h.2", "normal.h.3"),
)
SPACES = {"four nodes": FOUR_NODES, "NAS-Bench-201, cell": NASBENCH201, "DARTS, normal cell": DARTS}


def graph_of(space: Space) -> Graph:
    """The graph of a space with its zero switches, as at the start of a search."""
    source = Source(str(Path(__file__).parent.parent / "spaces" / "generated.nas"), space.text)
    (network,) = (found for found in Checker(Report()).text(source).networks if found.name == "searched")
    return passes.run(network.graph(), passes.SWITCHES)


def choices(graph: Graph) -> list[tuple[str, ...]]:
    """The candidates of each edge."""
    nodes = [node.name for node in graph if isinstance(node.op, Choice)]
    return [tuple(edge.gate.group for edge in graph.inputs(name) if edge.gate) for name in nodes]


def is_whole(graph: Graph, nodes: Iterable[str], off: Iterable[str]) -> bool:
    """Whether all these nodes are on paths from input to output when some switches are closed."""
    try:
        left = prune(graph, frozenset(off))
    except Disconnected:
        return False
    return {node.name for node in left}.issuperset(nodes)


def chance(graph: Graph, nodes: Iterable[str]) -> Fraction:
    """The probability that some node is on no path if every edge takes a candidate or zero with equal probability.

    It only matters whether an edge takes zero, not which operation it takes.
    """
    edges = choices(graph)
    bare = prune(graph, {name for candidates in edges for name in candidates[:-1]})  # the last is the smallest
    there = [Fraction(len(candidates), len(candidates) + 1) for candidates in edges]
    whole = Fraction(0)
    for pattern in product((True, False), repeat=len(edges)):
        off = [candidates[-1] for candidates, on in zip(edges, pattern, strict=True) if not on]
        if is_whole(bare, nodes, off):
            whole += prod(p if on else 1 - p for p, on in zip(there, pattern, strict=True))
    return 1 - whole


def derived(graph: Graph, switches: Switches, generator: torch.Generator) -> tuple[State, Decision, Decision]:
    """A random prior, the verdicts of the single switches, and the decision that a search derives from them."""
    gates = len(switches.gates)

    def drawn(low: float, high: float, count: int) -> torch.Tensor:
        """Positive numbers, log-uniform between two powers of ten."""
        return 10 ** (low + (high - low) * torch.rand(count, generator=generator, dtype=torch.float64))

    h, w, gamma = drawn(-4, 4, gates), drawn(-4, 1, gates), drawn(-2, 2, len(switches.groups))
    intensity = float(drawn(-4, 4, 1))
    lambda_w = switches.by_kind(intensity, intensity)
    state = bayes.update(switches, gamma, h, w, lambda_w)
    values = bayes.score("relevance", switches, state.s, h, w, torch.zeros_like(h), lambda_w)
    scores = dict(zip(switches.groups, values.tolist(), strict=True))
    said = bayes.decide(graph, switches, state, h, w)
    sound = bayes.close_dead_ends(graph, bayes.reconnect(graph, said, scores))
    return state, said, bayes.enforce_limits(graph, sound, scores)


def stray(graph: Graph, decision: Decision) -> int:
    """The number of kept switches and nodes on no path from input to output, computed independently with networkx."""
    left = prune(graph, decision.off)
    paths: nx.DiGraph[str] = nx.DiGraph((edge.source, edge.target) for edge in left.edges)
    inputs = {node.name for node in left if isinstance(node.op, Input)}
    after = inputs.union(*(nx.descendants(paths, name) for name in inputs))
    before = set(left.outputs).union(*(nx.ancestors(paths, name) for name in left.outputs))
    kept = {verdict.name for verdict in decision.verdicts if verdict.keep}
    on_paths = {edge.gate.group for edge in left.edges if edge.gate and {edge.source, edge.target} <= after & before}
    return len(kept - on_paths) + sum(node.name not in after & before for node in left)


def strongest_is_zero(switches: Switches, state: State, edges: list[tuple[str, ...]]) -> set[str]:
    """The candidates of the edges on which the zero switch is the strongest."""
    s = dict(zip(switches.groups, state.s.tolist(), strict=True))
    found: set[str] = set()
    for candidates in edges:
        zero = f"{candidates[0].rpartition('.')[0]}.zero"
        if s[zero] > max(s[name] for name in candidates):
            found.update(candidates)
    return found


def measure(name: str, priors: int, seed: int) -> dict[str, object]:
    """A row of the record."""
    space, graph = SPACES[name], graph_of(SPACES[name])
    switches, edges = Switches.of(graph), choices(graph)
    generator = torch.Generator().manual_seed(seed)
    by_argmax = lost = disconnected = astray = 0
    for _ in range(priors):
        state, said, chosen = derived(graph, switches, generator)
        by_argmax += not is_whole(graph, space.nodes, strongest_is_zero(switches, state, edges))
        lost += bool(said.lost)
        try:
            astray += stray(graph, chosen) > 0
        except Disconnected:
            disconnected += 1
    even = chance(graph, space.nodes)
    return {
        "space": name,
        "edges": len(edges),
        "operations": len(edges[0]),
        "zero drawn evenly": str(even),
        "priors": priors,
        "zero by argmax": by_argmax,
        "switches alone": lost,
        "derived": disconnected,
        "derived, on no path": astray,
    }


def table(record: Record) -> str:
    rows = []
    for row in record.rows:
        even = Fraction(row["zero drawn evenly"])
        exactly = f"{even} = " if even.denominator < LONG else ""
        rows.append(
            [
                row["space"],
                f"{row['edges']} of {row['operations']}",
                f"{exactly}{float(even):.2%}",
                f"{row['priors']:,}",
                f"{row['zero by argmax']:,} ({row['zero by argmax'] / row['priors']:.1%})",
                f"{row['switches alone']:,} ({row['switches alone'] / row['priors']:.1%})",
                str(row["derived"]),
                str(row["derived, on no path"]),
            ]
        )
    head = ["space", "edges", "disconnected with zero drawn evenly", "priors", "disconnected with zero by argmax"]
    head += ["output lost by switches alone", "derived: disconnected", "derived: something on no path"]
    return tables.table(head, rows)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--priors", type=int, default=2000, help="number of random priors for each space")
    options = parser.parse_args()
    torch.set_num_threads(1)
    record = Record.begin(options.name, command(), ["space"], seeds=[0], settings={"priors": options.priors})
    finish(record.with_rows(measure(space, options.priors, 0) for space in SPACES), table, options)


if __name__ == "__main__":
    main()
