"""The second derivative of the loss along every gate: six estimators behind one function.

All report the second derivative of the mean loss over samples, so that it does not depend on the batch size.
Norms are in evaluation mode. A network of convolutions and ReLUs is then piecewise linear in each gate, and `exact`
and `ggn` agree up to rounding.

| estimator | what it is | backward passes |
|---|---|---|
| `exact` | the second derivative, by differentiating twice | one per gate |
| `ggn` | the Gauss-Newton part: the curvature of the loss at the outputs, carried back exactly | one per output |
| `fisher` | an unbiased estimate of `ggn`, from labels drawn from the network's own predictions | one per draw |
| `empirical` | the same with the labels of the data; not an estimate of `ggn`, but often used as one | one |
| `recursive` | a diagonal carried back from operation to operation, off-diagonal terms dropped | about one |
| `mean` | the same for one mean sample, without positions: the cheapest, as in the paper | a fraction of one |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from bayesnas_graph.bayes.losses import Loss
from bayesnas_graph.bayes.recursive import recursive
from bayesnas_graph.codegen.supernet import Moments, Supernet
from bayesnas_graph.ir.literals import Estimator
from bayesnas_graph.runtime import Watch, watched
from bayesnas_graph.runtime.precision import precise

Model = Callable[[Tensor], Tensor]


@dataclass(frozen=True, eq=False)
class Curvature:
    """The measured curvature of every gate, in the order of `Supernet.names`."""

    h: Tensor  # the second derivative of the mean loss
    moments: Moments  # of the input of the gate
    names: tuple[str, ...]

    @property
    def undetermined(self) -> tuple[str, ...]:
        """The gates with zero curvature: the data do not determine them."""
        return self._where(self.h == 0)

    @property
    def negative(self) -> tuple[str, ...]:
        """The gates with negative curvature, which only `exact` and `recursive` can report."""
        return self._where(self.h < 0)

    @property
    def infinite(self) -> tuple[str, ...]:
        """The gates without a finite curvature, because the network overflowed."""
        return self._where(~self.h.isfinite())

    def _where(self, mask: Tensor) -> tuple[str, ...]:
        return tuple(self.names[i] for i in mask.nonzero().flatten().tolist())


@dataclass(frozen=True, eq=False)
class _Measure:
    """A network, a loss, and the options of an estimator."""

    supernet: Supernet
    loss: Loss
    samples: int
    generator: torch.Generator | None
    model: Model  # from inputs to outputs

    def rows(self, outputs: Tensor, column: Tensor, watch: Watch) -> Tensor:
        """For every sample and gate, the derivative of `outputs * column`."""
        torch.autograd.grad(outputs, self.supernet.gate_parameters(), column, retain_graph=True, allow_unused=True)
        return self.supernet.slopes(watch)


def curvature(
    supernet: Supernet,
    batches: Iterable[tuple[Tensor, Tensor]],
    loss: Loss,
    estimator: Estimator = "fisher",
    *,
    samples: int = 1,
    generator: torch.Generator | None = None,
    model: Model | None = None,
) -> Curvature:
    """Measure the curvature along every gate on these batches. Only `fisher` uses `samples`.

    A `model` computes outputs from inputs by calling the supernet, sample by sample; by default it is the supernet
    alone. `recursive` and `mean` know only the operations of a space, so they need that default.
    """
    if model is None and len(supernet.graph.outputs) != 1:
        raise ValueError(f"a loss needs a network with one output, got {len(supernet.graph.outputs)}")
    if model is not None and estimator in ("recursive", "mean"):
        raise ValueError(f"`{estimator}` needs a supernet alone")
    measure = _Measure(supernet, loss, samples, generator, model or supernet.module)
    total = torch.zeros_like(precise(supernet.gates))
    seen: list[tuple[float, Moments]] = []
    with supernet.measuring():
        for x, targets in batches:
            h, moments = _ESTIMATORS[estimator](measure, x, targets)
            total = total + precise(h)
            seen.append((len(x), moments))
    if not seen:
        raise ValueError("no batches to measure curvature on")
    count = sum(samples for samples, _ in seen)
    h = (total / count).nan_to_num(nan=torch.inf, posinf=torch.inf, neginf=-torch.inf)
    return Curvature(h.to(supernet.gates.dtype), Moments.average(seen), supernet.names)


_Seen = tuple[Tensor, Moments]  # of a batch: the sum over its samples, and the moments of the gates' inputs


def _watched(measure: _Measure, x: Tensor, columns: Callable[[Tensor], Iterable[Tensor]]) -> _Seen:
    """The sum over samples of the squared derivatives along columns at the outputs."""
    with watched(Watch()) as watch:
        outputs = measure.model(x)
    total = torch.zeros_like(measure.supernet.gates)
    if not outputs.isfinite().all():
        return total + torch.inf, measure.supernet.moments(watch)
    for column in columns(outputs.detach()):
        total += measure.rows(outputs, column, watch).square().sum(0)
    return total, measure.supernet.moments(watch)


def _ggn(measure: _Measure, x: Tensor, _: Tensor) -> _Seen:
    return _watched(measure, x, measure.loss.columns)


def _fisher(measure: _Measure, x: Tensor, _: Tensor) -> _Seen:
    def columns(outputs: Tensor) -> Iterable[Tensor]:
        return (measure.loss.draw(outputs, measure.generator) for _draw in range(measure.samples))

    total, moments = _watched(measure, x, columns)
    return total / measure.samples, moments


def _empirical(measure: _Measure, x: Tensor, targets: Tensor) -> _Seen:
    def columns(outputs: Tensor) -> Iterable[Tensor]:
        outputs = outputs.requires_grad_()
        yield torch.autograd.grad(len(x) * measure.loss(outputs, targets), outputs)[0]

    return _watched(measure, x, columns)


def _exact(measure: _Measure, x: Tensor, targets: Tensor) -> _Seen:
    parameters = measure.supernet.gate_parameters()
    with watched(Watch()) as watch, sdpa_kernel(SDPBackend.MATH):  # others cannot be differentiated twice
        value = len(x) * measure.loss(measure.model(x), targets)
    moments = measure.supernet.moments(watch)
    slopes = torch.autograd.grad(value, parameters, create_graph=True, materialize_grads=True)
    found = []
    for parameter, slope in zip(parameters, slopes, strict=True):
        rows = [
            torch.autograd.grad(one, parameter, retain_graph=True, materialize_grads=True)[0]
            if one.requires_grad
            else torch.zeros_like(parameter)
            for one in slope
        ]
        found.append(torch.stack(rows).diagonal().detach())
    return measure.supernet.in_order(found), moments


def _recursive(measure: _Measure, x: Tensor, targets: Tensor) -> _Seen:
    return recursive(measure.supernet, measure.loss, x, targets)


def _mean(measure: _Measure, x: Tensor, targets: Tensor) -> _Seen:
    return recursive(measure.supernet, measure.loss, x, targets, of_means=True)


_ESTIMATORS: dict[str, Callable[[_Measure, Tensor, Tensor], _Seen]] = {
    "exact": _exact,
    "ggn": _ggn,
    "fisher": _fisher,
    "empirical": _empirical,
    "recursive": _recursive,
    "mean": _mean,
}
