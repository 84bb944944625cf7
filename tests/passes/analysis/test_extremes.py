"""The smallest and the largest architecture, against enumeration."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bayesnas_graph import passes
from bayesnas_graph.ir import Graph
from bayesnas_graph.ir.ops import Choice
from bayesnas_graph.passes.analysis import Extremes, cost, extremes
from bayesnas_graph.passes.analysis.bounds import Bounds
from bayesnas_graph.passes.analysis.descent import PATIENCE, Descent
from bayesnas_graph.passes.analysis.prices import Measure, Prices
from bayesnas_graph.passes.prune import Disconnected, Misfit, prune
from tests.helpers import body, check, graph
from tests.passes.cases import shipped

MEASURES: tuple[Measure, ...] = ("parameters", "flops")


def ends(found: Extremes) -> list[int]:
    return [end.cost for span in (found.parameters, found.flops) for end in (span.smallest, span.largest)]


def assert_real(found: Graph, told: Extremes) -> None:
    """The reported architecture can be derived and has the reported cost."""
    for measure in MEASURES:
        span = getattr(told, measure)
        for end in (span.smallest, span.largest):
            assert getattr(cost(prune(found, end.off)), measure) == end.cost


def allowed(found: Graph, on: frozenset[str]) -> bool:
    """Whether every choice respects its limit."""
    for node in found:
        if isinstance(node.op, Choice) and node.op.limit is not None:
            groups = {edge.gate.group for edge in found.inputs(node.name) if edge.gate}
            if len(groups & on) > node.op.limit:
                return False
    return True


def price(found: Graph, on: frozenset[str], measure: Measure) -> int | None:
    """The cost of an architecture, by deriving it."""
    try:
        left = prune(found, {gate.group for gate in found.gates} - on)
    except (Disconnected, Misfit):
        return None
    value: int = getattr(cost(left), measure)
    return value if allowed(found, on) else None


def all_prices(prices: Prices) -> list[int]:
    """The costs of all architectures."""
    sizes = range(len(prices.groups) + 1)
    found = [prices.of(frozenset(on)) for size in sizes for on in combinations(prices.groups, size)]
    return [value for value in found if value is not None]


# ---- by hand


def test_a_fixed_network_has_one_size() -> None:
    found = graph(body("x -> out : conv(3)"))
    assert ends(extremes(found)) == [81, 81, 64 * 81, 64 * 81]
    assert extremes(found).parameters.smallest.proven


def test_at_most_k_candidates_are_on() -> None:
    text = "x -> out : choose 2 { conv(3, 1), conv(3, 3), conv(3, 5), relu } x -> out"
    told = extremes(graph(body(text)))
    assert (told.parameters.smallest.cost, told.parameters.largest.cost) == (0, 9 * (9 + 25))
    assert told.parameters.smallest.proven
    assert told.parameters.largest.proven
    assert told.parameters.largest.off == {"out.x.relu", "out.x.conv_1"}


CELL = "cell c(w) { in x x -> out : choose 1 { conv(w, 5), conv(40, 1) > conv(w, 1) } } "


def test_the_uses_of_a_cell_are_counted_together() -> None:
    """With few input and output channels the 5x5 convolution is smaller, otherwise larger."""
    told = extremes(graph(CELL + body("x -> out : c(1) > conv(16, 1) > c(16) > conv(3, 1)"))).parameters
    fixed = 16 + 48
    assert told.smallest.cost == fixed + 40 * (3 + 1) + 40 * (16 + 16)
    assert told.largest.cost == fixed + 25 * 3 + 25 * 256
    assert told.largest.proven


def test_uses_in_candidates_can_leave_it_unproven() -> None:
    """The two uses prefer different candidates, and only one of the uses is kept."""
    text = (
        "x -> out : choose 1 { c(1) > conv(3, 1), conv(16, 1) > c(16) > conv(3, 1) } x -> out : choose 1 { c(3), relu }"
    )
    told = extremes(graph(CELL + body(text))).parameters
    assert told.largest.cost == 48 + 25 * 256 + 48 + 25 * 9
    assert not told.largest.proven, "the second choice by itself would rather keep the other one, with 240 weights"


def test_a_choice_in_a_candidate_counts_with_it() -> None:
    motif = "motif m { in x x -> out : choose 1 { conv(3, 3), conv(3, 5) } > conv(3, 1) } "
    told = extremes(graph(motif + body("x -> out : choose 1 { m, conv(3, 7) > relu, conv(3, 5) > relu }"))).parameters
    assert (told.smallest.cost, told.largest.cost) == (9 * (9 + 1), 9 * 49)


def test_a_lost_input_of_a_concat_makes_what_reads_it_smaller() -> None:
    text = "node h[3] = x : optional conv(4) concat(h) -> out : conv(3, 1)"
    told = extremes(graph(body(text))).parameters
    assert (told.smallest.cost, told.largest.cost) == (108 + 4 * 3, 3 * 108 + 12 * 3)


def test_architectures_that_do_not_fit() -> None:
    halves = "node h[2] = x : optional conv(3, 1) node y = concat(h)"
    told = extremes(graph(body(f"{halves} sum(y, conv(6, 1)(x)) -> out : conv(3, 1)"))).parameters
    assert told.smallest.cost == 18 + 18, "both or none of the two are left"
    told = extremes(graph(body(f"{halves} scale(y, global_avg_pool(concat(x, x))) -> out : conv(3, 1)"))).parameters
    assert told.smallest.cost == told.largest.cost == 18 + 18, "both are left"
    assert told.smallest.off == frozenset()


TWO_INPUTS = """
cell c(w) {
    in x, y
    node h[4]
    for j in 0..4 {
        x, y, h[0..j] -> h[j] : choose 1 { conv(w, 3) > bn, conv(w, 5) > bn, max_pool(3), identity }
        require inputs(h[j]) == 2
    }
    concat(h) -> out : conv(w, 1)
}
"""


def test_two_inputs_for_every_node_are_exact() -> None:
    """The cells share their switches; every node keeps two edges, of the dearest or the cheapest candidates."""
    lines = "node a = x : conv(8, 1) node b = c(8)(a, a) node d = c(8)(a, b) node e = d : conv(16, 1, 2)"
    text = TWO_INPUTS + body(f"{lines} node f = c(16)(e, e) f -> out : conv(3, 1)", "image(3, 8, 8) -> image(3, 4, 4)")
    found = graph(text)
    told = extremes(found)
    fixed = 3 * 8 + 8 * 16 + 16 * 3 + 2 * 32 * 8 + 64 * 16
    dear = 8 * (25 * 64 + 16) * 2 + 8 * (25 * 256 + 32)
    assert (told.parameters.smallest.cost, told.parameters.largest.cost) == (fixed, fixed + dear)
    assert all(end.proven for span in (told.parameters, told.flops) for end in (span.smallest, span.largest))
    assert_real(found, told)


def test_a_space_that_cannot_be_searched_to_the_end_has_exact_sizes_too() -> None:
    """Depths, kernels and widths of once-for-all: the bounds are reached."""
    told = extremes(shipped("once_for_all", "search"))
    assert (told.parameters.smallest.cost, told.parameters.largest.cost) == (3_410_792, 7_664_760)
    assert all(end.proven for span in (told.parameters, told.flops) for end in (span.smallest, span.largest))


@pytest.mark.parametrize("where", ["before", "after"])
def test_passes_change_nothing(where: str) -> None:
    found = shipped("quickstart", "digits")
    after = passes.insert_zero_identity(found, passes.Options(zero=where))  # type: ignore[arg-type]
    told = extremes(after)
    assert ends(told) == ends(extremes(found))
    assert_real(after, told)


@pytest.mark.parametrize(
    ("space", "network", "smallest", "largest"),
    [
        ("nasbench201", "search", 73_306, 1_531_546),  # both published
        ("darts", "search", 9_466, 1_930_618),  # a pool in each cell, which leaves out every other cell
        ("darts", "evaluation", 98_398, 20_232_982),
        ("densenet", "search", 125_122, 176_122),
        ("hierarchical", "search", 20_298, 590_826),
        ("proxyless_mobile", "search", 2_154_984, 5_103_336),
        ("quickstart", "digits", 786, 45_650),
        ("tree_cell", "search", 5_274, 27_282_654),
    ],
)
def test_shipped_spaces(space: str, network: str, smallest: int, largest: int) -> None:
    found = shipped(space, network)
    told = extremes(found)
    assert (told.parameters.smallest.cost, told.parameters.largest.cost) == (smallest, largest)
    assert told.parameters.largest.proven
    assert told.flops.largest.proven
    assert_real(found, told)


# ---- on random spaces


class Space:
    """Generates a random space: nested motifs and cells, with switches on most paths to the output."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.motifs: list[str] = []

    def text(self) -> str:
        items = []
        for i in range(self.random.randint(0, 3)):
            items.append(f"{self.random.choice(('motif', 'cell', 'cell'))} m{i}(w) {{ {self._body()} }}")
            self.motifs.append(f"m{i}")
        widths = self.random.sample((2, 3, 5, 8), self.random.randint(1, 3))
        steps = [f"{self._operation(w)}{self.random.choice(('', f' > conv({w}, 1, 2)'))}" for w in widths]
        line = f"node y = x : {' > '.join(steps)} > conv(4, 1) y -> out : {self._edge(4)} > global_avg_pool > linear(3)"
        return " ".join([*items, body(line, "image(4, 8, 8) -> classes(3)")])

    def _body(self) -> str:
        names, lines = ["x"], ["in x"]
        unused: list[str] = []
        for i in range(self.random.randint(1, 3)):
            lines.append(f"node n{i} : {self.random.choice(('sum', 'sum', 'concat', 'product'))}")
            for source in self.random.sample(names, min(len(names), self.random.randint(1, 2))):
                lines.append(f"{source} -> n{i} : {self._edge('w')}")
                unused = [name for name in unused if name != source]
            names.append(f"n{i}")
            unused.append(f"n{i}")
        unused += ["x"] if self.random.random() < 0.3 else []
        return " ".join([*lines, *(f"{name} -> out : {self._edge('w')}" for name in unused)])

    def _edge(self, width: int | str) -> str:
        kind = self.random.random()
        if kind < 0.3:
            candidates = sorted({self._operation(width) for _ in range(self.random.randint(2, 3))})
            return f"choose {self.random.choice(('', '1 ', '2 '))}{{ {', '.join(candidates)} }}"
        return f"{'optional ' if kind < 0.5 else ''}{self._operation(width)}"

    def _operation(self, width: int | str) -> str:
        if self.motifs and self.random.random() < 0.4:
            return f"{self.random.choice(self.motifs)}({width})"
        options = (
            "conv({w}, 1)",
            "conv({w}, 3)",
            "conv({w}, 5)",
            "(depthwise(3) > conv({w}, 1))",
            "(conv(2 * {w}, 1) > conv({w}, 3))",
            "(conv(3, 3) > conv({w}, 1))",
            "(conv(7, 1) > bn > conv({w}, 1))",
        )
        return self.random.choice(options).format(w=width)


