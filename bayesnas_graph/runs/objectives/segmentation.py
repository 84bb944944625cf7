"""`map(n, height, width)`: every pixel of a sample belongs to one of n classes."""

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
class Segmentation(Objective):
    """Cross-entropy, a mean over the pixels, and the mean IoU.

    The IoU of a class is the number of pixels that it has in both the prediction and the target, divided by the number
    that it has in either. The mean is over the classes that occur.
    """

    kind: ClassVar[OutputKind] = "map"
    metric: ClassVar[Metric] = Metric("iou", "mean IoU")

    def loss(self, _smoothing: float = 0.0) -> Loss:
        from bayesnas_graph.bayes import PixelCrossEntropy

        return PixelCrossEntropy()

    @property
    def size(self) -> int:
        return 2 * self.count

    def terms(self, outputs: Tensor, targets: Tensor) -> Tensor:
        import torch

        from bayesnas_graph.runtime.precision import precise

        said, right = outputs.argmax(1).flatten(), targets.long().flatten()
        both, one, other = (
            torch.bincount(pixels, minlength=self.count) for pixels in (said[said == right], said, right)
        )
        return precise(torch.cat([both, one + other - both]))

    def value(self, terms: Sequence[float]) -> float:
        pairs = zip(terms[: self.count], terms[self.count :], strict=True)
        shares = [both / either for both, either in pairs if either]
        return sum(shares) / len(shares)

    @property
    def loss_of_guessing(self) -> float:
        return log(self.count)
