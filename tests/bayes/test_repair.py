"""Repaired decisions are connected, within budget, and stable under a second repair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesnas_graph import passes
from bayesnas_graph.bayes import (
    Decision,
    Verdict,
    Why,
    close_dead_ends,
    enforce_limits,
    grow_to_fit,
    reconnect,
    shrink_to_fit,
)
from bayesnas_graph.ir import Graph
from bayesnas_graph.ir.ops import Choice
from bayesnas_graph.ir.ops.join import Concat
from bayesnas_graph.passes.analysis import choices, cost, violated
from bayesnas_graph.passes.prune import prune
from tests.bayes.test_dependency import from_text
from tests.conftest import LONG
from tests.helpers import body, graph
from tests.passes.analysis.test_dependency import random_graph
from tests.programs import programs

Scores = dict[str, float]


def decision(made: Graph, off: set[str]) -> Decision:
    """The decision of each switch by itself."""
    groups = dict.fromkeys(gate.group for gate in made.gates)
    return Decision(tuple(_verdict(name, Why.OWN if name in off else Why.KEPT) for name in groups))


def _verdict(name: str, why: Why) -> Verdict:
    return Verdict(name, why.keep, why, 1.0, 1.0, 1.0, None, (name,), (1.0,), (1.0,), ())


def kept(decision: Decision) -> set[str]:
    return {verdict.name for verdict in decision.verdicts if verdict.keep}


def reasons(decision: Decision) -> dict[str, Why]:
    return {verdict.name: verdict.why for verdict in decision.verdicts}


def too_many(made: Graph, decision: Decision) -> list[str]:
    """The choices that keep more candidates than allowed."""
    found = []
    for node in made:
        if isinstance(node.op, Choice) and node.op.limit is not None:
            groups = {edge.gate.group for edge in made.inputs(node.name) if edge.gate}
            found += [node.name] if len(groups & kept(decision)) > node.op.limit else []
    return found


def at_most(parameters: int) -> Callable[[Graph], bool]:
    return lambda made: cost(made).parameters <= parameters


def size_at_most(size: int) -> Callable[[Graph], bool]:
    return lambda made: len(list(made)) <= size


# ----------------------------------------------------------------------------------------- by hand


def test_the_best_switch_at_the_cut_is_reopened() -> None:
    made = graph(body("node y = x : choose { relu, tanh } y -> out : choose { relu, tanh, gelu }"))
    scores = {"y.relu": 1.0, "y.tanh": 2.0, "choice.relu": 9.0, "choice.tanh": 3.0, "choice.gelu": 1.0}
    found = reconnect(made, decision(made, set(scores)), scores)
    assert reasons(found) == {
        "y.relu": Why.OWN,
        "y.tanh": Why.BRIDGE,
        "choice.relu": Why.BRIDGE,
        "choice.tanh": Why.OWN,
        "choice.gelu": Why.OWN,
    }
    assert reconnect(made, decision(made, {"y.relu"}), scores) == decision(made, {"y.relu"}), "nothing is lost"


def test_what_does_not_fit_together_stays_open() -> None:
    joined = "node a = x : optional relu node b = x : optional tanh "
    made = graph(body(joined + "concat(a, b) -> out : conv(3)"))
    assert kept(reconnect(made, decision(made, {"a"}), {"a": 1, "b": 1})) == {"b"}, "a convolution takes any width"
    made = graph(body(joined + "concat(x, x) -> out concat(a, b) -> out", "image(3, 8, 8) -> image(6, 8, 8)"))
    assert reasons(reconnect(made, decision(made, {"a"}), {"a": 1, "b": 1})) == {"a": Why.BRIDGE, "b": Why.KEPT}


def test_a_choice_of_one() -> None:
    made = graph(body("node y = x : choose 1 { relu, tanh, gelu } y -> out x -> out"))
    scores = {"y.relu": 1.0, "y.tanh": 3.0, "y.gelu": 2.0}
    assert kept(enforce_limits(made, decision(made, set()), scores)) == {"y.tanh"}
    assert reasons(enforce_limits(made, decision(made, {"y.tanh"}), scores)) == {
        "y.relu": Why.LIMIT,
        "y.tanh": Why.OWN,
        "y.gelu": Why.KEPT,
    }


def test_a_choice_of_exactly_one_keeps_the_best() -> None:
    made = graph(body("node y = x : choose exactly 1 { relu, tanh, gelu } y -> out x -> out"))
    scores = {"y.relu": 1.0, "y.tanh": 3.0, "y.gelu": 2.0}
    found = reconnect(made, decision(made, set(scores)), scores)
    assert reasons(found) == {"y.relu": Why.OWN, "y.tanh": Why.LEAST, "y.gelu": Why.OWN}
    assert kept(enforce_limits(made, decision(made, set()), scores)) == {"y.tanh"}


def test_a_choice_inside_something_that_is_off_is_gone() -> None:
    made = graph(body("x -> out x -> out : optional (conv() > choose exactly 1 { relu, tanh })"))
    inner = {gate.group for gate in made.gates if gate.kind == "candidate"}
    (outer,) = {gate.group for gate in made.gates} - inner
    scores = dict.fromkeys([outer, *inner], 1.0)
    closed = decision(made, {outer, *inner})
    assert reconnect(made, closed, scores) == closed
    assert len(kept(reconnect(made, decision(made, inner), scores))) == 2, "the switch outside and one candidate"
    grown = grow_to_fit(made, closed, scores, size_at_most(100))
    assert len(kept(grown)) == 2, "room for the outer one is room for a candidate inside it"


@pytest.mark.parametrize(
    "chain",
    [
        "conv(6, c) > conv(u, c) > conv() > conv(3, 1)",
        "conv(2 * u, 1) > relu * (choose { 1, 2, 3 }) > conv(u, c) > conv(3, c)",
        "conv(u, c) > depthwise(c) > conv() > bn > conv(3, 1)",
    ],
)
def test_all_uses_of_a_number_get_the_same_one(chain: str) -> None:
    numbers = "let u = choose { 5, 4, 8 } let c = choose { 3, 1, 5 }"
    made = graph(body(f"{numbers} x -> out x -> out : optional ({chain})"))
    closed = {gate.group for gate in made.gates if gate.kind != "optional"}
    found = reconnect(made, decision(made, closed), dict.fromkeys(made.switches, 0.0))
    for choice in choices(made):
        assert len(kept(found).intersection(choice.candidates)) == 1


def test_a_smaller_candidate_takes_the_place_of_one_that_cannot_be_closed() -> None:
    made = graph(body("x -> out : choose exactly 1 { conv(k = 5), conv(), conv(k = 1) } > bn"))
    scores = {"choice.conv_5": 3.0, "choice.conv_3": 2.0, "choice.conv_1": 1.0}
    best = enforce_limits(made, decision(made, set()), scores)
    assert kept(best) == {"choice.conv_5"}
    for most, left in ((10_000, "conv_5"), (150, "conv_3"), (20, "conv_1"), (1, "conv_1")):
        found = shrink_to_fit(made, best, scores, at_most(most))
        assert kept(found) == {f"choice.{left}"}


def test_a_node_keeps_its_two_best_inputs() -> None:
    text = "node h[2] = x : relu node y x, h -> y : choose 1 { relu, tanh } require inputs(y) == 2 y -> out"
    made = graph(body(text))
    groups = list(made.switches)
    scores = {group: float(i) for i, group in enumerate(groups)}
    found = enforce_limits(made, decision(made, set()), scores)
    assert kept(found) == {group for group in groups if "tanh" in group} - {groups[1]}
    assert reasons(found)[groups[1]] == Why.REQUIRED
    few = reconnect(made, decision(made, set(groups)), scores)
    assert kept(few) == kept(found), "they are opened if all are off"
    assert set(reasons(few).values()) == {Why.OWN, Why.DEMANDED}


def test_what_a_limit_leaves_stranded_is_closed_too() -> None:
    text = "motif inner { in x x -> out : choose { relu, tanh } } "
    made = graph(text + body("x -> out : choose 1 { inner, gelu }"))
    scores = {gate.group: 1.0 for gate in made.gates} | {"choice.gelu": 2.0}
    found = enforce_limits(made, decision(made, set()), scores)
    assert kept(found) == {"choice.gelu"}
    assert sorted(reasons(found).values()) == sorted([Why.LIMIT, Why.KEPT, Why.DEAD_END, Why.DEAD_END])


def test_the_best_that_nothing_arrives_at_is_not_the_best() -> None:
    """Dead ends are ignored when an output is lost, so it is reconnected elsewhere."""
    made = graph(body("node a = x : optional relu x, a -> out : choose 1 { conv(), tanh }"))
    scores = {gate.group: 1.0 for gate in made.gates} | {"out.a.conv": 9.0}
    for off in ({"a"}, {"a", "out.x.conv", "out.x.tanh"}):
        found = enforce_limits(made, reconnect(made, decision(made, off), scores), scores)
        assert not too_many(made, found)
        prune(made, found.off)


def test_room_is_used_by_the_best() -> None:
    made = graph(body("x -> out x -> out : choose { conv(), conv(k = 5), tanh }"))
    scores = {"out.x.conv_3": 1.0, "out.x.conv_5": 3.0, "out.x.tanh": 2.0}
    closed = decision(made, set(scores))
    least = len(list(prune(made, closed.off)))
    found = [grow_to_fit(made, closed, scores, size_at_most(least + room)) for room in range(6)]
    assert kept(found[0]) == set()
    assert kept(found[-1]) == set(scores)
    opened = [kept(one) for one in found if len(kept(one)) == 1]
    assert all(one == {"out.x.conv_5"} for one in opened)
    assert {why for verdict, why in reasons(found[-1]).items()} == {Why.ROOM}


# ---------------------------------------------------------------------------------------- at random


def limited_and_shared(made: Graph, random: Random, sharing: float) -> Graph:
    """The same graph with limits on its choices and some shared switches."""
    names = list(dict.fromkeys(gate.name for gate in made.gates))
    groups = {name: f"g{random.randint(0, 4)}" if random.random() < sharing else name for name in names}
    nodes = [
        replace(node, op=Choice(limit=random.choice([None, 1, 1, 2]))) if isinstance(node.op, Choice) else node
        for node in made
    ]
    edges = [replace(e, gate=replace(e.gate, group=groups[e.gate.name])) if e.gate else e for e in made.edges]
    return made.replace(nodes, edges, made.outputs)


@st.composite
def cases(draw: st.DrawFn, sharing: float) -> tuple[Graph, Decision, Scores, Random]:
    random = draw(st.randoms(use_true_random=False))
    if draw(st.booleans()):
        made = random_graph(random)
        if any(isinstance(node.op, Concat) for node in made):  # whose shapes are not what they would be
            made = graph(body("x -> out : choose 1 { relu, tanh }"))
    else:
        found = from_text(draw(programs(fault=0)))
        made = next(iter(found), None) or graph(body("x -> out : choose 1 { relu, tanh }"))
    if draw(st.booleans()):
        made = passes.insert_zero_identity(made, passes.Options(zero=draw(st.sampled_from(["before", "after"]))))
    made = limited_and_shared(made, random, sharing) if sharing else made
    groups = list(dict.fromkeys(gate.group for gate in made.gates))
    off = {group for group in groups if random.random() < 0.6}
    return made, decision(made, off), {group: random.choice([0.0, random.random(), 1e300]) for group in groups}, random


def test_a_switch_that_another_allows_is_opened_after_it() -> None:
    """The best switch needs the other one, which is tried later."""
    edges = "node a = x : relu node b = x : tanh node y x, a, b -> y : optional bn"
    made = graph(body(f"{edges} require edge(a, y) implies edge(b, y) y -> out"))
    switches = {"y.x": 0.0, "y.a": 2.0, "y.b": 1.0}
    grown = grow_to_fit(made, decision(made, {"y.a", "y.b"}), switches, size_at_most(100))
    assert kept(grown) == set(switches)


@pytest.mark.parametrize("sharing", [0.0, 0.5])
def test_laws(sharing: float) -> None:
    @settings(max_examples=40 * LONG)
    @given(case=cases(sharing))
    def obeyed(case: tuple[Graph, Decision, Scores, Random]) -> None:
        made, raw, scores, random = case
        sound = reconnect(made, raw, scores)
        assert kept(raw) <= kept(sound), "it only opens"
        assert reconnect(made, sound, scores) == sound
        left = prune(made, sound.off)

        chosen = enforce_limits(made, sound, scores)
        assert made.constraints or kept(chosen) <= kept(sound), "it only closes"
        opened = {
            verdict.name: verdict.why for verdict in chosen.verdicts if verdict.name in kept(chosen) - kept(sound)
        }
        assert set(opened.values()) <= {Why.DEMANDED}, "or opens what is required"
        assert enforce_limits(made, chosen, scores) == chosen
        smaller = prune(made, chosen.off)
        assert {gate.group for gate in smaller.gates} == kept(chosen), "there are no dead ends"
        if not sharing:
            assert not too_many(made, chosen)
            assert not violated(made, chosen.off)
        assert close_dead_ends(made, chosen) == chosen

        most = random.randint(len(list(smaller)), len(list(made)))
        larger = grow_to_fit(made, chosen, scores, size_at_most(most))
        assert kept(chosen) <= kept(larger), "it only opens"
        assert set(violated(made, larger.off)) <= set(violated(made, chosen.off))
        assert len(list(prune(made, larger.off))) <= most
        assert len(too_many(made, larger)) <= len(too_many(made, chosen))
        assert {gate.group for gate in prune(made, larger.off).gates} == kept(larger)
        assert grow_to_fit(made, larger, scores, size_at_most(most)) == larger
        assert grow_to_fit(made, chosen, scores, size_at_most(0)) == chosen, "what is too large stays as it is"
        assert made.constraints or len(list(smaller)) <= len(list(left))
        for one in (sound, chosen, larger):
            assert all(verdict.keep == verdict.why.keep for verdict in one.verdicts)

    obeyed()
