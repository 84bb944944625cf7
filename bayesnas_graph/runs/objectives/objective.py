"""What a network is trained for, and how good it is: the interface of an objective."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from bayesnas_graph.ir import OutputKind

if TYPE_CHECKING:
    from torch import Tensor

    from bayesnas_graph.bayes import Loss


ROW, TEST_ROW = "accuracy", "test_accuracy"  # what rows in memory call a metric, whichever it is


@dataclass(frozen=True)
class Metric:
    """A number that says how good a network is; higher is better, and 1 is perfect."""

    column: str  # its name in tables and in JSON
    name: str  # its name on screens and pages
    is_share: bool = True  # whether it is a share of samples, from 0 to 1, which pages show in percent

    def columns(self, names: Iterable[str]) -> tuple[str, ...]:
        """The columns of a table, where this metric is what rows call `accuracy`.

        >>> Metric("r2", "R2").columns(("loss", "accuracy", "test_accuracy"))
        ('loss', 'r2', 'test_r2')
        """
        own = {ROW: self.column, TEST_ROW: f"test_{self.column}"}
        return tuple(own.get(name, name) for name in names)

    def text(self, value: float, *, unit: bool = True) -> str:
        """A value as on a page.

        >>> Metric("accuracy", "accuracy").text(0.93128), Metric("r2", "R2", is_share=False).text(-0.25)
        ('93.1 %', '-0.250')
        """
        return f"{100 * value:.1f}{' %' if unit else ''}" if self.is_share else f"{value:.3f}"


@dataclass(frozen=True)
class Objective(ABC):
    """A loss and a metric.

    A metric is computed from the means over all samples of some numbers, its terms. These can be added up batch by
    batch, so a metric is always that of a whole set, and not a mean over batches.
    """

    count: int  # of classes or values: the size of the output

    kind: ClassVar[OutputKind]
    metric: ClassVar[Metric]
    smooths: ClassVar[bool] = False  # whether labels can be smoothed

    @abstractmethod
    def loss(self, smoothing: float = 0.0) -> Loss:
        """The loss: a mean over samples, with second derivatives."""

    def total_loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """The sum of the losses of some samples."""
        return self.loss()(outputs, targets) * len(targets)

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of terms."""

    @abstractmethod
    def terms(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """The terms of the metric, each summed over some samples."""

    def mean_terms(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """The terms of the metric, each as a mean over some samples."""
        return self.terms(outputs, targets) / len(targets)

    @abstractmethod
    def value(self, terms: Sequence[float]) -> float:
        """The metric, given the means of its terms."""

    @property
    @abstractmethod
    def loss_of_guessing(self) -> float:
        """The loss of a network that has learnt nothing."""

    def more(self, _loss: float) -> dict[str, float]:
        """Other numbers that follow from the loss on a set, by name."""
        return {}
