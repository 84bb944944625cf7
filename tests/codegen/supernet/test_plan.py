"""What a network with open and closed gates has to compute."""

from __future__ import annotations

from collections.abc import Set

from bayesnas_graph import passes
from bayesnas_graph.codegen.supernet import Opened, Supernet
from bayesnas_graph.codegen.supernet.plan import Plan, Wires, plan
from tests.helpers import graph

TEXT = """
motif inner {
    in x
    x -> out : choose { conv(), tanh }
}

network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    node stem = x : relu
    node h = stem : choose { inner > sigmoid, conv(k = 5), gelu }
    node y = sum(h, stem)
    y -> out : swish
}
"""
NET = Supernet.with_options(passes.run(graph(TEXT), passes.SWITCHES), passes.Options(apart=True))
WIRES = Wires.of(NET.compiled, NET.names)
ALL = set(NET.names)
ZEROS = {gate.name for gate in NET.graph.gates if gate.is_zero}


def planned(opened: Set[str], wanted: Set[str] = frozenset()) -> Plan:
    assert opened | wanted <= ALL
    is_open = tuple(name in opened for name in NET.names)
    return plan(WIRES, Opened(is_open, tuple(name in wanted for name in NET.names)))


def ops(found: Plan) -> list[str]:
    """The operations to compute, without inputs and gated sums."""
    nodes = list(NET.compiled)
    ours = [nodes[step.node].op for step in found.steps]
    return sorted(op.name for op in ours if not op.is_input and not op.is_gated)


def gate(label: str) -> str:
    (name,) = {gate.name for gate in NET.graph.gates if gate.label == label}
    return name


def test_everything() -> None:
    found = planned(ALL)
    assert len(found.steps) == len(NET.compiled)
    assert not found.zeros
    assert not found.positions


def test_one_candidate() -> None:
    assert ops(planned({gate("gelu"), *ZEROS})) == ["gelu", "relu", "sum", "swish"]


def test_a_choice_within_a_candidate() -> None:
    assert ops(planned({gate("chain"), gate("tanh"), *ZEROS})) == ["relu", "sigmoid", "sum", "swish", "tanh"]
    assert ops(planned({gate("gelu"), gate("tanh"), *ZEROS})) == ["gelu", "relu", "sum", "swish"]


def test_no_candidate() -> None:
    """The sum leaves it out, and other operations read zeros."""
    for opened in (ZEROS, ALL - ZEROS):
        found = planned(opened)
        assert ops(found) == ["relu", "sum", "swish"]
        assert found.zeros
    empty = planned({gate("chain"), *ZEROS})
    assert ops(empty) == ["relu", "sigmoid", "sum", "swish"]


def test_closed_candidates_whose_slope_is_wanted() -> None:
    """They are computed without what flows back, and gates are multiplied with only where a slope is wanted."""
    found = planned({gate("gelu"), gate("tanh"), *ZEROS}, {gate("gelu"), gate("chain")})
    assert ops(found) == ["gelu", "relu", "sigmoid", "sum", "swish", "tanh"]
    nodes = list(NET.compiled)
    forward = {nodes[step.node].op.name for step in found.steps if step.is_forward}
    assert {"sigmoid", "tanh"} <= forward
    assert not {"gelu", "relu"} & forward
    assert [NET.names[position] for position in found.positions] == [gate("chain"), gate("gelu")]
    (weighed,) = [step for step in found.steps if step.gates]
    assert weighed.detached == (True, False)


def test_slopes_behind_a_closed_gate_are_not_computed() -> None:
    found = planned({gate("gelu"), *ZEROS}, {gate("gelu"), gate("tanh")})
    assert ops(found) == ["gelu", "relu", "sum", "swish"]
    assert [NET.names[position] for position in found.positions] == [gate("gelu")]


def test_values_are_released_after_their_last_use() -> None:
    found = planned(ALL)
    done = [node for step in found.steps for node in step.done]
    assert len(done) == len(set(done))
    assert set(done) == {step.node for step in found.steps} - set(WIRES.outputs)
