"""Autocast on the stand-in casts what torch's own casts on the CPU."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from tests.search.stand_in import CPU, DEVICE, Held, stand_in
from tests.search.stand_in_autocast import autocasting

CASES: list[Callable[[Tensor, Tensor], Tensor]] = [
    lambda x, w: x @ w,
    lambda x, w: F.linear(x, w),
    lambda x, w: F.conv1d(x[:, None], w[:, None]),
    lambda x, w: F.relu(x @ w) + w,
    lambda x, w: torch.cat([x @ w, x]),
    lambda x, w: F.cross_entropy(x @ w, torch.zeros(len(x), dtype=torch.long, device=x.device)),
    lambda x, w: x.double() @ w.double(),
]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("case", range(len(CASES)))
def test_the_same_as_on_the_cpu(case: int, dtype: torch.dtype) -> None:
    found = []
    for device in (CPU, DEVICE):
        with stand_in(), autocasting():
            generator = torch.Generator().manual_seed(0)
            x, w = (torch.randn(4, 4, generator=generator).to(device).requires_grad_() for _ in range(2))
            with torch.autocast(device.type, dtype):
                y = CASES[case](x, w)
            gradients = torch.autograd.grad(y.float().square().sum(), (x, w), allow_unused=True)
            found.append([_values(tensor) for tensor in (y, *gradients)])
    for here, there in zip(*found, strict=True):
        assert here.dtype == there.dtype
        torch.testing.assert_close(here, there, rtol=0, atol=0)


def test_a_weight_is_cast_once() -> None:
    with stand_in() as mode, autocasting() as begun:
        x, w = torch.ones(2, 3, device=DEVICE), torch.ones(3, 3, device=DEVICE, requires_grad=True)
        with torch.autocast(DEVICE.type, torch.bfloat16), mode.watched() as seen:
            x @ w + x @ w
    assert seen.forward == 3 + 2 + 1  # casts, products, sum
    assert begun[0].used == {"matmul"}


def _values(tensor: Tensor) -> Tensor:
    return (tensor.on_cpu if isinstance(tensor, Held) else tensor).detach()