def random_space(random: Random, most: int = 10) -> Graph | None:
    """The graph of a random space, if it has a moderate number of switches."""
    space, diagnostics = check(Space(random).text())
    if diagnostics:
        return None
    found = space.networks[0].graph()
    return found if 0 < len({gate.group for gate in found.gates}) <= most else None


SPACES = st.randoms(use_true_random=False).map(random_space)


@given(found=SPACES, random=st.randoms(use_true_random=False))
def test_a_price_is_the_cost_of_the_pruned_graph(found: Graph | None, random: Random) -> None:
    assume(found is not None)
    assert found is not None
    for measure in MEASURES:
        prices = Prices(found, measure)
        for share in (0.3, 0.6, 0.9):
            on = frozenset(group for group in prices.groups if random.random() < share)
            assert prices.of(on) == price(found, on, measure)


@settings(max_examples=60)
@given(found=SPACES)
def test_the_ends_are_those_of_all_architectures(found: Graph | None) -> None:
    assume(found is not None and 2**10 * len(found) <= PATIENCE)
    assert found is not None
    told = extremes(found)
    assert_real(found, told)
    for measure in MEASURES:
        span, everything = getattr(told, measure), all_prices(Prices(found, measure))
        assert span.smallest.cost == min(everything)
        assert span.smallest.proven
        assert span.largest.cost <= max(everything)
        assert span.largest.cost == max(everything) or not span.largest.proven


