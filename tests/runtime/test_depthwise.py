"""Gradients of depthwise convolutions are those of torch, however they are computed."""

from __future__ import annotations

from unittest.mock import patch

import pytest
import torch
from torch import nn

from bayesnas_graph.runtime import ReluConv2d, depthwise, use_channels_last


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("sides", [(9, 12), (8, 7)])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("kernel", [5, 7])
def test_gradients(kernel: int, stride: int, sides: tuple[int, int], bias: bool, relu: bool) -> None:
    torch.manual_seed(0)
    kind = ReluConv2d if relu else nn.Conv2d
    conv = kind(4, 4, kernel, stride=stride, padding=kernel // 2, groups=4, bias=bias)
    use_channels_last(conv)
    x = torch.randn(3, 4, *sides).to(memory_format=torch.channels_last).requires_grad_()
    inputs = [x, *conv.parameters()]
    found = []
    for fewest, windows in ((0, True), (2**30, False)):
        with (
            patch.object(depthwise, "FEWEST", fewest),
            patch.object(depthwise, "_by_windows", _Counted()) as by_windows,
        ):
            y = conv(x)
            weights = torch.linspace(-1, 1, y.numel()).view_as(y)
            found.append(torch.autograd.grad((y * weights).sum(), inputs))
            assert bool(by_windows.calls) == windows
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


class _Counted:
    """The function, counting its calls."""

    def __init__(self) -> None:
        self.calls = 0
        self.function = depthwise._by_windows

    def __call__(self, *arguments: object) -> object:
        self.calls += 1
        return self.function(*arguments)  # type: ignore[arg-type]


def test_double_precision_and_double_gradients() -> None:
    conv = nn.Conv2d(2, 2, 5, padding=2, groups=2).double()
    use_channels_last(conv)
    x = torch.randn(1, 2, 5, 5, dtype=torch.float64).to(memory_format=torch.channels_last).requires_grad_()
    assert torch.autograd.gradcheck(conv, (x,))
    assert torch.autograd.gradgradcheck(lambda value: conv(value).pow(2), (x,))


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("kernel", [3, 5, 7])
def test_gradients_are_those_of_torch_in_double_precision(kernel: int, stride: int) -> None:
    settings = (stride, stride), (kernel // 2, kernel // 2), (1, 1), 4
    weight = torch.randn(4, 1, kernel, kernel)
    x = torch.randn(3, 4, 9, 8).to(memory_format=torch.channels_last)
    gradient = torch.randn_like(nn.functional.conv2d(x, weight, None, *settings))
    with patch.object(depthwise, "FEWEST", 0), torch.no_grad():
        found = depthwise.convolution_backward(gradient, x, weight, [4], settings, [True] * 3)
        expected = depthwise._plain(gradient.double(), x.double(), weight.double(), [4], settings, [True] * 3)
    for one, other in zip(found, expected, strict=True):
        assert one is not None
        assert other is not None
        torch.testing.assert_close(one.double(), other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kernel", [5, 7])
def test_gradients_can_be_differentiated_again(kernel: int) -> None:
    """In single precision, where the fast forms are used."""
    torch.manual_seed(0)
    ours, theirs = (nn.Conv2d(4, 4, kernel, padding=kernel // 2, groups=4) for _ in range(2))
    theirs.load_state_dict(ours.state_dict())
    use_channels_last(ours)
    assert isinstance(ours, depthwise.Depthwise)
    x = torch.randn(3, 4, 8, 8).to(memory_format=torch.channels_last).requires_grad_()
    found = []
    with patch.object(depthwise, "FEWEST", 0):
        for conv in (ours, theirs):
            first = torch.autograd.grad(conv(x).pow(3).sum(), [x, conv.weight], create_graph=True)
            again = torch.stack([one.square().sum() for one in first]).sum()
            found.append(torch.autograd.grad([again], [x, conv.weight]))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-2)


def test_moved_images_keep_their_zeros() -> None:
    images = torch.arange(1.0, 17.0).view(2, 2, 2, 2).to(memory_format=torch.channels_last)
    spaced = depthwise._Spaced(images, 1)
    for down in (0, 1):
        for right in (0, 1):
            expected = nn.functional.pad(images, [right, 1 - right, down, 1 - down])
            assert torch.equal(spaced.moved(down, right), expected)
