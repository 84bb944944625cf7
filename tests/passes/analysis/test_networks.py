"""The number of distinct connected networks, against pruning every setting."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.analysis import limits, networks, switches, violated
from bayesnas_graph.passes.analysis.networks import Networks
from bayesnas_graph.passes.prune import Disconnected, Misfit, prune
from tests.conftest import ROOT
from tests.helpers import body, check, graph
from tests.passes.analysis.test_extremes import Space
from tests.passes.cases import shipped


def pruned(found: Graph) -> set[frozenset[str]]:
    """The switches of every connected network within the limits: those that pruning a setting leaves."""
    groups = sorted(found.switches)
    left: set[frozenset[str]] = set()
    for size in range(len(groups) + 1):
        for on in combinations(groups, size):
            off = set(groups) - set(on)
            try:
                kept = frozenset(gate.group for gate in prune(found, off).gates)
            except (Disconnected, Misfit):
                continue
            closed = set(groups) - kept
            if not any(limit.exceeded(kept) for limit in limits(found)) and not violated(found, closed):
                left.add(kept)
    return left


class RuledSpace(Space):
    """A random space, some of whose choices must keep candidates, and some of whose edges are required."""

    def _body(self) -> str:
        text = super()._body()
        for _ in range(self.random.randint(0, 2)):
            ends = self.random.choice(("n0", "n1", "n2", "out"))
            number = self.random.randint(1, 2)
            text += self.random.choice(
                (
                    "",
                    f" require edges {self.random.choice(('<=', '>='))} {number}",
                    f" require inputs({ends}) == {number}",
                    f" require edge(x, {ends}) implies edge(n0, out)",
                    f" require not edge(n0, {ends}) or edge(x, n0)",
                )
            )
        return text

    def _edge(self, width: int | str) -> str:
        text = super()._edge(width)
        kind = self.random.random()
        if text.startswith("choose 1") and kind < 0.5:
            return text.replace("choose 1", "choose exactly 1")
        if text.startswith("choose {") and kind < 0.3 and text.count(",") > 1:
            return text.replace("choose", "choose exactly 2", 1)
        return text


def random_space(random: Random, most: int = 9) -> Graph | None:
    """The graph of a random space with a moderate number of switches."""
    for _ in range(5):
        space, diagnostics = check(RuledSpace(random).text())
        if not diagnostics:
            break
    else:
        return None
    found = space.networks[0].graph()
    return found if 0 < len(found.switches) <= most else None


SPACES = st.randoms(use_true_random=False).map(random_space)


@settings(max_examples=100, deadline=None)
@given(found=SPACES)
def test_all_networks_of_random_spaces(found: Graph | None) -> None:
    assume(found is not None)
    assert found is not None
    expected = pruned(found)
    told = networks(found)
    assert told.exact
    assert told.count == len(expected)
    space = Networks(found)
    if not space.may_misfit:
        listed = list(space.all())
        assert len(set(listed)) == len(listed), "every number is another network"
        assert set(listed) == expected


@pytest.mark.parametrize(
    ("space", "network", "count"),
    [
        ("nasbench201", "search", 9_444),
        ("nasbench101", "search", 1_824_025),  # also counted by going through all sets of nine edges or fewer
        ("quickstart", "digits", 15_674_895),
        ("densenet", "search", 2**45),
        ("lenet5", "lenet5", 1),
    ],
)
def test_shipped_spaces(space: str, network: str, count: int) -> None:
    told = networks(shipped(space, network))
    assert (told.count, told.exact) == (count, True)


def test_what_cannot_be_enumerated_has_a_bound() -> None:
    found = shipped("darts", "search")
    told = networks(found)
    assert not told.exact
    assert told.count <= switches(found).settings == 2**196


def test_a_chain_of_exactly_one() -> None:
    layers = " > ".join(["choose exactly 1 { conv(3, 1), conv(3, 3), relu }"] * 8)
    found = graph(body(f"x -> out : {layers}"))
    assert switches(found).settings == networks(found).count == 6_561


def test_stages_that_share_their_choice() -> None:
    """As in MnasNet: all blocks of a stage have the operation that is chosen for it, so 5^3 networks, not 5^9."""
    text = """
    motif block(k) { in x  x -> out : conv(k = k) > bn  x -> out }
    motif stage { in x  let k = choose { 1, 3, 5, 7, 9 }  x -> out : block(k) * 3 }
    network n : image(2, 8, 8) -> classes(2) { in x  x -> out : stage > stage > stage > global_avg_pool > linear(2) }
    """
    found = graph(text)
    assert switches(found).settings == networks(found).count == 125


def test_a_choice_inside_a_candidate_that_is_off_counts_once() -> None:
    inner = "(bn > choose exactly 1 { conv(3, 1), conv(3, 3), conv(3, 5) })"
    found = graph(body(f"x -> out : choose exactly 1 {{ {inner}, relu }}"))
    assert switches(found).settings == networks(found).count == 4
    found = graph(body(f"x -> out : choose {{ {inner}, relu }}"))
    assert switches(found).settings == 4 * 2
    assert networks(found).count == 4 * 2 - 1, "all off is not connected"


def test_shared_choices_in_several_candidates() -> None:
    cell = "cell c { in x x -> out : choose exactly 1 { conv(3, 1), conv(3, 3) } } "
    found = graph(cell + body("x -> out : choose exactly 1 { c > bn, c > relu, tanh }"))
    assert networks(found).count == 2 + 2 + 1
    assert switches(found).settings == 2 * 3, "counted as if it were in all of them"


def test_shapes_that_do_not_fit() -> None:
    halves = "node h[2] = x : optional conv(3, 1) node y = concat(h)"
    found = graph(body(f"{halves} sum(y, conv(6, 1)(x)) -> out : conv(3, 1)"))
    assert Networks(found).may_misfit
    assert networks(found).count == 2, "both or none of the two are left"


def required_space(random: Random) -> Graph | None:
    """A cell with few switches and many requirements, or None if they contradict each other."""
    kinds = (
        "choose 1 { relu, bn }",
        "optional relu",
        "optional relu",
        "optional identity",
        "tanh",
        "choose exactly 1 { relu, bn }",
    )
    ends = [("x", "h[0]"), ("y", "h[0]"), ("x", "h[1]"), ("h[0]", "h[1]"), ("y", "h[1]"), ("h[0]", "out"), ("x", "out")]
    edges = [*random.sample(ends, random.randint(4, 6)), ("h[1]", "out")]
    lines = [f"{source} -> {target} : {random.choice(kinds)}" for source, target in edges]
    for _ in range(random.randint(1, 3)):
        number, compare = random.randint(1, 3), random.choice(("==", "<=", ">="))
        (a, b), (c, d) = random.sample(edges, 2)
        rules = (
            f"require edges {compare} {number}",
            f"require inputs({random.choice(('h[0]', 'h[1]', 'out'))}) {compare} {number}",
            f"require edge({a}, {b}) implies edge({c}, {d})",
            f"require not edge({a}, {b}) or not edge({c}, {d})",
        )
        lines.append(random.choice(rules))
    uses = random.choice(("out c(x, x)", "node a = c(x, x) out c(a, x)", "x -> out : optional bn c(x, x) -> out"))
    space, diagnostics = check(f"cell c {{ in x, y node h[2] {' '.join(lines)} }} {body(uses)}")
    found = None if diagnostics else space.networks[0].graph()
    return found if found is not None and found.constraints and len(found.switches) <= 8 else None


def test_requirements_are_met() -> None:
    spaces = [found for seed in range(400) if (found := required_space(Random(seed))) is not None]
    assert len(spaces) > 30
    for found in spaces[:30]:
        assert set(Networks(found).all()) == pruned(found)


def test_two_inputs_for_every_node() -> None:
    text = "node h[3] for j in 0..3 { x, y, h[0..j] -> h[j] : choose exactly 1 { relu, tanh, bn } } out sum(h)"
    cell = f"cell c {{ in x, y {text} }} "
    fixed = graph(cell + body("node a = c(x, x) out c(x, a)"))
    assert networks(fixed).count == 3**9
    edges = text.replace("exactly 1", "1").replace("}} out", "} } out")
    free = graph(cell.replace(text, edges.replace("bn } }", "bn } require inputs(h[j]) == 2 }")) + body("out c(x, x)"))
    assert networks(free).count == 3**6 * 1 * 3 * 6


def test_two_inputs_per_node_of_darts() -> None:
    """As the paper counts, with seven operations: about 10^9 cells of each kind."""
    text = (ROOT / "spaces" / "darts.nas").read_text()
    for stride in ("1", "2"):
        text = text.replace(f"choose candidates({stride}, affine)\n", f"choose 1 candidates({stride}, affine)\n")
    rule = "        require inputs(h[j]) == 2\n    }\n    out concat(h)"
    space, _ = check(text.replace("    }\n    out concat(h)", rule))
    found = space.networks[0].graph()
    assert (networks(found).count, networks(found).exact) == ((1 * 3 * 6 * 10 * 7**8) ** 2, True)


def test_a_long_chain_is_exact() -> None:
    step = "h[i] -> h[i + 1] : choose { conv(3, 3), conv(3, 1), relu }"
    text = f"node h[301] x -> h[0] for i in 0..300 {{ {step} }} out h[300]"
    told = networks(graph(body(text)))
    assert (told.count, told.exact) == (7**300, True)
