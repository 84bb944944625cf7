"""The 8x8 handwritten digits that come with scikit-learn."""

from __future__ import annotations

import numpy as np
import torch

from bayesnas_graph.data.model import InMemory
from bayesnas_graph.diagnostics.packages import check_packages

TEST = 297  # the last images, which leaves 1,500 for training


def load_digits() -> tuple[InMemory, InMemory]:
    """Return 1,500 training images and 297 test images."""
    otherwise = ", or use `shapes`, which needs no package"
    check_packages("digits", "the data set `digits` needs", "NAS507", otherwise)
    from sklearn import datasets  # type: ignore[import-untyped]

    images, labels = datasets.load_digits(return_X_y=True)
    pixels = torch.from_numpy(np.rint(images * (255 / 16)).astype(np.uint8)).reshape(-1, 1, 8, 8)
    classes = torch.from_numpy(labels.astype(np.int64))
    return InMemory(pixels[:-TEST], classes[:-TEST]), InMemory(pixels[-TEST:], classes[-TEST:])
