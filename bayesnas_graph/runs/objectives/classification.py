"""`classes(n)`: every sample belongs to one of n classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, ClassVar

from bayesnas_graph.ir import OutputKind
from bayesnas_graph.runs.objectives.objective import Metric, Objective

if TYPE_CHECKING:
    from torch import Tensor

    from bayesnas_graph.bayes import Loss


@dataclass(frozen=True)
class Classification(Objective):
    """Cross-entropy, and the share of samples whose class has the highest score."""

    kind: ClassVar[OutputKind] = "classes"
    metric: ClassVar[Metric] = Metric("accuracy", "accuracy")
    smooths: ClassVar[bool] = True

    def loss(self, smoothing: float = 0.0) -> Loss:
        from bayesnas_graph.bayes import CrossEntropy

        return CrossEntropy(smoothing)

    def total_loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        from torch.nn.functional import cross_entropy

        return cross_entropy(outputs, targets, reduction="sum")

    @property
    def size(self) -> int:
        return 1

    def terms(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return (outputs.argmax(1) == targets).sum().view(1)

    def mean_terms(self, outputs: Tensor, targets: Tensor) -> Tensor:
        labels = targets.argmax(1) if targets.ndim == 2 else targets  # of a mixed sample: the one with the larger share
        return (outputs.argmax(1) == labels).float().mean().view(1)

    def value(self, terms: Sequence[float]) -> float:
        return terms[0]

    @property
    def loss_of_guessing(self) -> float:
        return log(self.count)
