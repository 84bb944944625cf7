"""Rules that select switches, and their errors."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesnas_graph import passes
from bayesnas_graph.bayes import Decision, Why
from bayesnas_graph.derive import Rule, as_text, derive, explained
from bayesnas_graph.derive import given as given_switches
from bayesnas_graph.derive.derived import kept_groups
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes import verify
from bayesnas_graph.passes.analysis import cost
from tests.helpers import body, graph

CELL = """
cell block(w) {
    in a, b
    node h[3]
    a, b -> h[0] : choose { conv(w), tanh, max_pool(3) }
    a, b, h[0] -> h[1] : choose { conv(w), tanh, max_pool(3) }
    a, b, h[0..2] -> h[2] : choose { conv(w), tanh, max_pool(3) }
    out concat(h)
}
network net : image(4, 8, 8) -> classes(10) {
    in x
    node y = block(4)(x, x)
    node z = block(12)(y, y)
    z -> out : global_avg_pool > linear(10)
}
"""


def switched(text: str) -> Graph:
    return passes.run(graph(text), passes.SWITCHES)


def decided(space: Graph, worth: dict[str, float] | None = None, off: frozenset[str] = frozenset()) -> Decision:
    """A decision that keeps all switches but some, with scores."""
    groups = {gate.group for gate in space.gates}
    decision = given_switches(space, groups - off)
    verdicts = (replace(v, relevance=(worth or {}).get(v.name, 0.0), gamma=0.5) for v in decision.verdicts)
    return replace(decision, verdicts=tuple(verdicts))


def ranks(space: Graph, seed: int = 0) -> dict[str, float]:
    groups = sorted({gate.group for gate in space.gates})
    return {group: float((17 * i + seed) % 101) for i, group in enumerate(groups)}


def edges_of(kept: frozenset[str]) -> dict[str, list[str]]:
    """The kept candidates of every edge of the cell: `block:h.1.a.tanh` is a candidate of `h.1.a`."""
    found: dict[str, list[str]] = {}
    for name in sorted(kept):
        place, _, candidate = name.removeprefix("block:").rpartition(".")
        if candidate != "zero":
            found.setdefault(place, []).append(candidate)
    return found


@given(count=st.integers(1, 3), seed=st.integers(0, 50))
def test_so_many_of_every_edge(count: int, seed: int) -> None:
    space = switched(CELL)
    worth = ranks(space, seed)
    kept = kept_groups(derive(space, decided(space, worth), Rule(per_edge=count)))
    for place, candidates in edges_of(kept).items():
        assert len(candidates) == count
        others = {"conv", "tanh", "max_pool"} - set(candidates)
        assert all(worth[f"block:{place}.{o}"] <= worth[f"block:{place}.{c}"] for o in others for c in candidates)


@given(count=st.integers(1, 3), seed=st.integers(0, 50))
def test_so_many_into_every_node(count: int, seed: int) -> None:
    space = switched(CELL)
    worth = ranks(space, seed)
    derived = derive(space, decided(space, worth), Rule(per_node=count))
    edges = edges_of(kept_groups(derived))
    for node, inputs in (("h.0", 2), ("h.1", 3), ("h.2", 4)):
        mine = [place for place in edges if place.startswith(f"{node}.")]
        assert len(mine) == min(count, inputs)
        strength = {
            edge: max(worth[f"block:{edge}.{candidate}"] for candidate in ("conv", "tanh", "max_pool"))
            for edge in {v.name.removeprefix("block:").rpartition(".")[0] for v in derived.decision.verdicts}
            if edge.startswith(f"{node}.")
        }
        weakest = min(strength[edge] for edge in mine)
        assert all(strength[edge] <= weakest for edge in strength if edge not in mine)
    assert all(len(candidates) == 1 for candidates in edges.values())


def test_the_rule_of_darts_on_closed_switches() -> None:
    """A switch closed by the search may be the best on its edge."""
    space = switched(CELL)
    off = frozenset(gate.group for gate in space.gates if gate.group.endswith(("tanh", "conv")))
    worth = dict.fromkeys(off, 5.0)
    derived = derive(space, decided(space, worth, off), Rule(per_edge=1))
    reasons = {verdict.name: verdict.why for verdict in derived.decision.verdicts}
    assert reasons["block:h.0.a.conv"] == Why.BEST
    assert reasons["block:h.0.a.max_pool"] == Why.LIMIT


@settings(max_examples=20)
@given(share=st.floats(0.1, 1.0), seed=st.integers(0, 50))
def test_a_budget_is_kept_to_and_filled(share: float, seed: int) -> None:
    space = switched(CELL)
    most = int(share * cost(space).parameters)
    worth = ranks(space, seed)
    least = cost(derive(space, decided(space, worth), Rule(per_node=1)).graph).parameters
    if most < least:
        return
    derived = derive(space, decided(space, worth), Rule(params=most))
    assert cost(derived.graph).parameters <= most
    kept = kept_groups(derived)
    for verdict in derived.decision.verdicts:
        if verdict.why == Why.SIZE:
            larger = passes.prune(space, {g.group for g in space.gates} - kept - {verdict.name})
            grown = cost(larger).parameters
            assert grown > most or verdict.name not in {gate.group for gate in larger.gates}, verdict.name


def test_a_budget_that_nothing_fits() -> None:
    space = switched(CELL)
    with pytest.raises(NasError) as error:
        derive(space, decided(space), Rule(params=10))
    assert [d.code for d in error.value.diagnostics] == ["NAS614"]


@pytest.mark.parametrize("rank", ["gamma", "relevance", "removal"])
def test_rankings(rank: str) -> None:
    space = switched(body("x -> out : choose { tanh, relu, swish }"))
    decision = decided(space)
    best = {"gamma": "tanh", "relevance": "relu", "removal": "swish"}

    def is_best(ranking: str, name: str) -> float:
        return float(name.endswith(best[ranking]))

    verdicts = (
        replace(
            v,
            gamma=is_best("gamma", v.name),
            relevance=is_best("relevance", v.name),
            removal=is_best("removal", v.name),
        )
        for v in decision.verdicts
    )
    derived = derive(space, replace(decision, verdicts=tuple(verdicts)), Rule(per_edge=1, rank=rank))  # type: ignore[arg-type]
    (kept,) = (name for name in kept_groups(derived) if not name.endswith("zero"))
    assert kept.endswith(best[rank])


def test_nothing_is_left() -> None:
    space = switched(body("node y = x : choose { tanh, relu } y -> out : choose { swish, bn }"))
    off = frozenset(gate.group for gate in space.gates if gate.group.startswith("y"))
    with pytest.raises(NasError) as error:
        derive(space, decided(space, off=off))
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code == "NAS612"
    assert all(f"`n y: {operation}`" in diagnostic.message for operation in ("tanh", "relu"))
    assert diagnostic.primary is not None
    assert [label.span.text for label in (diagnostic.primary, *diagnostic.secondary)] == ["relu", "tanh"]
    assert "--keep-per-edge 1" in (diagnostic.help or "")


def test_what_is_left_does_not_fit() -> None:
    text = "node c : concat x -> c : optional tanh x -> c : relu node w = x : conv(6) c -> out w -> out"
    space = switched(body(text, "image(3, 8, 8) -> image(6, 8, 8)"))
    off = frozenset(gate.group for gate in space.gates)
    with pytest.raises(NasError) as error:
        derive(space, decided(space, off=off))
    assert [d.code for d in error.value.diagnostics] == ["NAS613"]


def test_dead_ends_are_dropped_and_told() -> None:
    space = switched(body("node y = x : choose { tanh, bn } y -> out : optional relu x -> out : swish"))
    (optional,) = {gate.group for gate in space.gates if gate.group.startswith("out")}
    derived = derive(space, decided(space, off=frozenset({optional})))
    verify(derived.graph)
    reasons = {verdict.name: verdict.why for verdict in derived.decision.verdicts}
    assert reasons["y.tanh"] == reasons["y.bn"] == Why.DEAD_END
    (line,) = explained(space, derived.decision)
    assert line.text.startswith("network n : image(3, 8, 8)")
    assert {why for why, _ in line.dropped} == {Why.DEAD_END, Why.LEFT_OUT}


def test_a_kept_switch_whose_name_ends_in_zero_is_listed() -> None:
    space = switched("motif nonzero { in x x -> out : relu > bn } " + body("x -> out : choose { tanh, nonzero }"))
    derived = derive(space, decided(space, off=frozenset({"choice.tanh"})))
    (line,) = explained(space, derived.decision)
    assert [verdict.name for verdict in line.kept] == ["choice.nonzero"]
    assert "  + n choice: nonzero  gamma 0.5" in list(as_text(space, [line]))


def test_candidates_on_lines_of_their_own_are_explained_there() -> None:
    space = switched(body("x -> out : choose {\n relu,\n tanh }"))
    lines = explained(space, decided(space, off=frozenset({"choice.tanh"})))
    assert [(line.number, line.text, len(line.kept)) for line in lines] == [(2, "relu,", 1), (3, "tanh } }", 0)]


def test_a_switch_that_was_not_searched() -> None:
    space, other = switched(body("x -> out : choose { tanh, relu }")), switched(body("x -> out : choose { tanh, bn }"))
    with pytest.raises(NasError) as error:
        derive(other, decided(space))
    assert [d.code for d in error.value.diagnostics] == ["NAS615"]
    assert "`n choice: bn`" in error.value.diagnostics[0].message


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (Rule(), "every switch with a positive entropy"),
        (Rule(per_edge=2), "2 candidates on every edge, by relevance"),
        (Rule(per_node=2, rank="gamma"), "2 edges into every node, 1 candidate on every edge, by gamma"),
        (Rule(params=20_000, flops=10), "at most 20,000 weights, at most 10 multiply-adds, by relevance"),
    ],
)
def test_rules_in_words(rule: Rule, said: str) -> None:
    assert str(rule) == said


# ----------------------------------------------------------------------------------- rules of the space


def refused(text: str, kept: set[str]) -> list[str]:
    space = graph(text)
    with pytest.raises(NasError) as error:
        derive(space, given_switches(space, kept))
    assert {diagnostic.code for diagnostic in error.value.diagnostics} == {"NAS623"}
    return [diagnostic.message for diagnostic in error.value.diagnostics]


def test_given_architectures_keep_as_many_candidates_as_they_may() -> None:
    text = body("x -> out x -> out : choose exactly 1 { relu, tanh } > choose 1 { bn, gelu }")
    all_on = set(graph(text).switches)
    assert refused(text, all_on) == [
        "`n out.choice <- x` keeps exactly 1 of its 2 candidates, but the architecture has `relu`, `tanh`",
        "`n out.choice_2 <- x` keeps at most 1 of its 2 candidates, but the architecture has `bn`, `gelu`",
    ]
    second = {group for group in all_on if "choice_2" in group}
    assert refused(text, {sorted(second)[0]}) == [
        "`n out.choice <- x` keeps exactly 1 of its 2 candidates, but the architecture has none"
    ]
    one = {sorted(all_on - second)[0]}
    assert derive(graph(text), given_switches(graph(text), one | {sorted(second)[0]})).decision.off
    assert derive(graph(text), given_switches(graph(text), one)).decision.off == frozenset(all_on), (
        "the rest is not used"
    )


def test_given_architectures_meet_requirements() -> None:
    text = body("node a = x : tanh node y x, a -> y : optional relu require inputs(y) == 1 y -> out x -> out")
    groups = sorted(graph(text).switches)
    assert refused(text, set(groups)) == ["the architecture breaks a requirement of `n`: inputs(y) == 1"]
    assert refused(text, set()) == ["the architecture breaks a requirement of `n`: inputs(y) == 1"]
    found = derive(graph(text), given_switches(graph(text), {groups[0]}))
    assert found.decision.off == {groups[1]}


def test_rules_of_derive_meet_requirements_too() -> None:
    text = body("node a = x : tanh node y x, a -> y : choose { relu, bn } require inputs(y) == 1 y -> out")
    space = graph(text)
    worth = {group: float(i) for i, group in enumerate(space.switches)}
    before = given_switches(space, worth)
    verdicts = tuple(replace(verdict, relevance=worth[verdict.name]) for verdict in before.verdicts)
    found = derive(space, replace(before, verdicts=verdicts), Rule(per_edge=1))
    assert [verdict.name for verdict in found.decision.verdicts if verdict.keep] == [list(worth)[-1]]
    assert Why.REQUIRED in {verdict.why for verdict in found.decision.verdicts}


def test_no_rule_keeps_more_candidates_than_a_choice_may() -> None:
    space = graph(body("x -> out x -> out : choose 1 { relu, bn } > choose exactly 2 { relu, tanh, gelu }"))
    before = given_switches(space, {next(iter(space.switches))})
    for count in (1, 2, 3):
        found = derive(space, before, Rule(per_edge=count))
        kept = [
            sum(v.keep for v in found.decision.verdicts if ("choice_2" in v.name) is second) for second in (False, True)
        ]
        assert kept == [1, 2]
