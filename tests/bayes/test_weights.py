"""Curvature of weights against second derivatives from autograd, in float64."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from bayesnas_graph import passes
from bayesnas_graph.bayes import CrossEntropy, Loss, SquaredError, weight_curvature
from bayesnas_graph.bayes.walk import Walk
from bayesnas_graph.codegen.supernet import ReferenceNetwork
from bayesnas_graph.ir import Shape
from tests.helpers import body, graph
from tests.passes.cases import shipped

CLASSES, SQUARES = CrossEntropy(), SquaredError()
Found = dict[str, dict[str, Tensor]]
Batch = tuple[Tensor, Tensor]

IMAGES = "image(2, 4, 4) -> vector(5)"
CONV = body("x -> out : conv(6, 4, padding = 0, bias = true) > bn > relu > flatten > linear(5)", IMAGES)
# Each output sees one place of one channel, so that a weight meets each of them on one path.
SHARED = body("x -> out : conv(2, 2, 2, padding = 0) > bn > relu > flatten > linear(8)", "image(2, 4, 4) -> vector(8)")
GATED = body("x -> out : choose { linear(6), linear(6, false) } > relu > linear(5)", "vector(7) -> vector(5)")


def network(text: str, *, zero: bool = False) -> ReferenceNetwork:
    """A network in float64 with distinct weights, statistics and gates."""
    torch.manual_seed(0)
    made = graph(text)
    found = ReferenceNetwork(passes.insert_zero_identity(made) if zero else made).double()
    for name, values in found.state_dict().items():
        if values.is_floating_point() and ("running" in name or "gates" in name):
            values.uniform_(0.5, 2)
    return found


def batch(net: ReferenceNetwork, count: int = 6, seed: int = 1) -> Batch:
    """Samples with labels, or with target values if the network has no classes."""
    first, *_ = net.graph
    (output,) = (net.graph[name] for name in net.graph.outputs)
    generator = torch.Generator().manual_seed(seed)

    def normal(shape: Shape) -> Tensor:
        return torch.randn(count, *shape, generator=generator, dtype=torch.float64)

    return normal(first.shape), normal(output.shape)


def labelled(count: int, classes: int, shape: Shape) -> Batch:
    generator = torch.Generator().manual_seed(2)
    x = torch.randn(count, *shape, generator=generator, dtype=torch.float64)
    return x, torch.randint(classes, (count,), generator=generator)


def exact(net: ReferenceNetwork, given: Batch, loss: Loss) -> Found:
    """The second derivative, one weight at a time."""
    x, targets = given
    net.eval()
    found: Found = {}
    for node in net.graph:
        module = net.module(node.name)
        for name, parameter in module.named_parameters() if module else ():
            value = loss(net(x)[0], targets)
            (slope,) = torch.autograd.grad(value, parameter, create_graph=True)
            rows = [
                torch.autograd.grad(one, parameter, retain_graph=True, materialize_grads=True)[0].flatten()[i]
                for i, one in enumerate(slope.flatten())
            ]
            found.setdefault(node.name, {})[name] = torch.stack(rows).reshape(parameter.shape)
    return found


def diagonal(net: ReferenceNetwork) -> None:
    with torch.no_grad():
        weight = net.get_parameter("weights.linear.weight")
        weight.copy_(torch.diag(torch.rand(len(weight)) + 0.5))


def test_a_single_linear_layer() -> None:
    net = network(body("x -> out : linear(5)", "vector(7) -> classes(5)"))
    given = labelled(6, 5, (7,))
    assert_close(weight_curvature(net, [given], CLASSES), exact(net, given, CLASSES))
    assert set(weight_curvature(net, [given], CLASSES)["linear"]) == {"weight", "bias"}


@pytest.mark.parametrize(
    ("text", "prepare"),
    [(CONV, None), (SHARED, diagonal), (GATED, None)],
    ids=["conv", "shared", "gated"],
)
@pytest.mark.parametrize("zero", [False, True])
def test_piecewise_linear_networks_with_one_path_per_weight(
    text: str, prepare: Callable[[ReferenceNetwork], None] | None, zero: bool
) -> None:
    net = network(text, zero=zero)
    if prepare:
        prepare(net)
    given = batch(net)
    found = weight_curvature(net, [given], SQUARES)
    assert_close(found, exact(net, given, SQUARES))
    assert list(found) == [node.name for node in net.graph if not node.op.pure]
    assert all((h >= 0).all() and h.any() for held in found.values() for h in held.values())


def test_smooth_activations_may_curve_downwards() -> None:
    """With one value per layer the diagonal is complete; a target far above makes some of it negative."""
    net = network(body("x -> out : linear(1) > tanh > linear(1) > swish", "vector(1) -> vector(1)"))
    x, _ = batch(net)
    given = x.abs(), torch.full((len(x), 1), 10.0, dtype=torch.float64)
    found = weight_curvature(net, [given], SQUARES)
    assert_close(found, exact(net, given, SQUARES))
    assert min(float(h.min()) for held in found.values() for h in held.values()) < 0


def test_neither_the_size_nor_the_order_of_batches_matters() -> None:
    net = network(CONV)
    x, y = batch(net)
    parts = [(x[:1], y[:1]), (x[1:5], y[1:5]), (x[5:], y[5:])]
    whole = weight_curvature(net, [(x, y)], SQUARES)
    assert_close(weight_curvature(net, parts, SQUARES), whole)
    assert_close(weight_curvature(net, reversed(parts), SQUARES), whole)


def test_what_is_always_zero_has_no_curvature() -> None:
    net = network(body("x -> out : linear(6) > relu > linear(5)", "vector(7) -> classes(5)"))
    x, y = labelled(6, 5, (7,))
    x[:, 3] = 0
    weight = weight_curvature(net, [(x, y)], CLASSES)["linear"]["weight"]
    assert weight[:, 3].eq(0).all()
    assert weight[:, [0, 1, 2, 4, 5, 6]].any(0).all()


@pytest.mark.parametrize("name", ["lenet5", "lenet300", "resnet18_cifar"])
def test_every_weight_of_shipped_networks(name: str) -> None:
    torch.manual_seed(0)
    net = ReferenceNetwork(shipped(name, name.removesuffix("_cifar")))
    first, *_ = net.graph
    found = weight_curvature(net, [(torch.randn(2, *first.shape), torch.tensor([3, 7]))], CLASSES)
    modules = {node.name: net.module(node.name) for node in net.graph}
    shapes = {node: {key: p.shape for key, p in m.named_parameters()} for node, m in modules.items() if m}
    assert {node: {key: h.shape for key, h in held.items()} for node, held in found.items()} == shapes
    assert all(h.isfinite().all() and (h >= 0).all() for held in found.values() for h in held.values())


def test_measuring_leaves_no_trace() -> None:
    net = network(CONV).train()
    norm = next(module for module in net.modules() if isinstance(module, torch.nn.BatchNorm2d)).eval()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    with torch.no_grad():
        found = weight_curvature(net, [batch(net)], SQUARES)
    assert net.training
    assert not norm.training
    assert all(parameter.grad is None for parameter in net.parameters())
    assert not any(h.requires_grad for held in found.values() for h in held.values())
    assert_close(net.state_dict(), before, rtol=0, atol=0)


def test_values_are_freed_on_the_way() -> None:
    """Only the values of inputs remain."""
    net = network(CONV).eval()
    walk = Walk(net, SQUARES, *batch(net))
    seen: list[tuple[str, int]] = []
    walk.run(lambda visit: seen.append((visit.node.name, len(walk.values))))
    assert [name for name, _ in seen] == [node.name for node in reversed(list(net.graph))][:-1]
    assert [count for _, count in seen] == list(range(len(net.graph), 1, -1))
    assert list(walk.values) == [next(iter(net.graph)).name]


def test_what_cannot_be_measured() -> None:
    with pytest.raises(ValueError, match="no batches"):
        weight_curvature(network(CONV), [], SQUARES)
    two = network(body("node y = x : conv(3) out y, x", "image(3, 8, 8) -> image(3, 8, 8), image(3, 8, 8)"))
    with pytest.raises(ValueError, match="one output, got 2"):
        weight_curvature(two, [], SQUARES)
