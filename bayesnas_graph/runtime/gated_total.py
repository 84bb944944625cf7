"""The sum of several gated sums as one function: a GPU starts a few kernels for it, however many sums there are."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import torch
from torch import Tensor

from bayesnas_graph.runtime.drop import drawn
from bayesnas_graph.runtime.gates import gated_sum, is_watched
from bayesnas_graph.runtime.weighted_sum import inner_products, propagated, weighted_sum


def gated_total(groups: list[list[Tensor]], gates: Tensor) -> Tensor:
    """The total of the gated sums of some groups of values. Either all groups have a zero gate, or none of them.

    >>> gated_total([[torch.ones(2)], [torch.ones(2), torch.ones(2)]], torch.tensor([3.0, 1.0, 2.0, 5.0, 0.5]))
    tensor([6.5000, 6.5000])
    """
    values, gates = [value for group in groups for value in group], gates.view(-1)
    sizes = [len(group) for group in groups]
    zeros = int(len(gates) > len(values))
    if is_watched():  # what is known about each group is needed
        return reduce(add, map(gated_sum, groups, torch.split(gates, [size + zeros for size in sizes])))
    result: Tensor = _GatedTotal.apply(gates, drawn(values), sizes if zeros else [], *values)  # type: ignore[no-untyped-call]
    return result


class _GatedTotal(torch.autograd.Function):
    """A sum that keeps only the values. Its backward pass can be differentiated again."""

    @staticmethod
    def forward(ctx: Any, gates: Tensor, factors: Tensor | None, sizes: list[int], *values: Tensor) -> Tensor:
        ctx.save_for_backward(gates, factors, *values)
        ctx.sizes = sizes
        return weighted_sum(values, _weights(gates, factors, sizes, values))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        gates, factors, *values = ctx.saved_tensors
        (gradient,) = gradients
        of_gates, _, _, *of_values = ctx.needs_input_grad
        slopes = None
        if of_gates:
            rows = inner_products(values, gradient)
            slopes = _slopes(gates, ctx.sizes, (rows if factors is None else rows * factors.t()).sum(0))
        weights = _weights(gates, factors, ctx.sizes, values)
        return slopes, None, None, *propagated(gradient, weights, of_values)


def _weights(gates: Tensor, factors: Tensor | None, sizes: list[int], values: Any) -> Tensor:
    """The factor of each value, zero gates included, in the precision of the sum; with `factors`, for each sample."""
    weights = gates
    if sizes:
        parts = _by_group(gates, [size + 1 for size in sizes])
        products = [part[..., :-1] * part[..., -1:] for part in parts]
        weights = products[0].reshape(-1) if len(products) == 1 else torch.cat(products)
    dtype = reduce(torch.promote_types, {value.dtype for value in values})
    return (weights if factors is None else weights[:, None] * factors).to(dtype)


def _slopes(gates: Tensor, sizes: list[int], by_weight: Tensor) -> Tensor:
    """The derivatives with respect to the gates, from those with respect to the factors of values."""
    if not sizes:
        return by_weight
    found: list[Tensor] = []
    pairs = zip(_by_group(gates, [size + 1 for size in sizes]), _by_group(by_weight, sizes), strict=True)
    for part, slopes in pairs:
        found += [slopes * part[..., -1:], (slopes * part[..., :-1]).sum(-1, keepdim=True)]
    return torch.cat(found, -1).view(-1)


def _by_group(numbers: Tensor, sizes: list[int]) -> tuple[Tensor, ...]:
    """Numbers group by group: as a matrix if all groups have the same size."""
    return (numbers.view(len(sizes), -1),) if len(set(sizes)) == 1 else torch.split(numbers, sizes)
