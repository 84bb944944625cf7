"""Runtime functions equal the torch modules: outputs, gradients and state."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bayesnas_graph.runtime import (
    LightBatchNorm1d,
    LightBatchNorm2d,
    ReluConv2d,
    Watch,
    gated_sum,
    interleaved,
    light_max_pool2d,
    phases,
    subsampled,
    watched,
)

FORMATS = [torch.contiguous_format, torch.channels_last]


def image(*shape: int, form: torch.memory_format = torch.contiguous_format) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64).contiguous(memory_format=form).requires_grad_()


def gradients(output: Tensor, inputs: list[Tensor]) -> tuple[Tensor, ...]:
    weights = torch.linspace(-1, 1, output.numel(), dtype=output.dtype).view_as(output)
    return torch.autograd.grad((output * weights).sum(), inputs)


@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("count", [1, 2, 7])
def test_gated_sum(count: int, zero: bool) -> None:
    values = [image(2, 3, 2, 2) for _ in range(count)]
    gates = torch.rand(count + zero, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda w, *v: gated_sum(list(v), w), (gates, *values))
    assert torch.autograd.gradgradcheck(lambda w, *v: gated_sum(list(v), w), (gates, *values))
    expected = torch.stack([value * gate for value, gate in zip(values, gates[:count], strict=True)]).sum(0)
    torch.testing.assert_close(gated_sum(values, gates), expected * (gates[-1] if zero else 1))


@pytest.mark.parametrize("zero", [False, True])
def test_slopes_are_those_of_every_sample(zero: bool) -> None:
    """Against one backward pass per sample. Two sums share the tensor of gates, one gate is used in both."""
    values = [image(4, 3, 2, 2) for _ in range(3)]
    gates = torch.rand(6, dtype=torch.float64, requires_grad=True)

    def losses() -> Tensor:
        first = gated_sum(values[:2], gates[1 : 4 if zero else 3])
        second = gated_sum([first.tanh(), values[2], values[0]], gates[3:6])
        return gated_sum([second], gates[4:5]).square().flatten(1).sum(1)

    expected = [torch.autograd.grad(loss, gates)[0] for loss in (losses()[i] for i in range(4))]
    with watched(Watch()) as watch:
        total = losses().sum()
    assert watch.slopes(gates) is None, "before the backward pass"
    torch.autograd.backward([total])
    torch.testing.assert_close(watch.slopes(gates), torch.stack(expected))


def test_powers_are_mean_squares_of_what_gates_multiply() -> None:
    values = [image(4, 3, 2, 2) for _ in range(2)]
    gates = torch.tensor([0.5, 2.0, 3.0], dtype=torch.float64)
    with watched(Watch()) as watch:
        gated_sum(values, gates)
    expected = [values[0], values[1], 0.5 * values[0] + 2 * values[1]]
    torch.testing.assert_close(watch.powers(gates), torch.stack([v.square().mean() for v in expected]).detach())
    torch.testing.assert_close(watch.means(gates), [v.mean((0, 2, 3)).detach() for v in expected])
    assert Watch().powers(gates) is None
    assert torch.cat(Watch().means(gates)).tolist() == [0.0, 0.0, 0.0]


def test_gated_sum_asks_for_no_gradient_that_is_not_wanted() -> None:
    values = [torch.ones(2), torch.ones(2)]
    weights = torch.ones(2, requires_grad=True)
    torch.autograd.backward([gated_sum(values, weights).sum()])
    torch.testing.assert_close(weights.grad, torch.tensor([2.0, 2.0]))
    assert not gated_sum(values, weights.detach()).requires_grad


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("step", [1, 2, 3])
def test_phases_and_back(step: int, form: torch.memory_format) -> None:
    x = image(2, 3, 6, 12, form=form)
    apart = phases(x, step)
    assert apart.shape == (2 * step**2, 3, 6 // step, 12 // step)
    assert apart.is_contiguous(memory_format=form)
    assert interleaved(apart, step).is_contiguous(memory_format=form)
    torch.testing.assert_close(interleaved(apart, step), x)
    torch.testing.assert_close(apart[:2], subsampled(x, step))
    assert subsampled(x, step).is_contiguous(memory_format=form)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kernel", [3, 5])
@pytest.mark.parametrize("step", [2, 3])
def test_a_dilated_convolution_is_a_plain_one_of_the_phases(step: int, kernel: int, form: torch.memory_format) -> None:
    x, weight = image(2, 4, 12, 12, form=form), image(4, 1, kernel, kernel)
    direct = F.conv2d(x, weight, padding=step * (kernel // 2), dilation=step, groups=4)
    split = interleaved(F.conv2d(phases(x, step), weight, padding=kernel // 2, groups=4), step)
    torch.testing.assert_close(split, direct)
    torch.testing.assert_close(gradients(split, [x, weight]), gradients(direct, [x, weight]))


@pytest.mark.parametrize("form", FORMATS)
def test_light_norms(form: torch.memory_format) -> None:
    light, plain = LightBatchNorm2d(4, momentum=0.3).double(), nn.BatchNorm2d(4, momentum=0.3, affine=False).double()
    for training in (True, True, False):
        x = image(3, 4, 5, 5, form=form)
        outputs = [norm.train(training)(x) for norm in (light, plain)]
        torch.testing.assert_close(outputs[0], outputs[1])
        torch.testing.assert_close(gradients(outputs[0], [x]), gradients(outputs[1], [x]))
        torch.testing.assert_close(statistics(light), statistics(plain))


def test_light_norms_of_vectors() -> None:
    light, plain = LightBatchNorm1d(4).double(), nn.BatchNorm1d(4, affine=False).double()
    x = image(6, 4)
    outputs = [norm(x) for norm in (light, plain)]
    torch.testing.assert_close(outputs[0], outputs[1])
    torch.testing.assert_close(gradients(outputs[0], [x]), gradients(outputs[1], [x]))
    torch.testing.assert_close(statistics(light), statistics(plain))
    assert light.state_dict().keys() == plain.state_dict().keys()


def statistics(norm: nn.Module) -> dict[str, Tensor]:
    """The state of a norm without the number of batches, which light norms do not count."""
    return {name: value for name, value in norm.state_dict().items() if name != "num_batches_tracked"}


def test_light_norms_refuse_what_they_cannot_do() -> None:
    with pytest.raises(ValueError, match="more than one value"):
        LightBatchNorm2d(4)(torch.ones(1, 4, 1, 1))
    with pytest.raises(ValueError, match="expected 4D"):
        LightBatchNorm2d(4)(torch.ones(3, 4))
    x = image(3, 4, 5, 5)
    (first,) = torch.autograd.grad(LightBatchNorm2d(4).double()(x).pow(3).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        torch.autograd.backward([first.sum()])


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("settings", [(3, 1, 1, False), ((2, 3), (2, 1), (1, 0), False), (3, 2, 0, True)])
def test_light_maximum_pools(settings: tuple[Any, Any, Any, bool], form: torch.memory_format) -> None:
    kernel, stride, padding, ceil_mode = settings
    x = image(3, 4, 6, 6, form=form)
    light = light_max_pool2d(x, *settings)
    plain = F.max_pool2d(x, kernel, stride, padding, ceil_mode=ceil_mode)
    torch.testing.assert_close(light, plain, rtol=0, atol=0)
    torch.testing.assert_close(gradients(light, [x]), gradients(plain, [x]), rtol=0, atol=0)
    assert torch.autograd.gradgradcheck(lambda y: light_max_pool2d(y, *settings), x)


def test_a_light_maximum_pool_keeps_only_its_input() -> None:
    kept: list[Tensor] = []

    def keep(tensor: Tensor) -> Tensor:
        kept.append(tensor)
        return tensor

    x = image(3, 4, 6, 6)
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        light_max_pool2d(x, 3, 1, 1)
    assert [tensor.data_ptr() for tensor in kept] == [x.data_ptr()]


@pytest.mark.parametrize("bias", [False, True])
def test_the_convolution_of_a_relu(bias: bool) -> None:
    settings = {"kernel_size": 3, "stride": 2, "padding": 2, "dilation": 2, "groups": 2, "bias": bias}
    light = ReluConv2d(4, 6, **settings).double()  # type: ignore[arg-type]
    plain = nn.Conv2d(4, 6, **settings).double()  # type: ignore[arg-type]
    plain.load_state_dict(light.state_dict())
    x = image(2, 4, 9, 9)
    outputs = [light(x), plain(F.relu(x))]
    torch.testing.assert_close(outputs[0], outputs[1])
    found = [gradients(y, [x, *net.parameters()]) for y, net in zip(outputs, (light, plain), strict=True)]
    torch.testing.assert_close(found[0], found[1])
    assert torch.autograd.gradgradcheck(lambda value: light(value).pow(2), (x,))


def test_the_convolution_of_a_relu_whose_input_needs_no_gradient() -> None:
    net = ReluConv2d(2, 3, 1)
    net(torch.randn(1, 2, 4, 4)).sum().backward()
    assert net.weight.grad is not None