@settings(max_examples=60)
@given(found=SPACES)
def test_every_architecture_is_within_the_bounds(found: Graph | None) -> None:
    assume(found is not None and 2**10 * len(found) <= PATIENCE)
    assert found is not None
    for measure in MEASURES:
        bounds = Bounds(Prices(found, measure))
        everything = all_prices(bounds.prices)
        assert bounds.least.price <= min(everything)
        assert bounds.most.price >= max(everything)


RULED = """
cell c(w) {{
    in x, y
    node h[2]
    x -> h[0] : {0}
    y -> h[0] : {1}
    x -> h[1] : {2}
    h[0] -> h[1] : {3}
    {4}
    {5} -> out : conv(w, 1)
}}
"""


@settings(max_examples=60)
@given(random=st.randoms(use_true_random=False))
def test_every_architecture_with_rules_is_within_the_bounds(random: Random) -> None:
    """Two uses of a cell that share their switches and are of different cost."""
    kinds = ("choose 1 { conv(w, 3), relu }", "choose { conv(w, 1), relu }", "optional conv(w, 1)", "conv(w, 1)")
    rules = ("inputs(h[0]) == 1", "inputs(h[1]) == 2", "inputs(h[1]) >= 1", "edges == 2", "edges <= 2", "edges >= 1")
    edges = [random.choice(kinds) for _ in range(4)]
    required = " ".join(f"require {rule}" for rule in random.sample(rules, random.randint(1, 2)))
    ends = random.choice(("concat(h)", "h[1]", "sum(h)", "concat(x, h[1])"))
    network = body("node a = c(3)(x, x) node b = a : conv(5, 1) node d = c(5)(b, b) d -> out : conv(3, 1)")
    space, diagnostics = check(RULED.format(*edges, required, ends) + network)
    assume(not diagnostics)
    found = space.networks[0].graph()
    for measure in MEASURES:
        bounds = Bounds(Prices(found, measure))
        everything = all_prices(bounds.prices)
        if everything:
            assert bounds.least.price <= min(everything)
            assert bounds.most.price >= max(everything)


def test_the_search_for_the_smallest_hardly_ever_misses() -> None:
    """Against enumeration, on spaces in which not all switches can be closed."""
    tried = missed = 0
    for seed in range(250):
        found = random_space(Random(seed), most=9)
        if found is None:
            continue
        prices = Prices(found, "parameters")
        if prices.of(frozenset()) is None:
            on, told = Descent(Bounds(prices)).run()
            assert prices.of(on) == told
            tried += 1
            missed += told != min(all_prices(prices))
    assert tried > 100
    assert missed <= 1


def test_the_search_for_the_largest_hardly_ever_misses() -> None:
    tried = proven = 0
    for seed in range(250):
        found = random_space(Random(seed), most=9)
        if found is None:
            continue
        largest = extremes(found).parameters.largest
        assert largest.cost == max(all_prices(Prices(found, "parameters")))
        tried += 1
        proven += largest.proven
    assert proven > 0.9 * tried
