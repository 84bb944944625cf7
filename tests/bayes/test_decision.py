"""Decisions: their verdicts, their reasons and their JSON form."""

from __future__ import annotations

import json
from math import inf

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from torch import Tensor

from bayesnas_graph import passes
from bayesnas_graph.bayes import LARGEST, Decision, State, Switches, Why, decide, keep, one_hop, update, whole_path
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.prune import Disconnected, Misfit, prune
from tests.bayes.numbers import DTYPES, cell_used
from tests.bayes.test_dependency import WHERE, both_places, from_text
from tests.helpers import body, graph
from tests.programs import programs


def decided(made: Graph, off: str = "", nothing_said: str = "", whole: bool = False) -> Decision:
    """The decision with some gates at zero and others without curvature; names without dots."""
    switches = Switches.of(made)
    names = [name.replace(".", "_") for name in switches.gates]
    assert {*off.split(), *nothing_said.split()} <= set(names), names
    w = torch.tensor([float(name not in off.split()) for name in names])
    h = torch.tensor([float(name not in nothing_said.split()) for name in names])
    form = whole_path if whole else one_hop
    state = update(switches, State.start(switches, torch.float32).gamma, h, w, switches.by_kind(1, 1), form)
    return decide(made, switches, state, h, w)


def reasons(decision: Decision) -> dict[str, Why]:
    return {verdict.name.replace(".", "_"): verdict.why for verdict in decision.verdicts}


# ----------------------------------------------------------------------------------------- by hand

CHAIN = "node y = x : choose { relu, tanh } node z = y : choose { relu, tanh } z -> out x -> out"


def test_own_switch() -> None:
    made = graph(body(CHAIN))
    decision = decided(made, "y_relu")
    assert reasons(decision) == {"y_relu": Why.OWN, "y_tanh": Why.KEPT, "z_relu": Why.KEPT, "z_tanh": Why.KEPT}
    assert decision.off == {"y.relu"}
    assert not decision.lost


@pytest.mark.parametrize("whole", [False, True])
def test_nothing_before(whole: bool) -> None:
    text = (
        "node y = x : choose { relu, tanh } node z = y : choose { relu } node v = z : choose { tanh } v -> out x -> out"
    )
    found = reasons(decided(graph(body(text)), "y_relu y_tanh", whole=whole))
    # With one hop gamma does not see two choices ahead, but nothing arrives there all the same.
    assert found == {"y_relu": Why.OWN, "y_tanh": Why.OWN, "z_relu": Why.BEFORE, "v_tanh": Why.BEFORE}


@pytest.mark.parametrize("where", WHERE)
def test_zero_switch(where: str) -> None:
    made = passes.insert_zero_identity(graph(body(CHAIN)), passes.Options(zero=where))  # type: ignore[arg-type]
    found = reasons(decided(made, "z_zero"))
    assert found["z_zero"] == Why.OWN
    assert found["z_relu"] == found["z_tanh"] == Why.ZERO
    assert found["y_relu"] == found["y_tanh"] == found["y_zero"] == Why.DEAD_END
    found = reasons(decided(made, "y_zero z_relu"))
    assert found["y_relu"] == found["y_tanh"] == Why.ZERO
    assert found["z_relu"] == Why.OWN
    assert found["z_tanh"] == found["z_zero"] == Why.BEFORE


@pytest.mark.parametrize("where", WHERE)
def test_zero_switch_around_a_choice_in_a_choice(where: str) -> None:
    text = "node y = x : choose { choose { relu, gelu } > bn, tanh } y -> out x -> out"
    found = reasons(decided(passes.insert_zero_identity(graph(body(text)), passes.Options(zero=where)), "y_zero"))  # type: ignore[arg-type]
    assert found.pop("y_zero") == Why.OWN
    assert set(found.values()) == {Why.ZERO}


def test_dead_end() -> None:
    decision = decided(graph(body(CHAIN)), "z_relu z_tanh")
    found = reasons(decision)
    assert found["y_relu"] == found["y_tanh"] == Why.DEAD_END
    assert all(verdict.gamma > 1 for verdict in decision.verdicts if verdict.why == Why.DEAD_END)


def test_undetermined_is_removed() -> None:
    decision = decided(graph(body(CHAIN)), nothing_said="y_relu")
    assert reasons(decision)["y_relu"] == Why.UNDETERMINED
    assert decision.off == {"y.relu"}
    assert decision.verdicts[0].gamma == pytest.approx(LARGEST)


def test_undetermined_is_needed_if_an_output_depends_on_it() -> None:
    made = graph(body("node y = x : choose { relu } node z = y : choose { relu, tanh } z -> out"))
    decision = decided(made, nothing_said="y_relu z_relu")
    assert reasons(decision) == {"y_relu": Why.NEEDED, "z_relu": Why.UNDETERMINED, "z_tanh": Why.KEPT}
    assert prune(made, decision.off).outputs == made.outputs
    every = decided(made, nothing_said="y_relu z_relu z_tanh")
    assert set(reasons(every).values()) == {Why.NEEDED}


def test_an_undetermined_zero_switch_takes_its_candidates_along() -> None:
    made = passes.insert_zero_identity(graph(body("x -> out x -> out : choose { relu, tanh }")))
    found = reasons(decided(made, nothing_said="out_x_zero"))
    assert found == {"out_x_relu": Why.ZERO, "out_x_tanh": Why.ZERO, "out_x_zero": Why.UNDETERMINED}


