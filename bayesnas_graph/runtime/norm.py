"""Batch norms without weights that keep their output for the backward pass, and not their input.

What reads the norm of a candidate keeps the norm's output anyway, for the gradient of its gate: so the input,
as large again, need not be kept at all.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable


class LightBatchNorm2d(nn.BatchNorm2d):
    """`nn.BatchNorm2d(channels, affine=False)` to the last bit of its state; only its backward pass is another."""

    def __init__(self, channels: int, eps: float = 1e-5, momentum: float = 0.1) -> None:
        super().__init__(channels, eps=eps, momentum=momentum, affine=False)

    def forward(self, x: Tensor) -> Tensor:
        self._check_input_dim(x)
        return _light(self, x)


class LightBatchNorm1d(nn.BatchNorm1d):
    """The same for vectors."""

    def __init__(self, channels: int, eps: float = 1e-5, momentum: float = 0.1) -> None:
        super().__init__(channels, eps=eps, momentum=momentum, affine=False)

    def forward(self, x: Tensor) -> Tensor:
        self._check_input_dim(x)
        return _light(self, x)


def _light(norm: nn.BatchNorm1d | nn.BatchNorm2d, x: Tensor) -> Tensor:
    if not norm.training:
        return _at_rest(norm, x)
    if x.numel() == x.size(1):
        raise ValueError(f"more than one value per channel is needed to train, and there are {tuple(x.shape)}")
    if norm.num_batches_tracked is not None:
        norm.num_batches_tracked.add_(1)
    result: Tensor = _Normalise.apply(x, norm.running_mean, norm.running_var, norm.momentum, norm.eps)  # type: ignore[no-untyped-call]
    return result


def _at_rest(norm: nn.BatchNorm1d | nn.BatchNorm2d, x: Tensor) -> Tensor:
    """With running statistics it is a line for each channel, whose backward pass needs the slope and nothing else."""
    assert norm.running_mean is not None, "it was made to track them"
    assert norm.running_var is not None, "it was made to track them"
    shape = (-1, *[1] * (x.ndim - 2))
    slope = (norm.running_var + norm.eps).rsqrt()
    return torch.addcmul((-norm.running_mean * slope).view(shape), x, slope.view(shape)).to(x.dtype)


class _Normalise(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, mean: Tensor, variance: Tensor, momentum: float, eps: float) -> Tensor:
        output, _, scale = torch.native_batch_norm(x, None, None, mean, variance, True, momentum, eps)
        ctx.save_for_backward(output, scale)
        ctx.eps = eps
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        output, scale = ctx.saved_tensors
        # The rule for the input, with the output in its place: that has mean 0 and deviation 1, and the scale
        # from the one to the other is what a weight would be.
        zero, one = torch.zeros_like(scale), torch.ones_like(scale)
        handed, _, _ = torch.ops.aten.native_batch_norm_backward(
            gradients[0], output, scale, None, None, zero, one, True, ctx.eps, [True, False, False]
        )
        return handed, None, None, None, None
