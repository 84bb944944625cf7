"""Estimators of curvature against autograd and against each other, in float64."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from torch import Tensor

from bayesnas_graph import passes
from bayesnas_graph.bayes import Estimator, curvature
from bayesnas_graph.bayes.losses import CrossEntropy, SquaredError
from bayesnas_graph.codegen.supernet import Supernet
from tests.helpers import body, graph

CELL = """
cell c {
    in x
    node p = x : conv(4, 1) > bn
    node h[2]
    let options = { relu > conv(4) > bn(false), depthwise(3, dilation = 2) > bn(false), max_pool(3), identity }
    for j in 0..2 { p, h[0..j] -> h[j] : choose options }
    out concat(h)
}
"""
NETWORK = CELL + body("x -> out : c > c > global_avg_pool > linear(5)", "image(3, 8, 8) -> classes(5)")
CLASSES = CrossEntropy()
FORMS = list(product(["before", "after"], [False, True]))


def supernet(text: str = NETWORK, *, zero: str = "after", fuse: bool = True, seed: int = 0) -> Supernet:
    """A network in float64 with random gates and norm statistics."""
    torch.manual_seed(seed)
    net = Supernet.of(passes.insert_zero_identity(graph(text), passes.Options(zero=zero)), batch=1, fuse=fuse)  # type: ignore[arg-type]
    net.module.double()
    net.set_gates(torch.rand(len(net.names), dtype=torch.float64) + 0.5)
    with torch.no_grad():
        net.module(data(16)[0])
    return net


def data(count: int = 6, seed: int = 1) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(count, 3, 8, 8, generator=generator, dtype=torch.float64)
    return x, torch.randint(5, (count,), generator=generator)


def test_gates_are_set_and_read() -> None:
    net = supernet()
    values = torch.arange(len(net.names), dtype=torch.float64)
    net.set_gates(values)
    torch.testing.assert_close(net.gates, values)
    slot = net.program.gates[net.names[5]]
    assert net.module.get_parameter(slot.path)[slot.index] == 5
    torch.testing.assert_close(net.reference().gate(net.names[5]).double(), torch.tensor(5.0, dtype=torch.float64))


@pytest.mark.parametrize(("zero", "fuse"), FORMS)
def test_the_reference_computes_the_same(zero: str, fuse: bool) -> None:
    net = supernet(zero=zero, fuse=fuse)
    x, _ = data()
    with net.measuring() as module:
        (expected,) = net.reference().double().eval()(x)
        torch.testing.assert_close(module(x), expected)


@pytest.mark.parametrize(("zero", "fuse"), FORMS)
def test_exact_is_the_second_derivative(zero: str, fuse: bool) -> None:
    """Compared with finite differences of the gradient along single gates."""
    net = supernet(zero=zero, fuse=fuse)
    x, y = data()
    found = curvature(net, [(x, y)], CLASSES, "exact").h
    gates, step = net.gates, 1e-7  # so small that no ReLU changes its mind
    for i in range(0, len(gates), 5):
        slopes = []
        for sign in (1, -1):
            moved = gates.clone()
            moved[i] += sign * step
            net.set_gates(moved)
            with net.measuring() as module:
                parts = torch.autograd.grad(CLASSES(module(x), y), net.gate_parameters())
            slopes.append(net.in_order(list(parts))[i])
        torch.testing.assert_close(found[i], (slopes[0] - slopes[1]) / (2 * step), rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(("zero", "fuse"), FORMS)
def test_gauss_newton_is_exact_where_everything_is_piecewise_linear(zero: str, fuse: bool) -> None:
    net = supernet(zero=zero, fuse=fuse)
    batches = [data()]
    exact, ggn = (curvature(net, batches, CLASSES, name).h for name in ("exact", "ggn"))
    torch.testing.assert_close(ggn, exact, rtol=1e-8, atol=1e-12)


def test_gauss_newton_is_exact_for_one_gated_linear_layer() -> None:
    text = body("x -> out : choose { linear(5, false), linear(5) }", "vector(7) -> classes(5)")
    net = supernet_of_vectors(text)
    x, y = torch.randn(6, 7, dtype=torch.float64), torch.randint(5, (6,))
    exact, ggn = (curvature(net, [(x, y)], CLASSES, name).h for name in ("exact", "ggn"))
    torch.testing.assert_close(ggn, exact)


def supernet_of_vectors(text: str) -> Supernet:
    torch.manual_seed(0)
    net = Supernet.of(passes.insert_zero_identity(graph(text)), batch=1)
    net.module.double()
    net.set_gates(torch.rand(len(net.names), dtype=torch.float64) + 0.5)
    return net


def test_fisher_tends_to_gauss_newton() -> None:
    net = supernet()
    batches = [data()]
    ggn = curvature(net, batches, CLASSES, "ggn").h
    errors = []
    for samples in (4, 400):
        generator = torch.Generator().manual_seed(0)
        fisher = curvature(net, batches, CLASSES, "fisher", samples=samples, generator=generator).h
        errors.append(float((fisher - ggn).norm() / ggn.norm()))
    assert errors[1] < 0.15
    assert errors[1] < errors[0]


def test_empirical_is_the_mean_square_of_slopes() -> None:
    net = supernet()
    x, y = data()
    rows = []
    with net.measuring() as module:
        for i in range(len(x)):
            parts = torch.autograd.grad(CLASSES(module(x[i : i + 1]), y[i : i + 1]), net.gate_parameters())
            rows.append(net.in_order(list(parts)))
    found = curvature(net, [(x, y)], CLASSES, "empirical")
    torch.testing.assert_close(found.h, torch.stack(rows).square().mean(0))


def test_recursive_is_exact_for_diagonal_chains() -> None:
    text = body("x -> out : choose { linear(6) } > choose { linear(6) } > linear(6)", "vector(6) -> vector(6)")
    net = supernet_of_vectors(text)
    with torch.no_grad():
        for name, weight in net.module.named_parameters():
            if name.endswith("weight"):
                weight.copy_(torch.diag(torch.rand(6) + 0.5))
    batches = [(torch.randn(5, 6, dtype=torch.float64), torch.randn(5, 6, dtype=torch.float64))]
    exact, found = (curvature(net, batches, SquaredError(), name).h for name in ("exact", "recursive"))
    torch.testing.assert_close(found, exact)


def test_recursive_with_smooth_activations() -> None:
    """With one value per layer the diagonal is complete, so the rule is exact, including second derivatives."""
    text = body("x -> out : choose { linear(1) } > tanh > linear(1) > swish", "vector(1) -> vector(1)")
    net = supernet_of_vectors(text)
    batches = [(torch.randn(5, 1, dtype=torch.float64), torch.randn(5, 1, dtype=torch.float64))]
    exact, found = (curvature(net, batches, SquaredError(), name).h for name in ("exact", "recursive"))
    torch.testing.assert_close(found, exact)


@pytest.mark.parametrize("zero", ["before", "after"])
def test_recursive_gives_a_number_for_every_gate(zero: str) -> None:
    net = supernet(zero=zero)
    for name in ("recursive", "mean"):
        found = curvature(net, [data()], CLASSES, name)
        assert not found.infinite
        assert not found.negative
        assert (found.h > 0).sum() > len(found.h) / 2


def test_the_mean_variant_is_the_rule_for_one_sample_without_positions() -> None:
    text = body("x -> out : choose { linear(6), linear(6, false) } > relu > linear(5)", "vector(6) -> classes(5)")
    net = supernet_of_vectors(text)
    batches = [(torch.randn(1, 6, dtype=torch.float64), torch.tensor([2]))]
    found = [curvature(net, batches, CLASSES, name).h for name in ("recursive", "mean")]
    torch.testing.assert_close(found[0], found[1])


@pytest.mark.parametrize("name", ["exact", "ggn", "empirical", "recursive"])
def test_batches_do_not_matter(name: Estimator) -> None:
    net = supernet()
    x, y = data(6)
    whole = curvature(net, [(x, y)], CLASSES, name)
    parts = curvature(net, [(x[:2], y[:2]), (x[2:3], y[2:3]), (x[3:], y[3:])], CLASSES, name)
    torch.testing.assert_close(parts.h, whole.h)
    torch.testing.assert_close(parts.moments.squares, whole.moments.squares)
    torch.testing.assert_close(parts.moments.spreads, whole.moments.spreads)


def test_moments_are_seen_in_the_same_pass() -> None:
    net = supernet()
    found = [curvature(net, [data()], CLASSES, name).moments for name in ("fisher", "exact", "recursive")]
    for other in found[1:]:
        torch.testing.assert_close(found[0].squares, other.squares)
        torch.testing.assert_close(found[0].means, other.means)


def test_gates_that_the_data_say_nothing_about_are_named() -> None:
    net = supernet(body("x -> out : choose { conv(5), conv(5, 1) } > global_avg_pool", "image(3, 8, 8) -> classes(5)"))
    with torch.no_grad():
        for weight in net.module.parameters():
            if weight.ndim == 4 and weight.shape[-1] == 3:
                weight.zero_()
    for estimator in ("exact", "ggn", "fisher", "recursive", "mean"):
        found = curvature(net, [data()], CLASSES, estimator)
        assert len(found.undetermined) == 1, estimator
        assert "conv" in found.undetermined[0]


def test_infinities_are_named_and_nothing_is_nan_elsewhere() -> None:
    net = supernet(body("x -> out : choose { conv(5), conv(5, 1) } > global_avg_pool", "image(3, 8, 8) -> classes(5)"))
    x, y = data()
    for estimator in ("exact", "ggn", "fisher", "empirical", "recursive", "mean"):
        found = curvature(net, [(x * float("inf"), y)], CLASSES, estimator)
        assert set(found.infinite) == set(net.names)
        assert not found.h.isnan().any()


def test_negative_curvature_is_reported_by_name() -> None:
    """`tanh` is concave above zero, and a target far below makes the loss concave too."""
    net = supernet_of_vectors(body("x -> out : choose { linear(1) } > tanh", "vector(1) -> vector(1)"))
    with torch.no_grad():
        for parameter in net.module.parameters():
            parameter.fill_(0.5)
    batches = [(torch.ones(3, 1, dtype=torch.float64), torch.full((3, 1), -10.0, dtype=torch.float64))]
    for estimator in ("exact", "recursive"):
        assert set(curvature(net, batches, SquaredError(), estimator).negative) == set(net.names)
    assert not curvature(net, batches, SquaredError(), "ggn").negative


def test_gates_in_loops_are_watched() -> None:
    """Consecutive optional operations are emitted as a loop over gates."""
    text = "motif m { in x x -> out : optional conv(3) > relu x -> out }"
    text += body("x -> out : m > m > m > m > global_avg_pool > linear(5)", "image(3, 8, 8) -> classes(5)")
    net = supernet(text)
    assert "for " in net.program.text
    exact, ggn = (curvature(net, [data()], CLASSES, name) for name in ("exact", "ggn"))
    assert not ggn.undetermined
    torch.testing.assert_close(ggn.h, exact.h, rtol=1e-8, atol=1e-12)


def test_several_outputs_are_an_error() -> None:
    types = "image(3, 8, 8) -> image(3, 8, 8), image(3, 8, 8)"
    text = body("node y = x : choose { conv(3), relu } out y, x", types)
    with pytest.raises(ValueError, match="one output, got 2"):
        curvature(supernet(text), [data()], CLASSES)


def test_modules_that_are_at_rest_stay_so() -> None:
    net = supernet()
    norm = next(module for module in net.module.modules() if isinstance(module, torch.nn.BatchNorm2d))
    norm.eval()
    curvature(net, [data()], CLASSES)
    assert net.module.training
    assert not norm.training


def test_measuring_leaves_no_trace() -> None:
    net = supernet()
    net.module.train()
    before = {name: value.clone() for name, value in net.module.state_dict().items()}
    for name in ("exact", "ggn", "fisher", "empirical", "recursive", "mean"):
        curvature(net, [data()], CLASSES, name)
    assert net.module.training
    assert all(parameter.grad is None for parameter in net.module.parameters())
    torch.testing.assert_close(net.module.state_dict(), before)


def test_no_batches_is_an_error() -> None:
    with pytest.raises(ValueError, match="no batches"):
        curvature(supernet(), [], CLASSES)