def test_a_switch_without_input() -> None:
    """A switch with no input has zero curvature, because the switches before it are off."""
    found = reasons(decided(graph(body(CHAIN)), off="y_relu y_tanh", nothing_said="z_relu z_tanh"))
    assert found["z_relu"] == found["z_tanh"] == Why.BEFORE


def test_a_graph_that_falls_apart() -> None:
    made = graph(body("node y = x : choose { relu, tanh } y -> out : choose { conv() }"))
    decision = decided(made, "y_relu y_tanh")
    assert (decision.lost, set(decision.cut)) == (made.outputs, {"y.relu", "y.tanh"})
    assert reasons(decision)["choice_conv"] == Why.BEFORE


def test_a_graph_that_no_longer_fits() -> None:
    text = "node a = x : choose { relu } node b = x : tanh concat(a, b) -> out node c = x : conv(6, 1) c -> out"
    made = graph(body(text, "image(3, 8, 8) -> image(6, 8, 8)"))
    decision = decided(made, "a_relu")
    assert decision.misfit is not None
    assert "sum" in decision.misfit or "shape" in decision.misfit
    assert decided(made, nothing_said="a_relu").misfit is None, "what is undetermined stays if it must"
    assert reasons(decided(made, nothing_said="a_relu")) == {"a_relu": Why.NEEDED}


def test_a_cell_is_decided_once() -> None:
    decision = decided(cell_used(2))
    (relu, *_) = decision.verdicts
    assert relu.gates == tuple(f"{prefix}.choice.relu" for prefix in ("c", "c_2"))
    assert (relu.w, relu.h) == ((1, 1), (1, 1))
    assert relu.omega == 1
    (place,) = relu.places
    assert (place.file, place.line) == ("test.nas", 1)
    assert place.end_column - place.column == len("relu"), "its candidate only"


# -------------------------------------------------------------------------------------------- laws


def random_state(switches: Switches, data: st.DataObject, dtype: torch.dtype) -> tuple[State, Tensor, Tensor]:
    count = len(switches.gates)
    values = st.lists(st.sampled_from([0.0, 1e-20, 0.05, 0.3, 1.0]), min_size=count, max_size=count)
    w, h = (torch.tensor(data.draw(values), dtype=dtype) for _ in range(2))
    form = data.draw(st.sampled_from([one_hop, whole_path]))
    return update(switches, State.start(switches, dtype).gamma, h, w, switches.by_kind(0.1, 0.1), form), h, w


@pytest.mark.parametrize("dtype", DTYPES)
def test_random_programs(dtype: torch.dtype) -> None:
    @settings(max_examples=30)
    @given(text=programs(fault=0), data=st.data())
    def obeyed(text: str, data: st.DataObject) -> None:
        for made in from_text(text):
            placed = data.draw(st.sampled_from(both_places(made)))
            switches = Switches.of(placed)
            state, h, w = random_state(switches, data, dtype)
            decision = decide(placed, switches, state, h, w)
            check(placed, switches, state, decision)
            written = json.dumps(decision.to_plain(), allow_nan=False)
            assert Decision.from_plain(json.loads(written)) == decision

    obeyed()


def check(made: Graph, switches: Switches, state: State, decision: Decision) -> None:
    assert tuple(verdict.name for verdict in decision.verdicts) == switches.groups
    on, alone = keep(state.gamma).tolist(), keep(state.s).tolist()
    undetermined = set(state.undetermined.tolist())
    for i, verdict in enumerate(decision.verdicts):
        assert (verdict.gamma, verdict.s, verdict.omega) == tuple(
            v[i].item() for v in (state.gamma, state.s, state.omega)
        )
        assert verdict.keep == (verdict.why in (Why.KEPT, Why.NEEDED))
        assert verdict.keep <= on[i], "nothing is kept that gamma says is off"
        assert (verdict.why == Why.OWN) == (not alone[i])
        assert (verdict.entropy is None) == (verdict.gamma == 0)
        if verdict.entropy is not None:
            assert (verdict.entropy > 1e-6) <= on[i] <= (verdict.entropy > -1e-6)
        if verdict.why in (Why.UNDETERMINED, Why.NEEDED):
            assert i in undetermined
        if verdict.why == Why.KEPT:
            assert i not in undetermined
    if decision.lost:
        with pytest.raises(Disconnected) as disconnected:
            prune(made, decision.off)
        assert disconnected.value.outputs == decision.lost
    elif decision.misfit:
        with pytest.raises(Misfit):
            prune(made, decision.off)
    else:
        left = prune(made, decision.off)
        assert {gate.group for gate in left.gates} == {verdict.name for verdict in decision.verdicts if verdict.keep}


# --------------------------------------------------------------------------------------- as documents


def test_infinities_are_not_written() -> None:
    switches = Switches.of(cell_used(1))
    w, h = torch.ones(4), torch.tensor([inf, 1.0, 0.0, 1.0])
    state = update(switches, torch.ones(4), h, w, torch.ones(4))
    decision = decide(cell_used(1), switches, state, h, w)
    json.dumps(decision.to_plain(), allow_nan=False)
    assert decision.verdicts[0].h[0] == torch.finfo(torch.float32).max


def test_invalid_decisions_are_rejected() -> None:
    plain = decided(cell_used(1)).to_plain()
    plain["verdicts"][0]["gamma"] = inf
    with pytest.raises(ValidationError):
        Decision.from_plain(plain)
    with pytest.raises(ValidationError):
        Decision.from_plain({"verdicts": [{"name": "a"}]})
