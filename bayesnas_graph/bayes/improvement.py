"""Which architecture to train next: expected improvement under a Gaussian process.

Some architectures were trained, and their losses measured. Similar architectures have similar losses: the covariance of
two that differ in `d` switches, counting a swap as one, is

    k = s^2 exp(-d / l)        plus the noise of training, on the diagonal

around an unknown mean. The range `l`, the noise relative to `s^2`, and `s` are those that explain the measured losses
best (maximum likelihood, the first two on a grid). The process then predicts the loss of every other architecture with
a standard deviation, and

    E[max(0, best - loss)]

is what training it can be expected to gain over the best prediction so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import pi

import torch
from torch import Tensor

RANGES = (2.0, 4.0, 8.0)  # in swaps
NOISES = (0.02, 0.1, 0.3)  # variance of the noise of training, relative to that of the process
FLAT = 100.0  # variance of the mean, relative to that of the process: practically unknown
TINY = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """The loss of every architecture, measured or not, with its standard deviation."""

    mean: Tensor
    deviation: Tensor


def swaps(architectures: Sequence[frozenset[str]]) -> Tensor:
    """The number of switches in which architectures differ, given the switches that each keeps; a swap counts as one.

    >>> swaps([frozenset("ab"), frozenset("ac"), frozenset("abc")])
    tensor([[0.0000, 1.0000, 0.5000],
            [1.0000, 0.0000, 0.5000],
            [0.5000, 0.5000, 0.0000]], dtype=torch.float64)
    """
    names = sorted(frozenset().union(*architectures))
    kept = torch.tensor([[float(name in one) for name in names] for one in architectures], dtype=torch.float64)
    return (kept[:, None] - kept[None]).abs().sum(2) / 2


@torch.no_grad()
def predict(distances: Tensor, losses: Tensor) -> Predictions:
    """Predict the losses of all architectures, of which the first ones were measured, given their distances."""
    measured = len(losses)
    centre = losses.mean()
    y = (losses - centre).double()
    best: tuple[float, Predictions] | None = None
    for reach, noise in product(RANGES, NOISES):
        k = (-distances / reach).exp() + FLAT
        root = torch.linalg.cholesky(k[:measured, :measured] + noise * torch.eye(measured, dtype=torch.float64))
        white = torch.linalg.solve_triangular(root, y[:, None], upper=False)[:, 0]
        variance = (white.square().sum() / measured).clamp(min=TINY)
        likelihood = -0.5 * measured * float(variance.log()) - float(root.diagonal().log().sum())
        if best is None or likelihood > best[0]:
            gain = torch.linalg.solve_triangular(root, k[:measured], upper=False)
            left = (k.diagonal() - gain.square().sum(0)).clamp(min=TINY)
            best = likelihood, Predictions(centre + gain.T @ white, (variance * left).sqrt())
    assert best is not None, "there are ranges and noises"
    return best[1]


@torch.no_grad()
def expected_improvement(predictions: Predictions, measured: int) -> Tensor:
    """What every architecture that was not measured can be expected to gain over the best of those that were."""
    best = predictions.mean[:measured].min()
    deviation = predictions.deviation[measured:]
    z = (best - predictions.mean[measured:]) / deviation
    density = (-z.square() / 2).exp() / (2 * pi) ** 0.5
    gain: Tensor = deviation * (z * torch.special.ndtr(z) + density)
    return gain
