"""Programs that share weights compute what a program with tied weights computes, before and after every pass."""

from __future__ import annotations

from random import Random

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesnas_graph import passes
from bayesnas_graph.bayes import CrossEntropy, weight_curvature
from bayesnas_graph.codegen.emit import build, emit, transfer
from bayesnas_graph.codegen.supernet import ReferenceNetwork, Supernet
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.json import fingerprint, from_json, to_json
from bayesnas_graph.passes.analysis import cost, cuts
from bayesnas_graph.passes.analysis.prices import Measure, Prices
from tests.codegen.emit.test_emit import assert_same_function as assert_emitted_is_same
from tests.codegen.unparse.test_laws import assert_same as assert_unparsed_is_same
from tests.equivalence import assert_same_function
from tests.shared_weights import Tied, gradients, graph_of, shared_graphs, without_sharing

MEASURES: tuple[Measure, ...] = ("parameters", "flops")

SIAMESE = """
motif encoder(width) {
    in x
    x -> out : conv(width) > bn > relu
    x -> out : conv(width, 5)
}
network siamese : image(3, 8, 8), image(3, 8, 8) -> classes(4) {
    in a, b
    share tower = encoder(6) > max_pool(2, 2) > conv(6)
    node u = a : tower
    node v = b : tower
    concat(u, v) -> out : global_avg_pool > linear(4)
}
"""


@settings(max_examples=10)
@given(graph=shared_graphs())
def test_tied_weights_give_the_same_outputs_and_gradients(graph: Graph) -> None:
    torch.manual_seed(0)
    network = ReferenceNetwork(graph).double().eval()
    tied = Tied(graph, network)
    tied.network.eval()
    x = torch.randn(2, 3, 8, 8, dtype=torch.float64)
    (one,), (other,) = network(x), tied.network(x)
    torch.testing.assert_close(one, other)
    one.square().sum().backward()
    other.square().sum().backward()
    expected = tied.gradients()
    assert gradients(network).keys() == expected.keys()
    for name, gradient in gradients(network).items():
        torch.testing.assert_close(gradient, expected[name])


@settings(max_examples=10)
@given(graph=shared_graphs(), options=st.sampled_from([("before", "cpu"), ("after", "cuda")]))
def test_passes_keep_what_is_computed(graph: Graph, options: tuple[passes.ZeroSide, passes.DeviceKind]) -> None:
    after = graph
    for step in (*passes.SWITCHES, *passes.FASTER):
        after = step(after, passes.Options(zero=options[0], device=options[1], batch=1))
        passes.verify(after)
        assert_same_function(graph, after)
    assert_emitted_is_same(after)


@settings(max_examples=10)
@given(graph=shared_graphs(), seed=st.integers(0, 1000))
def test_what_is_left_of_them(graph: Graph, seed: int) -> None:
    random = Random(seed)
    off = [group for group in sorted(graph.switches) if random.random() < 0.4]
    on = graph.switches.keys() - set(off)
    try:
        pruned = passes.prune(graph, off)
    except (passes.Disconnected, passes.Misfit):
        assert [Prices(graph, measure).unruled(on) for measure in MEASURES] == [None, None]
        return
    assert [Prices(graph, measure).unruled(on) for measure in MEASURES] == [cost(pruned).parameters, cost(pruned).flops]
    fixed = passes.plain(pruned)
    passes.verify(fixed)
    assert_emitted_is_same(fixed)
    assert_unparsed_is_same(fixed)


@settings(max_examples=10)
@given(graph=shared_graphs())
def test_weights_move_between_programs(graph: Graph) -> None:
    whole = passes.run(graph, passes.SWITCHES)
    supernet = Supernet.of(whole)
    fixed = emit(passes.plain(whole))
    state = transfer(supernet.module.state_dict(), supernet.program, fixed, cuts(whole, whole))
    module = build(fixed)
    module.load_state_dict(state)
    x = torch.randn(2, 3, 8, 8)
    torch.testing.assert_close(module.eval()(x), supernet.module.eval()(x), rtol=1e-4, atol=1e-4)


@settings(max_examples=20)
@given(graph=shared_graphs())
def test_json(graph: Graph) -> None:
    assert from_json(to_json(graph), "graph.json") == graph
    assert fingerprint(from_json(to_json(graph), "graph.json")) == fingerprint(graph)
    assert fingerprint(without_sharing(graph)) != fingerprint(graph)


def test_a_siamese_network_reads_as_if_written_by_hand() -> None:
    text = emit(graph_of(SIAMESE)).text
    assert "self.tower = Tower()" in text
    assert "u = self.tower(x)" in text
    assert "v = self.tower(x2)" in text
    assert text.count("self.tower = ") == 1


def test_parameters_are_counted_once_and_multiply_adds_in_every_use() -> None:
    shared = graph_of(SIAMESE)
    own = without_sharing(shared)
    head = 4 * 12 + 4
    assert cost(own).parameters - head == 2 * (cost(shared).parameters - head)
    assert cost(own).flops == cost(shared).flops
    assert cost(shared).parameters == sum(p.numel() for p in build(emit(shared)).parameters())


def test_batch_norm_statistics_are_shared() -> None:
    """As in a module of torch that is used twice: each use updates them, in the order of the text."""
    module = build(emit(graph_of(SIAMESE))).train()
    a, b = torch.randn(4, 3, 8, 8), torch.randn(4, 3, 8, 8)
    module(a, b)
    norm = module.get_submodule("tower.encoder.out_x_bn")
    conv = module.get_submodule("tower.encoder.out_x_conv")
    means = [conv(x).mean((0, 2, 3)) for x in (a, b)]
    torch.testing.assert_close(norm.running_mean, 0.9 * (0.1 * means[0]) + 0.1 * means[1])
    assert norm.num_batches_tracked == 2


def test_equal_uses_of_equal_values_are_computed_once() -> None:
    graph = graph_of("network n : vector(4) -> classes(3) { in x share f = linear(3) f(x), f(x) -> out }")
    merged = passes.merge_common_subexpressions(graph)
    assert len(merged) == len(graph) - 1
    assert_same_function(graph, merged)


def test_the_curvature_of_shared_weights_is_the_sum_over_their_uses() -> None:
    torch.manual_seed(0)
    body = "in x share f = linear(4) node h = x : f > tanh h -> out : f > linear(3)"
    graph = graph_of(f"network n : vector(4) -> classes(3) {{ {body} }}")
    network = ReferenceNetwork(graph).double().eval()
    tied = Tied(graph, network)
    batches = [(torch.randn(5, 4, dtype=torch.float64), torch.randint(3, (5,)))]
    found = weight_curvature(network, batches, CrossEntropy())
    apart = weight_curvature(tied.network.eval(), batches, CrossEntropy())
    uses = [node.name for node in graph if node.weights == "f"]
    assert len(uses) == 2
    for name in ("weight", "bias"):
        expected = apart[uses[0]][name] + apart[uses[1]][name]
        torch.testing.assert_close(found[uses[0]][name], expected)
        torch.testing.assert_close(found[uses[1]][name], expected)
