"""The handwritten digits of 8 by 8 pixels that come with scikit-learn."""

from __future__ import annotations

import numpy as np
import torch

from bayesnas_graph.data.model import InMemory
from bayesnas_graph.diagnostics import Diagnostic, NasError

TEST = 297  # the last images, so that 1,500 are left to learn from


def load_digits() -> tuple[InMemory, InMemory]:
    """1,500 images for training and 297 for testing, always the same."""
    try:
        from sklearn import datasets  # type: ignore[import-untyped]
    except ImportError:
        help = "`pip install 'bayesnas-graph[digits]'` installs it; `shapes` needs nothing"
        raise NasError([Diagnostic("NAS507", "the set `digits` comes with scikit-learn", help=help)]) from None
    images, labels = datasets.load_digits(return_X_y=True)
    pixels = torch.from_numpy(np.rint(images * (255 / 16)).astype(np.uint8)).reshape(-1, 1, 8, 8)
    classes = torch.from_numpy(labels.astype(np.int64))
    return InMemory(pixels[:-TEST], classes[:-TEST]), InMemory(pixels[-TEST:], classes[-TEST:])
