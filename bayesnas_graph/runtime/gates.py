"""Gates on the outputs of candidates, and what the loss says about each of them, sample by sample."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any

import torch
from torch import Tensor

from bayesnas_graph.runtime.drop import drawn


class Watch:
    """What a pass through a network tells about its gates.

    `slopes` are the derivatives of a loss by every gate, a row for each sample: sums that the backward pass
    forms anyway, so that nothing is computed twice and no values are kept. `powers` are the mean squares of
    what every gate is a factor of, and `means` those of its channels.
    """

    def __init__(self) -> None:
        self._slopes: dict[_Place, Tensor] = {}
        self._powers: dict[_Place, Tensor] = {}
        self._means: dict[_Place, Tensor] = {}

    def add_slopes(self, gates: Tensor, slopes: Tensor) -> None:
        """Take note of the slopes of some gates. A gate that is used twice has the sum."""
        known = self._slopes.get(_place(gates))
        self._slopes[_place(gates)] = slopes if known is None else known + slopes

    def forget_slopes(self) -> None:
        """Begin anew, for the next backward pass."""
        self._slopes.clear()

    def add_values(self, gates: Tensor, values: Sequence[Tensor]) -> None:
        """Take note of what some gates are factors of."""
        storage, start = _place(gates)
        self._powers[storage, start] = torch.stack([_exact(value).square().mean() for value in values])[None]
        self._means |= {(storage, start + i): channel_means(_exact(value)) for i, value in enumerate(values)}

    def slopes(self, gates: Tensor) -> Tensor | None:
        """The slopes of a tensor of gates, a row for each sample; None if no backward pass came by."""
        return _gathered(gates, self._slopes)

    def powers(self, gates: Tensor) -> Tensor | None:
        """The mean squares for a tensor of gates."""
        found = _gathered(gates, self._powers)
        return None if found is None else found[0]

    def means(self, gates: Tensor) -> list[Tensor]:
        """For every one of some gates, the means of the channels of what it is a factor of; zero if it was not seen."""
        storage, start = _place(gates)
        return [self._means.get((storage, start + i), gates.new_zeros(1)) for i in range(len(gates))]


_Place = tuple[int, int]  # where a tensor begins: views of one tensor of gates are told apart by it


def _place(gates: Tensor) -> _Place:
    return gates.untyped_storage().data_ptr(), int(gates.storage_offset())


def _gathered(gates: Tensor, found: dict[_Place, Tensor]) -> Tensor | None:
    storage, start = _place(gates)
    rows = None
    for (other, first), part in found.items():
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
    """Watch all gates that are used within, and the backward passes of what is computed with them, when they come.

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
        yield watch
    finally:
        _watching.watch = before


def gated_sum(values: list[Tensor], gates: Tensor) -> Tensor:
    """The sum of some values of one shape, each times its gate, and times the zero gate if there is one gate more.

    It has the precision of the values, whatever that of the gates is. Within `dropping`, values are dropped.

    >>> gated_sum([torch.ones(2), torch.tensor([1.0, 2.0])], torch.tensor([0.5, 2.0]))
    tensor([2.5000, 4.5000])
    >>> gated_sum([torch.ones(2)], torch.tensor([0.5, 3.0]))
    tensor([1.5000, 1.5000])
    """
    result: Tensor = _GatedSum.apply(gates.view(-1), drawn(values), *values)  # type: ignore[no-untyped-call]
    return result


class _GatedSum(torch.autograd.Function):
    """One pass over each value, forwards and backwards; nothing is kept but the values."""

    @staticmethod
    def forward(ctx: Any, gates: Tensor, factors: Tensor | None, *values: Tensor) -> Tensor:
        ctx.save_for_backward(gates, factors, *values)
        ctx.watch = _watching.watch
        if ctx.watch is not None:
            ctx.watch.add_values(gates, _multiplied(gates, factors, values))
        return _total(values, _weights(gates, factors, values))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        gates, factors, *values = ctx.saved_tensors
        (gradient,) = gradients
        of_gates, _, *of_values = ctx.needs_input_grad
        slopes = None
        if of_gates:
            exact = _exact(gradient)
            axes = tuple(range(1, gradient.ndim))
            rows = torch.stack([(exact * value).sum(axes) if axes else exact * value for value in values], 1)
            if factors is not None:
                rows = rows * factors.t()
            if len(gates) > len(values):
                own, zero = gates[:-1], gates[-1]
                rows = torch.cat([rows * zero, (rows * own).sum(1, keepdim=True)], 1)
            if ctx.watch is not None:
                ctx.watch.add_slopes(gates, rows.detach())
            slopes = rows.sum(0)
        weights = _weights(gates, factors, values)
        handed = [gradient * weight if want else None for weight, want in zip(weights, of_values, strict=True)]
        return slopes, None, *handed


def _exact(x: Tensor) -> Tensor:
    """In single precision at least: sums of many products, by which gates are trained and judged, need it."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def _weights(gates: Tensor, factors: Tensor | None, values: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """What each value is multiplied by, the zero gate included, in the precision of their sum."""
    own = gates if len(gates) == len(values) else gates[:-1] * gates[-1]
    dtype = reduce(torch.promote_types, [value.dtype for value in values])
    if factors is None:
        return own.to(dtype).unbind()
    shape = (len(values), -1, *[1] * (values[0].ndim - 1))
    return (own[:, None] * factors).to(dtype).view(shape).unbind()


def _total(values: Sequence[Tensor], weights: Sequence[Tensor]) -> Tensor:
    first, *rest = weights
    total = values[0].to(first.dtype) * first
    for value, weight in zip(values[1:], rest, strict=True):
        total.addcmul_(value, weight)
    return total


def _multiplied(gates: Tensor, factors: Tensor | None, values: Sequence[Tensor]) -> list[Tensor]:
    """What each gate multiplies: a value, as far as it is not dropped, or the sum that is left."""
    own = gates[: len(values)]
    terms = list(values)
    if factors is not None:
        terms = [v * weight for v, weight in zip(values, _weights(torch.ones_like(own), factors, values), strict=True)]
    if len(gates) > len(values):
        terms.append(_total(terms, _weights(own, None, values)))
    return terms


def channel_means(value: Tensor) -> Tensor:
    """The means of channels over samples and positions, exact enough that their squares can be taken off powers.

    >>> channel_means(torch.tensor([[1.0, 5.0], [3.0, 5.0]]))
    tensor([2., 5.], dtype=torch.float64)
    """
    return value.mean([0, *range(2, value.ndim)], dtype=torch.float64).view(-1)
