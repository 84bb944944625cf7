"""The types of a data set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from bayesnas_graph.data.targets import TargetKind
from bayesnas_graph.diagnostics import Diagnostic

Shape = tuple[int, ...]  # of one image: (channels, height, width)


class Examples(Protocol):
    """Images with their targets, fetched by index."""

    def __len__(self) -> int: ...

    def take(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        """Return the images (N, C, H, W), uint8 or float32, and the targets, in the order of the indices.

        Targets are int64 labels (N), float32 values (N, values), boolean labels (N, labels),
        or bytes with the class of every pixel (N, H, W).
        """


@dataclass(frozen=True, eq=False)
class InMemory:
    """Examples held in memory.

    >>> import torch
    >>> digits = InMemory(torch.zeros(10, 1, 8, 8, dtype=torch.uint8), torch.arange(10))
    >>> digits.take(torch.tensor([3, 1]))[1]
    tensor([3, 1])
    """

    images: Tensor
    labels: Tensor

    def __post_init__(self) -> None:
        if len(self.images) != len(self.labels):
            raise ValueError(f"{len(self.images)} images but {len(self.labels)} labels")

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        indices = indices.to(self.images.device)
        return self.images.index_select(0, indices), self.labels.index_select(0, indices)


@dataclass(frozen=True)
class Statistics:
    """Mean and standard deviation of every channel, where black is 0 and white is 1."""

    mean: tuple[float, ...]
    deviation: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Data:
    """A data set: training examples, test examples, and their shape, classes and statistics."""

    name: str
    train: Examples
    test: Examples
    shape: Shape
    classes: int  # or how many values or labels are predicted
    statistics: Statistics
    warnings: tuple[Diagnostic, ...] = ()  # about what is in it
    targets: TargetKind = "classes"  # what is predicted
