"""Runtime functions equal the torch modules in half precision and channels last."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bayesnas_graph.runtime import (
    LightBatchNorm2d,
    ReluConv2d,
    Watch,
    dropping,
    gated_sum,
    interleaved,
    phases,
    subsampled,
    watched,
)

HALF = [torch.bfloat16, torch.float16]
FORMATS = [torch.contiguous_format, torch.channels_last]
IN_HALF = pytest.mark.parametrize("dtype", HALF, ids=str)
IN_ALL = pytest.mark.parametrize("dtype", [torch.float32, *HALF], ids=str)
IN_BOTH_FORMATS = pytest.mark.parametrize("form", FORMATS, ids=str)


def image(
    dtype: torch.dtype, form: torch.memory_format = torch.contiguous_format, shape: tuple[int, ...] = (4, 6, 8, 8)
) -> Tensor:
    return torch.randn(shape).to(dtype).contiguous(memory_format=form).requires_grad_()


def passed(network: nn.Module, x: Tensor, dtype: torch.dtype, *, inside: bool = False) -> list[Tensor]:
    """Output and gradients with autocast, or in single precision; the backward pass inside or outside autocast."""
    autocast = torch.autocast("cpu", dtype, enabled=dtype != torch.float32)
    with autocast:
        y = network(x)
    weights = torch.randn(y.shape, generator=torch.Generator().manual_seed(1)).to(y)
    with autocast if inside else nullcontext():
        found = torch.autograd.grad(y, [x, *network.parameters()], weights.contiguous(memory_format=_format(x)))
    return [y.detach(), *found]


def _format(x: Tensor) -> torch.memory_format:
    return torch.channels_last if x.is_contiguous(memory_format=torch.channels_last) else torch.contiguous_format


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("given", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("groups", [1, 6])
@IN_BOTH_FORMATS
@IN_ALL
def test_the_convolution_of_a_relu(
    dtype: torch.dtype, form: torch.memory_format, groups: int, given: torch.dtype, inside: bool
) -> None:
    """Bitwise equal for any input."""
    light = ReluConv2d(6, 6, 3, padding=1, groups=groups).to(memory_format=form)  # type: ignore[call-overload]
    plain = nn.Sequential(nn.ReLU(), nn.Conv2d(6, 6, 3, padding=1, groups=groups)).to(memory_format=form)  # type: ignore[call-overload]
    plain[1].load_state_dict(light.state_dict())
    x = image(torch.float32 if dtype == torch.float32 else given, form)
    found, expected = (passed(network, x, dtype, inside=inside) for network in (light, plain))
    assert found[0].dtype == dtype
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        assert one.stride() == other.stride()
        torch.testing.assert_close(one, other, rtol=0, atol=0)


@pytest.mark.parametrize("training", [True, False])
@IN_BOTH_FORMATS
@IN_ALL
def test_light_norms(dtype: torch.dtype, form: torch.memory_format, training: bool) -> None:
    light, plain = LightBatchNorm2d(6).train(training), nn.BatchNorm2d(6, affine=False).train(training)
    x = image(dtype, form)
    found, expected = (passed(network, x, dtype) for network in (light, plain))
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype == dtype
        assert one.is_contiguous(memory_format=form)
        # The backward pass starts from the output as it was rounded, that of torch from the input.
        torch.testing.assert_close(one, other, rtol=1e-4, atol=4 * torch.finfo(dtype).eps)
    for name in ("running_mean", "running_var"):
        torch.testing.assert_close(light.get_buffer(name), plain.get_buffer(name), rtol=0, atol=0)
    assert light.get_buffer("running_var").dtype == torch.float32


@pytest.mark.parametrize("probability", [0.0, 0.5])
@IN_BOTH_FORMATS
@IN_HALF
def test_gated_sums_have_the_precision_of_values_and_slopes_that_of_gates(
    dtype: torch.dtype, form: torch.memory_format, probability: float
) -> None:
    values = [image(dtype, form) for _ in range(3)]
    exact = [value.detach().float().requires_grad_() for value in values]
    gates = torch.rand(4, requires_grad=True)
    sums, slopes, powers = [], [], []
    for terms in (values, exact):
        with watched(Watch()) as watch, dropping(probability, torch.Generator().manual_seed(0)):
            total = gated_sum(terms, gates)
        handed = torch.autograd.grad(total, [gates, *terms], torch.ones_like(total))
        sums.append([total, *handed[1:]])
        slopes.append([handed[0], watch.slopes(gates)])
        powers.append(watch.powers(gates))
    for one, other in zip(*sums, strict=True):
        assert one.dtype == dtype
        assert one.is_contiguous(memory_format=form)
        torch.testing.assert_close(one.float(), other, rtol=4 * torch.finfo(dtype).eps, atol=0.05)
    torch.testing.assert_close(slopes[0], slopes[1], rtol=1e-4, atol=1e-4)  # in float32, from the same values
    torch.testing.assert_close(powers[0], powers[1], rtol=1e-2, atol=0)


@pytest.mark.parametrize("order", [1, -1])
def test_values_of_two_precisions(order: int) -> None:
    """The sum has the higher precision in any order, as in torch."""
    values = [image(torch.bfloat16), image(torch.float32)][::order]
    gates = torch.tensor([0.3, 0.7], requires_grad=True)
    total = gated_sum(values, gates)
    assert total.dtype == torch.float32
    torch.testing.assert_close(total, values[0].float() * gates[0] + values[1].float() * gates[1])
    gradients = torch.autograd.grad(total.sum(), values)
    assert [gradient.dtype for gradient in gradients] == [value.dtype for value in values]


def test_slopes_neither_overflow_nor_vanish_in_half_precision() -> None:
    """Products of half-precision values may not fit into half precision."""
    for size, gradient in ((1000.0, 100.0), (1e-4, 1e-5)):
        value = torch.full((2, 50), size, dtype=torch.float16)
        gates = torch.ones(1, requires_grad=True)
        with watched(Watch()) as watch:
            total = gated_sum([value], gates)
        torch.autograd.backward([total], [torch.full_like(total, gradient)])
        expected = torch.full((2, 1), 50 * size * gradient)
        torch.testing.assert_close(watch.slopes(gates), expected, rtol=0.01, atol=0)
        torch.testing.assert_close(watch.powers(gates), torch.tensor([size**2]), rtol=0.01, atol=0)


@IN_BOTH_FORMATS
@IN_HALF
def test_layouts_only_move_values(dtype: torch.dtype, form: torch.memory_format) -> None:
    x = image(dtype, form)
    for y in (interleaved(phases(x, 2), 2), subsampled(x, 1)):
        assert y.dtype == dtype
        assert y.is_contiguous(memory_format=form)
        assert torch.equal(y, x)
        (handed,) = torch.autograd.grad(y, x, torch.ones_like(y))
        assert handed.is_contiguous(memory_format=form)


def test_shapes_are_known_without_values() -> None:
    """Nothing reads a value on the way, which would synchronise a GPU."""
    with torch.device("meta"):
        network = nn.Sequential(ReluConv2d(3, 4, 3, padding=1), LightBatchNorm2d(4))
        x, gates = torch.empty(2, 3, 8, 8, requires_grad=True), torch.ones(3, requires_grad=True)
        for training in (True, False):
            h = network.train(training)(x)
            with dropping(0.5):
                y = gated_sum([h, interleaved(F.relu(phases(h, 2)), 2)], gates)
            torch.autograd.backward([y.sum()])
            assert y.shape == (2, 4, 8, 8)
            assert gates.grad is not None
            assert gates.grad.is_meta
