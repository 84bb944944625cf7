"""Pruning closed switches: what is removed, what stays, and what it computes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit import build, emit
from bayesnas_graph.codegen.emit.weights import narrowed
from bayesnas_graph.codegen.supernet import ReferenceNetwork
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.ir import Graph
from bayesnas_graph.ir.ops import Choice, Input
from bayesnas_graph.ir.ops.join import Concat, Mean
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.passes.analysis import cuts
from bayesnas_graph.passes.prune import Disconnected, Misfit, prune
from bayesnas_graph.passes.verify import verify
from bayesnas_graph.runtime import ClassToken, PositionEmbedding, Shift
from tests.conftest import LONG
from tests.helpers import body, graph
from tests.passes.cases import check_golden, golden, shipped
from tests.programs import programs


def pruned(statements: str, off: Iterable[str], types: str = "image(3, 8, 8) -> image(3, 8, 8)") -> Graph:
    found = prune(graph(body(statements, types)), set(off))
    verify(found)
    return found


def operations(found: Graph) -> list[str]:
    return [node.op.name for node in found if not isinstance(node.op, Input)]


def groups(found: Graph) -> list[str]:
    return sorted({gate.group for gate in found.gates})


# ---- by hand


@pytest.mark.parametrize("case", golden("prune"), ids=lambda path: path.stem)
def test_golden(case: Path, update_golden: bool) -> None:
    check_golden(case, lambda graph, settings: prune(graph, {settings["off"]}), update_golden, same=False)


def test_a_choice_keeps_the_others() -> None:
    found = pruned("x -> out : choose 2 { relu, tanh, swish }", ["choice.relu"])
    assert operations(found) == ["tanh", "swish", "choice"]
    assert groups(found) == ["choice.swish", "choice.tanh"]
    assert [edge.slot for edge in found.inputs("choice")] == [0, 1]


def test_a_choice_of_one_is_still_a_choice() -> None:
    found = pruned("x -> out : choose 2 { relu, tanh, swish }", ["choice.relu", "choice.tanh"])
    assert operations(found) == ["swish", "choice"]
    assert found["choice"].op == Choice(limit=2)
    assert groups(found) == ["choice.swish"]


def test_a_choice_of_nothing_is_gone_with_what_follows_it() -> None:
    text = "x -> out : relu > choose { swish, bn } > conv() > bn x -> out : tanh"
    found = pruned(text, ["out.x.choice.swish", "out.x.choice.bn"])
    assert operations(found) == ["tanh", "sum"]


@pytest.mark.parametrize("where", ["before", "after"])
def test_a_zero_switch_takes_all_candidates_along(where: str) -> None:
    text = body("node y = x : tanh y -> out : choose { conv(), relu, identity } x -> out : swish")
    found = passes.insert_zero_identity(graph(text), passes.Options(zero=where))  # type: ignore[arg-type]
    (zero,) = (group for group in groups(found) if group.endswith("zero"))
    left = prune(found, {zero})
    verify(left)
    assert operations(left) == ["swish", "sum"]
    assert groups(left) == []
    others = prune(found, set(groups(found)) - {zero})
    assert others == left, "closing all candidates is the same"


def test_an_optional_operation_around_a_choice() -> None:
    text = "x -> out : relu x -> out : optional (choose { conv(), bn } > tanh)"
    found = graph(body(text))
    (maybe,) = (group for group in groups(found) if "choice" not in group)
    assert operations(pruned(text, [maybe])) == ["relu", "sum"]
    assert operations(pruned(text, set(groups(found)) - {maybe})) == ["relu", "sum"]


def test_choices_within_choices() -> None:
    text = "motif two { in x x -> out : choose { conv(), bn } > tanh }" + body("x -> out : choose { two, relu }")
    found = graph(text)
    inner = {group for group in groups(found) if group.count("choice") > 1}
    assert len(inner) == 2
    left = prune(found, inner)
    assert operations(left) == ["relu", "choice"]
    assert groups(left) == ["choice.relu"], "the switch of a removed operation is removed too"


def test_a_product_needs_all_its_inputs() -> None:
    text = "node p : product x -> p : choose { relu, tanh } x -> p : sigmoid x -> out p -> out : swish"
    both = [group for group in groups(graph(body(text))) if group.startswith("p.")]
    assert len(both) == 2
    assert operations(pruned(text, both[:1])) == ["tanh", "choice", "sigmoid", "product", "swish", "sum"]
    assert operations(pruned(text, both)) == ["sum"]


def test_a_scale_needs_both_inputs() -> None:
    text = "node f = x : optional global_avg_pool node y = scale(x, f) x -> out y -> out"
    assert operations(pruned(text, ["f"])) == ["sum"]


def test_a_narrower_concat_makes_what_follows_narrower() -> None:
    text = "node h[3] = x : optional conv(4) concat(h) -> out : conv(k = 1) > bn > conv(3, 1)"
    whole = graph(body(text))
    assert [node.shape[0] for node in whole if node.op.name in ("concat", "conv", "bn")][3:] == [12, 12, 12, 3]
    left = pruned(text, ["h.1"])
    assert [node.shape[0] for node in left if node.op.name in ("concat", "conv", "bn")][2:] == [8, 8, 8, 3]
    assert [edge.source for edge in left.inputs("concat")] == ["h.0", "h.2"]
    assert [edge.slot for edge in left.inputs("concat")] == [0, 1]


def test_a_mean_is_the_mean_of_what_is_left() -> None:
    left = pruned("node m : mean x -> m : optional relu x -> m : tanh m -> out", ["m.x"])
    x = torch.randn(2, 3, 8, 8)
    torch.testing.assert_close(ReferenceNetwork(left)(x)[0], torch.tanh(x))


def test_dead_ends_are_dropped_and_inputs_stay() -> None:
    types = "image(3, 8, 8), image(3, 8, 8) -> image(3, 8, 8)"
    text = f"network n : {types} {{ in x, z node y = z : conv() > bn x -> out y -> out : optional relu }}"
    (maybe,) = groups(graph(text))
    left = prune(graph(text), {maybe})
    verify(left)
    assert [node.name for node in left if isinstance(node.op, Input)] == ["x", "z"], "it is called as before"
    assert operations(left) == ["sum"]


def test_whole_cells_vanish() -> None:
    cell = "cell c { in x x -> out : relu > choose { conv(), bn } > tanh } "
    found = graph(cell + body("node a = x : c node b = a : c x -> out b -> out"))
    left = prune(found, {"c:choice.conv", "c:choice.bn"})
    verify(left)
    assert operations(left) == ["sum"]
    assert left.scopes == found.scopes
    one = prune(found, {"c:choice.conv"})
    assert operations(one) == ["relu", "bn", "choice", "tanh"] * 2 + ["sum"], "one switch for both uses"


def test_pruned_spaces_can_be_emitted() -> None:
    found = passes.run(shipped("quickstart", "digits"), (*passes.SWITCHES, *passes.FASTER))
    off = {group for group in groups(found) if "identity" not in group and not group.endswith("zero")}
    left = prune(found, off)
    verify(left)
    assert build(emit(left))(torch.randn(2, 1, 8, 8)).shape == (2, 10)


# ---- what cannot be pruned


def test_a_lost_output_is_reported_with_the_cut() -> None:
    text = "node y = x : choose { relu, tanh } node z = y : conv() > optional bn z -> out y -> out : optional swish"
    found = graph(body(text))
    with pytest.raises(Disconnected) as caught:
        prune(found, groups(found))
    assert caught.value.outputs == found.outputs
    assert caught.value.cut == ("y.relu", "y.tanh"), "what lies behind them is closed, but nothing arrives there"
    with pytest.raises(Disconnected) as caught:
        prune(found, [group for group in groups(found) if not group.startswith("y.")])
    assert len(caught.value.cut) == 2


def test_only_the_lost_output_of_two_is_reported() -> None:
    types = "image(3, 8, 8) -> image(3, 8, 8), image(3, 8, 8)"
    found = graph(f"network n : {types} {{ in x node a = x : optional relu node b = x : tanh > optional bn out b, a }}")
    with pytest.raises(Disconnected, match="nothing reaches a with a closed") as caught:
        prune(found, {"a"})
    assert (caught.value.outputs, caught.value.cut) == (("a",), ("a",))


def test_one_missing_input_of_a_product_is_reported() -> None:
    found = graph(body("node p : product x -> p : optional relu x -> p : optional tanh p -> out"))
    with pytest.raises(Disconnected) as caught:
        prune(found, groups(found))
    assert len(caught.value.cut) == 1


@pytest.mark.parametrize(
    ("statements", "node", "reason"),
    [
        (
            "node h[2] = x : optional conv(3) node y = concat(h) sum(y, conv(6)(x)) -> out : conv(3)",
            "sum",
            "the same shape",
        ),
        ("node h[2] = x : optional conv(3) concat(h) -> out : conv(4, groups = 2) > conv(3)", "conv", "2 groups"),
        ("node h[3] = x : optional conv(1) out concat(h)", "concat", "an output of 3x8x8 has become 2x8x8"),
    ],
)
def test_values_that_cannot_be_narrowed_are_reported(statements: str, node: str, reason: str) -> None:
    found = graph(body(statements))
    with pytest.raises(Misfit, match=reason) as caught:
        prune(found, {"h.0"})
    assert caught.value.node == node
    (narrower,) = caught.value.narrower
    assert isinstance(found[narrower].op, Concat)


# ---- on random graphs

SEEDS = st.integers(0, 2**32 - 1)


def random_graph(text: str, seed: int) -> Graph:
    """The network of a random program with switches, after the passes or before them.

    In half of them the ways to the outputs have switches too, so that they can be lost.
    """
    random = Random(seed)
    if random.random() < 0.5:
        text = text.replace("-> out :", "-> out : optional")
    networks = Checker(Report()).text(Source("t", text)).networks
    assume(networks)
    found = networks[0].graph()
    assume(found.gates)
    everything = (*passes.SWITCHES, *passes.FASTER)
    order, zero = random.choice((((), "after"), (everything, "after"), (everything, "before")))
    return passes.run(found, order, passes.Options(zero=zero))  # type: ignore[arg-type]


def random_off(found: Graph, seed: int) -> set[str]:
    random = Random(seed)
    share = random.choice((0.1, 0.3, 0.6))
    return {group for group in groups(found) if random.random() < share}


def try_prune(found: Graph, off: set[str]) -> Graph | None:
    """The pruned graph, or None if there is none, which is verified."""
    try:
        return prune(found, off)
    except Disconnected as error:
        lost, cut = set(error.outputs), set(error.cut)
    except Misfit as error:
        return None if error.narrower else pytest.fail("nothing is narrower")
    assert cut <= off
    with pytest.raises(Disconnected) as caught:
        prune(found, cut)
    assert set(caught.value.outputs) == lost, "the cut alone loses the same outputs"
    return None


@given(text=programs(fault=0), seed=SEEDS)
def test_random_graphs(text: str, seed: int) -> None:
    found = random_graph(text, seed)
    assert prune(found, ()) == found
    off = random_off(found, seed)
    left = try_prune(found, off)
    if left is None:
        return
    verify(left)
    assert prune(left, off) == left, "done twice is done once"
    assert not off & set(groups(left))
    assert [left[name].shape for name in left.outputs] == [found[name].shape for name in found.outputs]
    fed: set[str] = set()
    for node in left:
        assert isinstance(node.op, Input) or fed.intersection(edge.source for edge in left.inputs(node.name))
        fed.add(node.name)


@settings(max_examples=20 * LONG)
@given(text=programs(fault=0), seed=SEEDS)
def test_one_after_another_is_all_at_once(text: str, seed: int) -> None:
    found = random_graph(text, seed)
    off = sorted(random_off(found, seed))
    at_once = try_prune(found, set(off))
    assume(at_once is not None)
    step = found
    for group in off:
        try:
            step = prune(step, {group})
        except Misfit:
            return  # what is dropped later may not fit now
    assert step == at_once


@settings(max_examples=40)
@given(text=programs(fault=0), seed=SEEDS)
def test_the_function_is_that_of_closed_gates(text: str, seed: int) -> None:
    """In float64, without biases and running means, so that zero stays zero; other weights are random."""
    for word, other in (("hard_sigmoid", "tanh"), ("softmax", "tanh"), ("difference", "product")):
        text = text.replace(word, other)  # operations that make something of nothing
    found = random_graph(text, seed)
    off = random_off(found, seed)
    left = try_prune(found, off)
    assume(left is not None and off)
    assert left is not None
    whole = {node.name: len(found.inputs(node.name)) for node in left if isinstance(node.op, Concat | Mean)}
    assume(all(len(left.inputs(name)) == count for name, count in whole.items()))
    assert_same_function(found, left, off, seed)


def test_the_function_of_a_shipped_space() -> None:
    found = passes.run(shipped("nasbench201", "search"), (*passes.SWITCHES, *passes.FASTER))
    off = {group for group in groups(found) if "nor_conv_3" in group or "avg_pool" in group}
    assert_same_function(found, prune(found, off), off, 0)


def assert_same_function(found: Graph, left: Graph, off: set[str], seed: int) -> None:
    torch.manual_seed(seed)
    before, after = (ReferenceNetwork(one).double().eval() for one in (found, left))
    closed = {gate.name.replace(".", "/") for gate in found.gates if gate.group in off}
    with torch.no_grad():
        for name, gate in before.gates.items():
            gate.copy_(torch.tensor(0.0) if name in closed else torch.rand(()) + 0.5)
        for name, weight in before.weights.named_parameters():
            weight.zero_() if name.endswith("bias") else weight.copy_(torch.randn_like(weight) / 2)
        for learned in before.weights.values():
            if isinstance(learned, Shift | PositionEmbedding | ClassToken):
                learned.weight.zero_()  # a bias too: nothing becomes something
        for name, buffer in before.named_buffers():
            if name.endswith("running_var"):
                buffer.uniform_(0.5, 2)
    tensors = {node.name: m.state_dict() for node in found if (m := before.module(node.name)) is not None}
    remaining = narrowed(tensors, cuts(found, left))
    for node in left:
        if (module := after.module(node.name)) is not None:
            module.load_state_dict(remaining[node.name])
    for name, gate in after.gates.items():
        gate.data.copy_(before.gates[name])
    inputs = [torch.randn(2, *node.shape, dtype=torch.float64) for node in found if isinstance(node.op, Input)]
    torch.testing.assert_close(after(*inputs), before(*inputs))
