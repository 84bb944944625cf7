"""Batch norms without weights that keep their output for the backward pass instead of their input.

The output is kept anyway, for the gradient of the gate after it, so the input, which is just as large, need not be.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable


class LightBatchNorm2d(nn.BatchNorm2d):
    """`nn.BatchNorm2d(channels, affine=False)` with the same output and another backward pass.

    It has the same state, but does not count batches: the count matters only to norms without a momentum.
    """

    zeros: Tensor
    ones: Tensor

    def __init__(self, channels: int, eps: float = 1e-5, momentum: float = 0.1) -> None:
        super().__init__(channels, eps=eps, momentum=momentum, affine=False)
        _add_constants(self)

    def forward(self, x: Tensor) -> Tensor:
        self._check_input_dim(x)
        return _light(self, x)


class LightBatchNorm1d(nn.BatchNorm1d):
    """The same for vectors."""

    zeros: Tensor
    ones: Tensor

    def __init__(self, channels: int, eps: float = 1e-5, momentum: float = 0.1) -> None:
        super().__init__(channels, eps=eps, momentum=momentum, affine=False)
        _add_constants(self)

    def forward(self, x: Tensor) -> Tensor:
        self._check_input_dim(x)
        return _light(self, x)


def _add_constants(norm: nn.BatchNorm1d | nn.BatchNorm2d) -> None:
    """Add the constants of the backward pass, so that it need not make them in every step."""
    norm.register_buffer("zeros", torch.zeros(norm.num_features), persistent=False)
    norm.register_buffer("ones", torch.ones(norm.num_features), persistent=False)


def _light(norm: LightBatchNorm1d | LightBatchNorm2d, x: Tensor) -> Tensor:
    if not norm.training:
        return _at_rest(norm, x)
    if x.numel() == x.size(1):
        raise ValueError(f"training needs more than one value per channel, and the input is {tuple(x.shape)}")
    constants, settings = (norm.zeros, norm.ones), (norm.momentum, norm.eps)
    result: Tensor = _Normalise.apply(x, norm.running_mean, norm.running_var, *constants, *settings)  # type: ignore[no-untyped-call]
    return result


def _at_rest(norm: nn.BatchNorm1d | nn.BatchNorm2d, x: Tensor) -> Tensor:
    """With running statistics, each channel is a linear function, whose backward pass needs only the slope."""
    assert norm.running_mean is not None, "running statistics are always tracked"
    assert norm.running_var is not None, "running statistics are always tracked"
    shape = (-1, *[1] * (x.ndim - 2))
    slope = (norm.running_var + norm.eps).rsqrt()
    return torch.addcmul((-norm.running_mean * slope).view(shape), x, slope.view(shape)).to(x.dtype)


class _Normalise(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, mean: Tensor, variance: Tensor, *rest: Any) -> Tensor:
        zeros, ones, momentum, eps = rest
        output, _, scale = torch.native_batch_norm(x, None, None, mean, variance, True, momentum, eps)
        ctx.save_for_backward(output, scale, zeros, ones)
        ctx.eps = eps
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        output, scale, zeros, ones = ctx.saved_tensors
        # The rule for the input, applied to the output, which has mean 0 and deviation 1: the scale between the two
        # takes the place of a weight.
        propagated, _, _ = torch.ops.aten.native_batch_norm_backward(
            gradients[0], output, scale, None, None, zeros, ones, True, ctx.eps, [True, False, False]
        )
        return propagated, None, None, None, None, None, None
