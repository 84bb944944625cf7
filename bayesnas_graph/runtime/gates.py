"""Gates on the outputs of candidates."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def gated_sum(values: list[Tensor], weights: Tensor) -> Tensor:
    """The sum of some values of one shape, each times its weight.

    >>> gated_sum([torch.ones(2), torch.tensor([1.0, 2.0])], torch.tensor([0.5, 2.0]))
    tensor([2.5000, 4.5000])
    """
    result: Tensor = _GatedSum.apply(weights, *values)  # type: ignore[no-untyped-call]
    return result


class _GatedSum(torch.autograd.Function):
    """One pass over each value, forwards and backwards; nothing is kept but the values."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, *values: Tensor) -> Tensor:
        ctx.save_for_backward(weights, *values)
        first, *rest = weights.unbind()
        total = values[0] * first
        for value, weight in zip(values[1:], rest, strict=True):
            total.addcmul_(value, weight)
        return total

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        weights, *values = ctx.saved_tensors
        (gradient,) = gradients
        wanted = ctx.needs_input_grad
        slopes = torch.stack([(gradient * value).sum() for value in values]) if wanted[0] else None
        handed = [
            gradient * weight if want else None for weight, want in zip(weights.unbind(), wanted[1:], strict=True)
        ]
        return slopes, *handed
