"""A maximum pool that finds the largest values again in the backward pass.

torch keeps where they are, in eight bytes for each. The input, in which they are found, is usually kept anyway.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def light_max_pool2d(x: Tensor, kernel: Any, stride: Any, padding: Any, ceil_mode: bool = False) -> Tensor:
    """`torch.nn.functional.max_pool2d` with the same output and gradient.

    >>> light_max_pool2d(torch.arange(4.0).view(1, 1, 2, 2), 2, 2, 0)
    tensor([[[[3.]]]])
    """
    settings = _pair(kernel), _pair(stride), _pair(padding), [1, 1], ceil_mode
    result: Tensor = _MaxPool.apply(x, *settings)  # type: ignore[no-untyped-call]
    return result


class _MaxPool(torch.autograd.Function):
    """Its backward pass can be differentiated again."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, *settings: Any) -> Tensor:
        ctx.save_for_backward(x)
        ctx.settings = settings
        largest: Tensor = torch.ops.aten.max_pool2d_with_indices(x, *settings)[0]
        return largest

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (x,) = ctx.saved_tensors
        with torch.no_grad():
            _, where = torch.ops.aten.max_pool2d_with_indices(x, *ctx.settings)
        of_x = torch.ops.aten.max_pool2d_with_indices_backward(gradients[0], x.detach(), *ctx.settings, where)
        return of_x, *[None] * len(ctx.settings)


def _pair(sides: Any) -> list[int]:
    return [sides, sides] if isinstance(sides, int) else list(sides)
