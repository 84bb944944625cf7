"""The rules of a space: which settings of its switches are architectures, against enumeration."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bayesnas_graph import passes
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes import Disconnected, Misfit, prune
from bayesnas_graph.passes.analysis import Rules, check_feasible, limits, obey, violated
from tests.bayes.test_dependency import from_text
from tests.helpers import body, graph
from tests.programs import programs_with_requirements


def subsets(made: Graph) -> Iterator[frozenset[str]]:
    groups = sorted(made.switches)
    yield from (frozenset(off) for size in range(len(groups) + 1) for off in combinations(groups, size))


def is_architecture(made: Graph, rules: Rules, off: frozenset[str]) -> bool:
    """Whether a setting is connected and obeys all rules and limits."""
    try:
        prune(made, off)
    except (Disconnected, Misfit):
        return False
    on = made.switches.keys() - off
    return not rules.violated(off) and not any(limit.exceeded(on) for limit in limits(made))


def networks(made: Graph) -> int:
    """The number of different networks: settings without dead ends."""
    rules = Rules(made)
    return sum(
        is_architecture(made, rules, off)
        and {gate.group for gate in prune(made, off).gates} == made.switches.keys() - off
        for off in subsets(made)
    )


@pytest.mark.parametrize(
    ("statements", "number"),
    [
        ("x -> out : choose exactly 1 { relu, tanh, gelu } > choose exactly 1 { relu, bn }", 3 * 2),
        ("x -> out : choose exactly 2 { relu, tanh, gelu, bn }", 6),
        ("x -> out x -> out : optional (conv() > choose exactly 1 { relu, tanh })", 1 + 2),
        ("x -> out : choose exactly 1 { choose exactly 1 { relu, tanh } > conv(), choose 1 { bn, gelu } }", 2 + 2),
        # Every node reads two of those before it.
        (
            "node h[3] node y = x : tanh "
            "for j in 0..3 { x, y, h[0..j] -> h[j] : optional relu require inputs(h[j]) == 2 } h -> out",
            1 * 3 * 6,
        ),
        (
            "node h x, x -> h : optional relu node g = x : tanh g -> h : optional relu require inputs(h) <= 2 h -> out",
            6,
        ),
        ("x -> out node h node g = x : tanh x, g -> h : optional relu require inputs(h) > 1 h -> out", 1),
        ("x -> out node h node g = x : tanh x, g -> h : optional relu h -> out : optional bn require inputs(h) > 1", 2),
    ],
)
def test_the_number_of_networks(statements: str, number: int) -> None:
    assert networks(graph(body(statements))) == number


def test_a_limit_on_edges() -> None:
    """All graphs of four vertices with at most four edges, in which each vertex leads from the first to the last."""
    cell = """
    node v[2] node last
    for j in 0..2 { x, v[0..j] -> v[j] : optional identity }
    x, v -> last : optional identity
    require edges <= 4
    last -> out
    """
    wanted = 0
    for edges in product([False, True], repeat=6):
        reads = {
            (0, 1): edges[0],
            (0, 2): edges[1],
            (1, 2): edges[2],
            (0, 3): edges[3],
            (1, 3): edges[4],
            (2, 3): edges[5],
        }
        used = {pair for pair, is_on in reads.items() if is_on}
        starts, ends = {source for source, _ in used}, {target for _, target in used}
        is_clean = all(v in starts and v in ends for v in (starts | ends) & {1, 2})
        wanted += bool(used) and is_clean and len(used) <= 4
    assert networks(graph(body(cell))) == wanted


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("edge(a, y) implies edge(b, y)", lambda a, b: not a or b),
        ("edge(a, y) or edge(b, y)", lambda a, b: a or b),
        ("not (edge(a, y) and edge(b, y))", lambda a, b: not (a and b)),
        ("not edge(a, y) or 1 > 2", lambda a, b: not a),
        ("edge(a, y) and edge(b, y)", lambda a, b: a and b),
        ("edge(a, y) and not edge(b, y) implies edge(b, y)", lambda a, b: not (a and not b)),
        ("not (edge(a, y) or edge(b, y) and edge(a, y))", lambda a, b: not a),
        ("edge(a, y) or not edge(a, y)", lambda a, b: True),
    ],
)
def test_conditions(condition: str, holds: object) -> None:
    text = f"node a = x : relu node b = x : tanh node y x -> y a, b -> y : optional bn require {condition} y -> out"
    made = graph(body(text))
    assert callable(holds)
    first, second = made.switches
    for off in subsets(made):
        assert (violated(made, off) == []) is holds(first not in off, second not in off)


def test_a_requirement_of_a_motif_that_is_off_holds() -> None:
    text = "motif m { in x node y node z = x : tanh x, z -> y : optional relu require edges > 1 y -> out } "
    made = graph(text + body("x -> out x -> out : optional m"))
    outer = next(group for group, gate in made.switches.items() if gate.part != "m")
    assert violated(made, made.switches.keys()) == []
    assert violated(made, made.switches.keys() - {outer}) == list(made.constraints)


@pytest.mark.parametrize("mode", ["written", "proxy", "proxyless"])
@pytest.mark.parametrize("zero", ["before", "after"])
def test_requirements_survive_the_switch_passes_and_pruning(mode: passes.Mode, zero: passes.ZeroSide) -> None:
    text = """
    cell pair {
        in x
        node y
        node z = x : tanh
        x, z -> y : choose 1 { relu, identity }
        x -> y : optional identity
        require inputs(y) == 2
        y -> out
    }
    """
    plain = graph(text + body("x -> out : pair > pair"))
    made = passes.run(plain, passes.SWITCHES, passes.Options(zero=zero, mode=mode))
    rules = Rules(made)
    assert rules.violated(frozenset()) != []
    random = Random(0)
    for _ in range(20):
        off = frozenset(group for group in made.switches if random.random() < 0.4)
        found = obey(rules, limits(made), off, {group: random.random() for group in made.switches})
        assert found is not None
        assert violated(made, found) == []
        left = prune(made, found)
        assert violated(left, ()) == []
        assert len(left.constraints) == 2
        assert all(len(left.inputs(name)) == 2 for name in ("pair.y", "pair_2.y"))


def test_what_cannot_be_met_is_reported() -> None:
    statements = "node a = x : relu node y x, a -> y : optional bn require edge(x, y) require inputs(y) == 1 "
    check_feasible(graph(body(statements + "y -> out")))
    with pytest.raises(NasError) as error:
        check_feasible(graph(body(statements + "require edge(a, y) y -> out")))
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code == "NAS308"
    assert diagnostic.primary is not None
    assert diagnostic.primary.span.text == "require edge(a, y)"


@settings(max_examples=40, deadline=None)
@given(text=programs_with_requirements(), random=st.randoms(use_true_random=False))
def test_an_architecture_is_found_wherever_there_is_one(text: str, random: Random) -> None:
    made = next(iter(from_text(text)), None)
    assume(made is not None and len(made.switches) <= 10)
    assert made is not None
    rules = Rules(made)
    assert rules
    off = frozenset(group for group in made.switches if random.random() < 0.5)
    scores = {group: random.random() for group in made.switches}
    within = [limit for limit in limits(made) if not limit.exceeded(made.switches.keys() - off)]
    found = obey(rules, limits(made), off, scores, lambda off: is_whole(made, off))
    exists = any(is_whole(made, off) and not rules.violated(off) for off in subsets(made))
    assert (found is not None) is exists
    if found is not None:
        assert is_whole(made, found)
        assert rules.violated(found) == []
        assert not any(limit.exceeded(made.switches.keys() - found) for limit in within)


def is_whole(made: Graph, off: frozenset[str]) -> bool:
    try:
        prune(made, off)
    except (Disconnected, Misfit):
        return False
    return True
