"""Networks in the channels-last memory format compute the same, and do not crash."""

from __future__ import annotations

import copy
import subprocess
import sys

import pytest
import torch
from torch import nn

from bayesnas_graph.runtime import ReluConv2d, use_channels_last
from bayesnas_graph.runtime.channels_last import StridedPointwise
from bayesnas_graph.runtime.depthwise import Depthwise

FORMS = [
    nn.Conv2d(6, 4, 1, stride=2),
    nn.Conv2d(6, 4, 1, stride=(1, 3), bias=False),
    nn.Conv2d(6, 4, 1, stride=2, groups=2),
    nn.Conv2d(6, 4, 1, stride=2, padding=(1, 0)),
    nn.Conv2d(6, 4, 1, stride=3, padding="valid"),
    ReluConv2d(6, 4, 1, stride=2, padding=(0, 1)),
    nn.Conv2d(6, 4, 3, stride=2),
    nn.Conv2d(6, 4, 1),
    nn.Conv2d(6, 6, 5, padding=2, groups=6),
]

# Without the module that `use_channels_last` puts in, the process ends with a segmentation fault in most runs.
CRASH = """
import torch
from bayesnas_graph.runtime import ReluConv2d, use_channels_last
torch.set_num_threads(2)
network = torch.nn.Sequential(torch.nn.Conv2d(8, 4, 1, stride=2), ReluConv2d(4, 5, 1, stride=2))
use_channels_last(network)
for _ in range(9):
    x = torch.randn(3, 8, 32, 32).to(memory_format=torch.channels_last)
    network(x).square().sum().backward()
"""


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_the_same_function_and_gradients(form: nn.Conv2d) -> None:
    torch.manual_seed(0)
    plain = copy.deepcopy(form).double()
    other = copy.deepcopy(plain)
    use_channels_last(other)
    x = torch.randn(3, 6, 7, 8, dtype=torch.float64, requires_grad=True)
    x_last = x.detach().to(memory_format=torch.channels_last).requires_grad_()
    expected = nn.functional.conv2d(
        x.relu() if isinstance(plain, ReluConv2d) else x,
        plain.weight,
        plain.bias,
        plain.stride,
        plain.padding,
        plain.dilation,
        plain.groups,
    )
    found = other(x_last)
    assert found.is_contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(found, expected)
    weights = torch.randn_like(expected)
    ours = torch.autograd.grad((found * weights).sum(), [x_last, *other.parameters()])
    theirs = torch.autograd.grad((expected * weights).sum(), [x, *plain.parameters()])
    for mine, other_gradient in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, other_gradient)


def test_only_some_convolutions_are_replaced() -> None:
    network = nn.Sequential(*(copy.deepcopy(form) for form in FORMS))
    names = list(network.state_dict())
    use_channels_last(network)
    assert [type(part) for part in network] == [StridedPointwise] * 5 + [ReluConv2d, nn.Conv2d, nn.Conv2d, Depthwise]
    assert list(network.state_dict()) == names


def test_narrow_strided_convolutions_do_not_crash() -> None:
    assert subprocess.run([sys.executable, "-c", CRASH], check=False).returncode == 0
