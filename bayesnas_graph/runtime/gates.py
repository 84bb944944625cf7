"""Gates on the outputs of candidates, and the derivative of the loss by each of them, sample by sample."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any

import torch
from torch import Tensor

from bayesnas_graph.runtime.drop import drawn
from bayesnas_graph.runtime.precision import gate_dtype
from bayesnas_graph.runtime.uncompiled import uncompiled
from bayesnas_graph.runtime.weighted_sum import exact, inner_products, propagated, split_weights, weighted_sum


class Watch:
    """What a pass through a network reveals about its gates.

    `slopes` are the derivatives of a loss by every gate, a row for each sample: sums that the backward pass computes
    anyway, so that nothing is computed twice and no values are kept. `powers` are the mean squares of the input of
    every gate, and `means` the means of its channels.
    """

    def __init__(self) -> None:
        self._slopes: dict[_Start, Tensor] = {}
        self._powers: dict[_Start, Tensor] = {}
        self._means: dict[_Start, Tensor] = {}

    def add_slopes(self, gates: Tensor, slopes: Tensor) -> None:
        """Record the slopes of some gates. A gate that is used twice has the sum."""
        known = self._slopes.get(_start(gates))
        self._slopes[_start(gates)] = slopes if known is None else known + slopes

    def forget_slopes(self) -> None:
        """Clear the slopes, for the next backward pass."""
        self._slopes.clear()

    def add_values(self, gates: Tensor, values: Sequence[Tensor]) -> None:
        """Record the inputs of some gates."""
        storage, start = _start(gates)
        self._powers[storage, start] = torch.stack([exact(value).square().mean() for value in values])[None]
        self._means |= {(storage, start + i): channel_means(exact(value)) for i, value in enumerate(values)}

    def slopes(self, gates: Tensor) -> Tensor | None:
        """The slopes of a tensor of gates, a row for each sample; None if there was no backward pass."""
        return _gathered(gates, self._slopes)

    def powers(self, gates: Tensor) -> Tensor | None:
        """The mean squares for a tensor of gates."""
        rows = _gathered(gates, self._powers)
        return None if rows is None else rows[0]

    def means(self, gates: Tensor) -> list[Tensor]:
        """The means of the channels of the input of each gate; zero for a gate that was not used."""
        storage, start = _start(gates)
        return [self._means.get((storage, start + i), gates.new_zeros(1)) for i in range(len(gates))]


_Start = tuple[int, int]  # where a tensor begins: distinguishes the views of one tensor of gates


def _start(gates: Tensor) -> _Start:
    return gates.untyped_storage().data_ptr(), int(gates.storage_offset())


def _gathered(gates: Tensor, recorded: dict[_Start, Tensor]) -> Tensor | None:
    storage, start = _start(gates)
    rows = None
    for (other, first), part in recorded.items():
        if other == storage and start <= first < start + len(gates):
            rows = part.new_zeros(len(part), len(gates)) if rows is None else rows
            rows[:, first - start : first - start + part.shape[1]] += part
    return rows


class _Watching(threading.local):
    """The watch of this thread."""

    watch: Watch | None = None


_watching = _Watching()


@contextmanager
def watched(watch: Watch) -> Iterator[Watch]:
    """Watch all gates that are used within this block, and the later backward passes through them.

    What is compiled by `torch.compile` runs as it is written within this block: a watch cannot be traced.

    >>> gates = torch.ones(2, requires_grad=True)
    >>> with watched(Watch()) as watch:
    ...     y = gated_sum([torch.tensor([[1.0], [2.0]]), torch.tensor([[3.0], [5.0]])], gates)
    >>> y.sum().backward()
    >>> watch.slopes(gates), watch.powers(gates)
    (tensor([[1., 3.],
            [2., 5.]]), tensor([ 2.5000, 17.0000]))
    """
    before, _watching.watch = _watching.watch, watch
    try:
        with uncompiled():
            yield watch
    finally:
        _watching.watch = before


def is_watched() -> bool:
    """Whether this is within `watched`."""
    return _watching.watch is not None


def gated_sum(values: list[Tensor], gates: Tensor) -> Tensor:
    """The sum of values of one shape, each times its gate, times the zero gate if there is one more gate.

    It has the precision of the values, whatever the precision of the gates. Within `dropping`, values are dropped.

    >>> gated_sum([torch.ones(2), torch.tensor([1.0, 2.0])], torch.tensor([0.5, 2.0]))
    tensor([2.5000, 4.5000])
    >>> gated_sum([torch.ones(2)], torch.tensor([0.5, 3.0]))
    tensor([1.5000, 1.5000])
    """
    result: Tensor = _GatedSum.apply(gates.view(-1), drawn(values), *values)  # type: ignore[no-untyped-call]
    return result


class _GatedSum(torch.autograd.Function):
    """A sum that keeps only the values. Its backward pass can be differentiated again."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Tensor:
        # One parameter for all: without gradients, torch.compile of torch 2.13 takes a call with as many arguments as
        # there are parameters for one without `ctx`.
        gates, factors, *values = inputs
        ctx.save_for_backward(gates, factors, *values)
        ctx.watch = _watching.watch
        if ctx.watch is not None:
            ctx.watch.add_values(gates, _multiplied(gates, factors, values))
        return weighted_sum(values, _weights(gates, factors, values))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        gates, factors, *values = ctx.saved_tensors
        (gradient,) = gradients
        of_gates, _, *of_values = ctx.needs_input_grad
        slopes = None
        if of_gates:
            rows = inner_products(values, gradient)
            if factors is not None:
                rows = rows * factors.t()
            if len(gates) > len(values):
                rows = torch.cat([rows * gates[-1], (rows * gates[:-1]).sum(1, keepdim=True)], 1)
            if ctx.watch is not None:
                ctx.watch.add_slopes(gates, rows.detach())
            slopes = rows.sum(0)
        return slopes, None, *propagated(gradient, _weights(gates, factors, values), of_values)


def _weights(gates: Tensor, factors: Tensor | None, values: Sequence[Tensor]) -> Tensor:
    """The factor of each value, zero gate included, in the precision of the sum; with `factors`, for each sample."""
    candidate_gates = gates if len(gates) == len(values) else gates[:-1] * gates[-1]
    dtype = reduce(torch.promote_types, [value.dtype for value in values])
    return (candidate_gates if factors is None else candidate_gates[:, None] * factors).to(dtype)


def _multiplied(gates: Tensor, factors: Tensor | None, values: Sequence[Tensor]) -> list[Tensor]:
    """The input of each gate: a value, unless it is dropped, or for the zero gate the sum."""
    candidate_gates = gates[: len(values)]
    terms = list(values)
    if factors is not None:
        kept = _weights(torch.ones_like(candidate_gates), factors, values)
        terms = [value * one for value, one in zip(values, split_weights(kept, values[0]), strict=True)]
    if len(gates) > len(values):
        terms.append(weighted_sum(terms, _weights(candidate_gates, None, values)))
    return terms


def channel_means(value: Tensor) -> Tensor:
    """The means of channels over samples and positions, precise enough to subtract their squares from powers.

    >>> channel_means(torch.tensor([[1.0, 5.0], [3.0, 5.0]]))
    tensor([2., 5.], dtype=torch.float64)
    """
    return value.mean([0, *range(2, value.ndim)], dtype=gate_dtype(value.device)).view(-1)
