"""The weighted sum of values of one shape, and what its backward pass needs.

On a CPU, values are read one after another, so that nothing is copied. On other devices, a kernel for each value would
take longer to start than to run: there, values are stacked, and each function starts a few kernels in all.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

ONE_BY_ONE = frozenset({"cpu"})  # devices that read values one after another


def weighted_sum(values: Sequence[Tensor], weights: Tensor) -> Tensor:
    """The sum of values, each times its weight, or times a weight for each sample.

    >>> weighted_sum([torch.ones(2), torch.tensor([1.0, 2.0])], torch.tensor([0.5, 2.0]))
    tensor([2.5000, 4.5000])
    """
    if values[0].device.type not in ONE_BY_ONE:
        return _stacked_sum(values, weights)
    first, *rest = split_weights(weights, values[0])
    total = values[0].to(weights.dtype) * first
    for value, weight in zip(values[1:], rest, strict=True):
        total.addcmul_(value, weight)
    return total


def inner_products(values: Sequence[Tensor], gradient: Tensor) -> Tensor:
    """The inner product of each value with a gradient, a row for each sample; at least in single precision.

    >>> inner_products([torch.ones(2, 3), torch.zeros(2, 3)], torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    tensor([[ 6.,  0.],
            [15.,  0.]])
    """
    gradient = exact(gradient)
    if values[0].device.type not in ONE_BY_ONE:
        return _stacked_products(values, gradient)
    axes = tuple(range(1, gradient.ndim))
    return torch.stack([(gradient * value).sum(axes) if axes else gradient * value for value in values], 1)


def propagated(gradient: Tensor, weights: Tensor, wanted: Sequence[bool]) -> list[Tensor | None]:
    """The gradient times each weight, for those values that want it."""
    if gradient.device.type not in ONE_BY_ONE:
        samples = weights.shape[1] if weights.ndim == 2 else 1
        parts = (gradient * weights.view(len(weights), samples, *[1] * (gradient.ndim - 1))).unbind()
        return [part if want else None for part, want in zip(parts, wanted, strict=True)]
    shaped = split_weights(weights, gradient)
    return [gradient * weight if want else None for weight, want in zip(shaped, wanted, strict=True)]


def split_weights(weights: Tensor, value: Tensor) -> tuple[Tensor, ...]:
    """What each value is multiplied with: its weight, or its weights in the shape of a value."""
    return weights.unbind() if weights.ndim == 1 else weights.view(*weights.shape, *[1] * (value.ndim - 1)).unbind()


def exact(x: Tensor) -> Tensor:
    """At least in single precision, which sums of many products need."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def _stacked_sum(values: Sequence[Tensor], weights: Tensor) -> Tensor:
    rows, order = _stacked(values, weights.dtype)
    shape = [values[0].shape[axis] for axis in order]
    if weights.ndim == 1:
        total = torch.mv(rows.view(len(values), -1).t(), weights)
    else:
        total = torch.bmm(weights.t()[:, None], rows.transpose(0, 1))  # sample by sample
    return _restored(total.view(shape), order)


def _stacked_products(values: Sequence[Tensor], gradient: Tensor) -> Tensor:
    rows, order = _stacked(values, gradient.dtype)
    right = gradient.permute(order).reshape(rows.shape[1], -1, 1)
    return torch.bmm(rows.transpose(0, 1), right).squeeze(2)


def _stacked(values: Sequence[Tensor], dtype: torch.dtype) -> tuple[Tensor, list[int]]:
    """The values as rows of numbers for each sample, and the order of axes in which the numbers are."""
    order = list(range(values[0].ndim))
    if values[0].ndim == 4 and values[0].stride(1) == 1:  # channels-last, or some channels of it
        order = [0, 2, 3, 1]
    stack = torch.stack([value.to(dtype).permute(order) for value in values])
    samples = values[0].shape[0] if values[0].ndim else 1
    return stack.view(len(values), samples, -1), order


def _restored(x: Tensor, order: list[int]) -> Tensor:
    """The tensor whose axes were put into this order."""
    return x.permute([order.index(axis) for axis in range(len(order))])
