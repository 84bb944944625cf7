"""Index arrays of gates, groups and edges."""

from __future__ import annotations

import torch
from hypothesis import given

from bayesnas_graph import passes
from bayesnas_graph.bayes import Switches
from bayesnas_graph.ir import Graph
from bayesnas_graph.ir.ops import Zero
from tests.bayes.numbers import cell_used, grouped_graphs
from tests.helpers import body, graph


def test_uses_of_a_cell_are_one_group() -> None:
    switches = Switches.of(cell_used(2))
    assert switches.groups == ("c:choice.relu", "c:choice.tanh", "c:choice.conv", "c:choice.zero")
    assert [name.rpartition(".")[2] for name in switches.gates] == ["relu", "tanh", "conv", "zero"] * 2
    assert switches.group.tolist() == [0, 1, 2, 3, 0, 1, 2, 3]
    assert switches.members.tolist() == [2, 2, 2, 2]
    assert switches.is_zero.tolist() == [False, False, False, True]
    written = [["relu"], ["tanh"], ["conv()"], ["choose { relu, tanh, conv() }"]]
    assert [[span.text for span in spans] for spans in switches.spans] == written


def test_a_gate_on_two_edges_is_one_gate() -> None:
    text = "motif add { in a, b out sum(a, b) } motif multiply { in a, b out product(a, b) }" + body(
        "let pick = choose { add, multiply } node u = x : relu node v = x : tanh node y = pick(u, v) y -> out"
    )
    switches = Switches.of(passes.insert_zero_identity(graph(text), passes.Options(zero="before")))
    assert sorted(switches.gates) == ["y.add", "y.multiply", "y.zero"]
    assert len(switches.gate) == 4
    assert switches.members.tolist() == [1, 1, 1]


def test_intensities_by_kind() -> None:
    switches = Switches.of(cell_used(1))
    assert switches.by_kind(0.5, 0.25).tolist() == [0.5, 0.5, 0.5, 0.25]
    assert switches.by_kind(0.5, 0.25, torch.float32).dtype == torch.float32


def test_a_graph_without_switches() -> None:
    switches = Switches.of(graph(body("x -> out : relu")))
    assert (switches.gates, switches.groups, switches.spans) == ((), (), ())
    assert len(switches.group) == len(switches.gate) == len(switches.by_kind(1, 1)) == 0


@given(made=grouped_graphs())
def test_numbers_agree_with_the_graph(made: Graph) -> None:
    switches = Switches.of(made)
    edges = [edge for edge in made.edges if edge.gate]
    assert len(set(switches.gates)) == len(switches.gates)
    for edge, gate in zip(edges, switches.gate.tolist(), strict=True):
        assert edge.gate is not None
        group = switches.group[gate].item()
        assert (switches.gates[gate], switches.groups[int(group)]) == (edge.gate.name, edge.gate.group)
        if isinstance(made[edge.target].op, Zero):
            assert switches.is_zero[int(group)]
    assert switches.members.sum() == len(switches.gates)
    assert torch.equal(switches.structure.group, switches.group[switches.gate])


def test_switches_move() -> None:
    moved = Switches.of(cell_used(2)).to("meta")
    tensors = (moved.group, moved.members, moved.is_zero, moved.gate, moved.structure.group, moved.gauge.norms)
    assert {tensor.device.type for tensor in tensors} == {"meta"}
