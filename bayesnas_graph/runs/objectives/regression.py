"""`values(n)`: every sample has n numbers, which are predicted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, ClassVar

from bayesnas_graph.ir import OutputKind
from bayesnas_graph.runs.objectives.objective import Metric, Objective

if TYPE_CHECKING:
    from torch import Tensor

    from bayesnas_graph.bayes import Loss


@dataclass(frozen=True)
class Regression(Objective):
    """The mean of the squared errors, and R2: the share of the variance that is predicted, a mean over the values.

    R2 is 0 for a network that always predicts the mean, and below 0 for a worse one.
    """

    kind: ClassVar[OutputKind] = "values"
    metric: ClassVar[Metric] = Metric("r2", "R2", is_share=False)

    def loss(self, _smoothing: float = 0.0) -> Loss:
        from bayesnas_graph.bayes import SquaredError

        return SquaredError()

    @property
    def size(self) -> int:
        return 3 * self.count

    def terms(self, outputs: Tensor, targets: Tensor) -> Tensor:
        import torch

        from bayesnas_graph.runtime.precision import precise

        exact = precise(targets)
        errors = exact - precise(outputs.detach())
        return torch.cat([exact.sum(0), exact.square().sum(0), errors.square().sum(0)])

    def value(self, terms: Sequence[float]) -> float:
        means, squares, errors = (terms[i * self.count : (i + 1) * self.count] for i in range(3))
        variances = [square - mean**2 for mean, square in zip(means, squares, strict=True)]
        return sum(map(_share, variances, errors)) / self.count

    @property
    def loss_of_guessing(self) -> float:
        return 1.0  # of targets with mean 0 and variance 1

    def more(self, loss: float) -> dict[str, float]:
        return {"rmse": sqrt(loss)}


def _share(variance: float, error: float) -> float:
    """The share of the variance of a value that is predicted; 0 if it does not vary, and is not predicted exactly."""
    if variance <= 0:
        return float(error == 0)
    return 1 - error / variance
