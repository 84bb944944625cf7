"""`labels(n)`: every sample has any of n labels."""

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
class MultiLabel(Objective):
    """Binary cross-entropy, a mean over the labels, and F1 over all labels of all samples.

    A network says that a sample has a label if its output is above 0, so if its probability is above one half.
    """

    kind: ClassVar[OutputKind] = "labels"
    metric: ClassVar[Metric] = Metric("f1", "F1")

    def loss(self, _smoothing: float = 0.0) -> Loss:
        from bayesnas_graph.bayes import BinaryCrossEntropy

        return BinaryCrossEntropy()

    @property
    def size(self) -> int:
        return 3

    def terms(self, outputs: Tensor, targets: Tensor) -> Tensor:
        import torch

        from bayesnas_graph.runtime.precision import precise

        said, right = outputs > 0, targets > 0
        return precise(torch.stack([(said & right).sum(), said.sum(), right.sum()]))

    def value(self, terms: Sequence[float]) -> float:
        found, said, right = terms
        return 2 * found / (said + right) if said + right else 1.0

    @property
    def loss_of_guessing(self) -> float:
        return log(2)
