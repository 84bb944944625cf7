"""Weight gradients of depthwise convolutions that are put together from windows are those of torch."""

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
