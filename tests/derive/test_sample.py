"""Random architectures: uniform over all networks of small spaces, and always valid."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from math import sqrt
from pathlib import Path
from random import Random

import pytest

from bayesnas_graph.derive import sample as sampling
from bayesnas_graph.derive.sample import sample
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Network, load_network
from bayesnas_graph.passes.analysis import cost, draws
from bayesnas_graph.passes.analysis.draws import Draws
from bayesnas_graph.passes.analysis.networks import Networks
from bayesnas_graph.passes.prune import prune
from tests.helpers import body, check
from tests.passes.analysis.test_networks import pruned, random_space
from tests.passes.cases import shipped

COUNTING = import_module("bayesnas_graph.passes.analysis.networks")  # the package has a function of this name


def net(text: str) -> Network:
    space, diagnostics = check(text)
    assert not diagnostics
    return space.networks[0]


def small_spaces(count: int) -> list[tuple[Graph, set[frozenset[str]]]]:
    """Random spaces in which all shapes always match, with all their networks."""
    found = []
    for seed in range(1000):
        graph = random_space(Random(seed), most=7)
        if graph is None or Networks(graph).may_misfit:
            continue
        expected = pruned(graph)
        if 3 <= len(expected) <= 60:
            found.append((graph, expected))
        if len(found) == count:
            break
    return found


def assert_uniform(times: Counter[frozenset[str]], expected: set[frozenset[str]]) -> None:
    """Compare with the chi-square distribution: with fixed seeds, five standard deviations are no coincidence."""
    assert set(times) == expected
    mean = times.total() / len(expected)
    statistic = sum((times[on] - mean) ** 2 / mean for on in expected)
    freedom = len(expected) - 1
    assert statistic < freedom + 5 * sqrt(2 * freedom)


@pytest.mark.parametrize("way", ["by number", "by setting"])
def test_draws_are_uniform(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spaces = small_spaces(12)
    if way == "by setting":
        monkeypatch.setattr(COUNTING, "MOST_MEMORY", 0)
    for seed, (graph, expected) in enumerate(spaces):
        space = Networks(graph)
        assert space.is_enumerated == (way == "by number")
        drawing = Draws(space, Random(seed))
        times = Counter(drawing.draw() for _ in range(60 * len(expected)))
        assert None not in times
        assert_uniform(times, expected)  # type: ignore[arg-type]


# The second choice must keep a candidate where its value is used.
CHOICES = "x -> out : choose { conv(3, 1), conv(3, 3), conv(3, 5) } > choose exactly 1 { relu, conv(3, 3), bn }"


@pytest.mark.parametrize("way", ["by number", "by setting", "by chain"])
def test_all_are_found(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if way != "by number":
        monkeypatch.setattr(COUNTING, "MOST_MEMORY", 0)
    if way == "by chain":
        monkeypatch.setattr(draws, "MOST_SETTINGS", 0)
    found = sample(net(body(CHOICES)), 21, seed=3)
    assert len({one.switches for one in found}) == 21
    assert found.is_uniform == (way != "by chain")


def test_a_chain_is_nearly_uniform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(COUNTING, "MOST_MEMORY", 0)
    monkeypatch.setattr(draws, "MOST_SETTINGS", 0)
    found = sample(net(body(CHOICES)), 21 * 60, seed=3, with_replacement=True)
    assert not found.is_uniform
    times = Counter(frozenset(one.switches) for one in found)
    assert len(times) == 21
    assert_uniform(times, set(times))


def test_a_chain_where_choices_come_and_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """A choice that must keep a candidate has one only while the operation around it is on."""
    monkeypatch.setattr(COUNTING, "MOST_MEMORY", 0)
    monkeypatch.setattr(draws, "MOST_SETTINGS", 0)
    inner = "choose exactly 1 { conv(3, 1), conv(3, 3), conv(3, 5), conv(3, 7) }"
    network = net(body(f"x -> out : optional relu > {inner} x -> out : optional bn > {inner} x -> out"))
    found = sample(network, 25 * 60, seed=1, with_replacement=True)
    assert not found.is_uniform
    times = Counter(frozenset(one.switches) for one in found)
    assert len(times) == 25
    assert_uniform(times, set(times))


def test_more_than_there_are() -> None:
    found = sample(net(body("x -> out : choose 1 { relu, bn } > optional tanh x -> out")), 100)
    assert found.is_all
    assert len(found) == 3, "the chain is lost as a whole, and then no switch is on"


def test_what_is_required_holds() -> None:
    text = body(f"{CHOICES} require params < 300 require params >= 90")
    everything, some = sample(net(body(CHOICES)), 100), sample(net(text), 100)
    assert some.is_all
    within = {one.switches for one in everything if 90 <= one.parameters < 300}
    assert {one.switches for one in some} == within
    assert 0 < len(within) < len(everything)


def test_memory_is_that_of_the_pruned_network() -> None:
    network = net(body(CHOICES))
    graph = network.graph()
    for one in sample(network, 100):
        left = prune(
            graph, set(graph.switches) - {g for g, gate in graph.switches.items() if gate.text in one.switches}
        )
        assert (cost(left).parameters, cost(left).flops) == (one.parameters, one.flops)
    most = sorted(cost(prune(graph, set(graph.switches) - on)).memory(1) for on in Networks(graph).all())
    limited = net(body(f"{CHOICES} require memory <= {most[10]}"))
    assert len(sample(limited, 100)) == sum(memory <= most[10] for memory in most)


def test_rare_requirements_are_met_by_a_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    layers = " > ".join(["choose { conv(3, 1), conv(3, 3), conv(3, 5) }"] * 12)
    network = net(body(f"x -> out : {layers} require params <= {12 * 9 + 3 * 72}"))
    monkeypatch.setattr(sampling, "TRIES", 20)
    found = sample(network, 10)
    assert not found.is_uniform
    assert len(found) == 10
    assert all(one.parameters <= 12 * 9 + 3 * 72 for one in found)


def test_nothing_meets_the_requirement() -> None:
    with pytest.raises(NasError, match=r"NAS705: no architecture of network `n` with `params < 5` was found") as error:
        sample(net(body("x -> out : choose { conv(3, 1), conv(3, 3) } require params < 5")), 3)
    assert "has 9 parameters" in (error.value.diagnostics[0].help or "")


def test_a_seed_draws_the_same_again() -> None:
    network = load_network(Path("quickstart"), None, {}).network
    one, again, other = sample(network, 5, seed=1), sample(network, 5, seed=1), sample(network, 5, seed=2)
    assert one == again != other


@pytest.mark.parametrize("space", ["nasbench201", "darts"])
def test_strings(space: str) -> None:
    """NAS-Bench-201 has a string for every network, DARTS only for those with two edges into each node."""
    network = load_network(Path(space), None, {}).network
    strings = [one.string for one in sample(network, 3)]
    assert all(strings) if space == "nasbench201" else not any(strings)
    assert network.graph() == shipped(space, "search")
