"""Gates with a common scale, and fixing that scale."""

from __future__ import annotations

from typing import Literal

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from bayesnas_graph import passes
from bayesnas_graph.bayes import Gauge, Switches, proximal_step, rescale
from bayesnas_graph.bayes.gauge import _places, common_scales
from bayesnas_graph.bayes.groups import group_norms
from bayesnas_graph.codegen.supernet import ReferenceNetwork
from bayesnas_graph.ir import Graph
from tests.bayes.numbers import DTYPES, cell_used, extreme, grouped_graphs, lonely, tensors
from tests.bayes.test_dependency import from_text
from tests.helpers import body, graph
from tests.programs import programs

Where = Literal["before", "after"]
TWO_EDGES = "node y = x : relu node h x -> h : choose { conv(), tanh } y -> h : choose { conv(), identity } "


def scales(statements: str, where: Where | None = None) -> list[set[str]]:
    made = graph(body(statements))
    found = common_scales(passes.insert_zero_identity(made, passes.Options(zero=where)) if where else made)
    return sorted(map(set, found), key=sorted)


# ------------------------------------------------------------------------------------------- places


@pytest.mark.parametrize("where", ["before", "after"])
def test_edges_into_one_node(where: Where) -> None:
    candidates = {"h.x.conv", "h.x.tanh", "h.y.conv", "h.y.identity"}
    assert scales(TWO_EDGES + "h -> out : bn") == [candidates]
    assert scales(TWO_EDGES + "h -> out : bn", where) == [candidates, {"h.x.zero", "h.y.zero"}]


@pytest.mark.parametrize("join", ["mean", "sum"])
def test_a_mean_has_a_common_scale_too(join: str) -> None:
    text = f"node h : {join} x -> h : choose {{ relu, tanh }} x -> h : optional bn h -> out"
    assert scales(text) == [{"h.x.relu", "h.x.tanh", "h.x_2"}]


@pytest.mark.parametrize("join", ["product", "concat"])
def test_other_joins_have_none(join: str) -> None:
    text = f"node a = x : choose {{ relu, tanh }} node b = x : choose {{ relu }} {join}(a, b) -> out : conv(3)"
    assert scales(text) == [{"a.relu", "a.tanh"}, {"b.relu"}]


def test_a_choice_by_itself_is_a_node() -> None:
    text = "node y = x : choose { relu, tanh } y -> out : bn"
    assert scales(text, "after") == [{"y.relu", "y.tanh"}, {"y.zero"}]
    assert scales("node y = x : choose { relu, tanh } > conv() y -> out : bn", "before") == [
        {"y.choice.relu", "y.choice.tanh"},
        {"y.choice.zero"},
    ]


def test_a_sum_that_others_read_too_is_a_node() -> None:
    text = "node h x -> h : choose { relu } x -> h : choose { tanh } h -> out : choose { conv() } "
    assert scales(text) == [{"choice.conv"}, {"h.x.relu", "h.x_2.tanh"}]
    text = "node h x -> h : choose { relu } x -> h : choose { tanh } h -> out x -> out : choose { conv() } "
    assert scales(text) == [{"h.x.relu", "h.x_2.tanh", "out.x.conv"}], "nothing else reads `h`: it is a part of `out`"
    assert scales(text + "h -> out : tanh") == [{"h.x.relu", "h.x_2.tanh"}], "now it is not, and `out` has a skip"


def test_a_node_with_a_skip_has_a_scale_of_its_own() -> None:
    assert [scales("x -> out x -> out : choose { conv(), tanh }", where) for where in (None, "before", "after")] == [
        []
    ] * 3


def test_gates_after_one_another() -> None:
    """Gates on every path have a common scale; gates on only some paths do not."""
    both = "x -> out : optional choose { relu, tanh } x -> out : optional choose { conv() }"
    assert scales(both, "after") == [
        {"out.x", "out.x_2"},
        {"out.x.choice.relu", "out.x.choice.tanh", "out.x_2.choice.conv"},
        {"out.x.choice.zero", "out.x_2.choice.zero"},
    ]
    one = "x -> out : optional relu x -> out : choose { conv(), tanh }"
    assert scales(one, "after") == [{"out.x", "out.x_2.zero"}]


def test_every_use_of_a_cell_by_itself() -> None:
    found = common_scales(cell_used(3))
    assert sorted(map(len, found)) == [1, 1, 1, 3, 3, 3]
    assert len({name for names in found for name in names}) == 12


def test_what_the_compiler_makes_of_a_graph_has_the_same_scales() -> None:
    made = graph(body(TWO_EDGES + "h -> out : bn"))
    small, large = passes.run(made, passes.SWITCHES), passes.run(made, (*passes.SWITCHES, *passes.FASTER))
    assert common_scales(small) == common_scales(large)


# ---------------------------------------------------------------------------------------- functions


def network(made: Graph) -> ReferenceNetwork:
    torch.manual_seed(0)
    net = ReferenceNetwork(made).double()
    with torch.no_grad():
        for gate in net.gates.values():
            gate.uniform_(0.2, 0.6)
    return net


def values(net: ReferenceNetwork, switches: Switches) -> Tensor:
    return torch.stack([net.gates[name.replace(".", "/")].detach() for name in switches.gates])


def assign(net: ReferenceNetwork, switches: Switches, w: Tensor) -> None:
    with torch.no_grad():
        for name, value in zip(switches.gates, w, strict=True):
            net.gates[name.replace(".", "/")].copy_(value)


@settings(max_examples=15)
@given(text=programs(fault=0), factor=st.sampled_from([0.5, 3.0]))
def test_a_set_times_a_factor_is_the_node_times_the_factor(text: str, factor: float) -> None:
    for made in from_text(text):
        placed = passes.insert_zero_identity(made)
        places = _places(placed)
        target = {edge.gate.name: edge.target for edge in placed.edges if edge.gate}
        for names in common_scales(placed)[:4]:
            (node,) = {places[target[name]][0] for name in names}
            net = network(placed.replace(list(placed), placed.edges, [node])).eval()
            (shape,) = (node.shape for node in placed if node.op.is_input)
            x = torch.randn(1, *shape, dtype=torch.float64)
            (before,) = net(x)
            with torch.no_grad():
                for name in names:
                    net.gates[name.replace(".", "/")].mul_(factor)
            torch.testing.assert_close(net(x)[0], before * factor)


@pytest.mark.parametrize("r", [False, True])
def test_where_a_norm_follows_the_function_is_the_same(r: bool) -> None:
    text = (
        "node y = x : conv() > bn > relu node h y -> h : choose { conv(), identity } x -> h : choose { conv(), tanh }"
    )
    made = passes.insert_zero_identity(graph(body(text + " h -> out : bn > relu")))
    net, switches = network(made), Switches.of(made)
    x = torch.randn(8, 3, 8, 8, dtype=torch.float64)
    (before,) = net(x)
    w = values(net, switches)
    sizes = torch.rand(len(w), dtype=torch.float64) + 0.5 if r else None
    assign(net, switches, rescale(switches.gauge, w, sizes))
    assert (values(net, switches) > 1.2 * w).all(), "the gates have grown"
    torch.testing.assert_close(net(x)[0], before, rtol=1e-3, atol=1e-3)


def test_where_no_norm_follows_the_node_is_rescaled() -> None:
    made = graph(body("x -> out : choose { relu, tanh }"))
    net, switches = network(made), Switches.of(made)
    x = torch.randn(2, 3, 8, 8, dtype=torch.float64)
    (before,) = net(x)
    w = values(net, switches)
    assign(net, switches, rescale(switches.gauge, w))
    torch.testing.assert_close(net(x)[0], before * 2**0.5 / w.norm())


@pytest.mark.parametrize("fixed", [False, True])
def test_shrinking_is_competition(fixed: bool) -> None:
    """The loss does not depend on the scale of the gates, so the penalty alone would shrink useful gates too."""
    switches = Switches.of(lonely(3))
    useful = torch.tensor([1.0, 0.8, 0.0], dtype=torch.float64)
    w, ones = torch.ones(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)
    for _ in range(600):
        w.requires_grad_()
        loss = (w / (w.norm() + 1e-3) - useful / useful.norm()).square().sum()
        (slope,) = torch.autograd.grad(loss, w)
        w = proximal_step(switches, w.detach() - 0.1 * slope, ones, 0.02 * ones, rate=0.1)
        w = rescale(switches.gauge, w) if fixed else w
    assert w[2] == 0
    assert (w[:2] > 1).all() if fixed else (w[:2] < 0.4).all()


# ------------------------------------------------------------------------------------------ numbers


def sizes(gauge: Gauge, w: Tensor) -> Tensor:
    return group_norms(w[gauge.gates], gauge.sets, len(gauge.norms))


@pytest.mark.parametrize("dtype", DTYPES)
def test_laws(dtype: torch.dtype) -> None:
    @given(made=grouped_graphs(), data=st.data())
    def obeyed(made: Graph, data: st.DataObject) -> None:
        gauge, gates = Switches.of(made).gauge, len(Switches.of(made).gates)
        assert len(set(gauge.gates.tolist())) == len(gauge.gates), "a gate is in one set at most"
        w = data.draw(tensors(extreme, gates, dtype))
        given_w = w.clone()
        fixed = rescale(gauge, w)
        assert torch.equal(w, given_w), "what is given stays as it is"
        assert fixed.dtype == dtype
        assert fixed.isfinite().all()
        before, after = sizes(gauge, w), sizes(gauge, fixed)
        torch.testing.assert_close(after, torch.where(before > 0, gauge.norms.to(dtype), 0))
        assert (fixed[w == 0] == 0).all()
        torch.testing.assert_close(rescale(gauge, fixed), fixed, rtol=1e-5, atol=1e-30)
        others = torch.ones(gates, dtype=torch.bool).index_fill_(0, gauge.gates, False)
        assert torch.equal(fixed[others], w[others])

    obeyed()


def test_signs_and_ratios_stay() -> None:
    gauge = Switches.of(cell_used(1)).gauge
    fixed = rescale(gauge, torch.tensor([-1.0, 2.0, 0.0, -5.0]))
    torch.testing.assert_close(fixed, torch.tensor([-(0.6**0.5), 2 * 0.6**0.5, 0, -1]))
    assert rescale(gauge, torch.ones(4)).tolist() == pytest.approx([1] * 4), "gates as they start are left as they are"


def test_sizes_of_contributions() -> None:
    gauge = Switches.of(cell_used(1)).gauge
    r = torch.tensor([3.0, 0.5, 2.0, 7.0])
    fixed = rescale(gauge, torch.tensor([1.0, 2.0, 0.0, 1.0]), r)
    torch.testing.assert_close(sizes(gauge, fixed * r), gauge.norms.float())
    assert fixed[1] / fixed[0] == pytest.approx(2)
