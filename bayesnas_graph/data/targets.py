"""Targets: what is to be predicted for every example, and how it is checked."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

TargetKind = Literal["classes", "values", "labels", "map"]

TYPES: dict[TargetKind, torch.dtype] = {
    "classes": torch.int64,
    "values": torch.float32,
    "labels": torch.bool,
    "map": torch.uint8,
}
MOST_MAPPED = 256  # classes of a map, whose pixels are bytes
LARGEST_DEVIATION, LARGEST_MEAN = 10.0, 10.0  # of values that are trained on as they are


def target_of(label: Any) -> Tensor | None:
    """The target that a dataset gives: a class, one or more values, labels, or a map. None if it is none of them."""
    if type(label).__module__.startswith("PIL."):
        label = np.array(label)
    if isinstance(label, bool) or not isinstance(label, int | float | list | tuple | Tensor | np.ndarray | np.generic):
        return None
    try:
        target = torch.as_tensor(np.array(label) if isinstance(label, np.ndarray | np.generic) else label)
    except (ValueError, TypeError, RuntimeError):
        return None
    if target.is_floating_point() and target.ndim < 2 and target.numel():
        return target.float().view(-1)
    if target.ndim == 1 and len(target) > 1 and not target.is_complex() and bool(((target == 0) | (target == 1)).all()):
        return target.bool()
    if target.ndim == 2 and not target.is_floating_point() and target.numel():
        classes = target.long()
        return classes.byte() if bool(((classes >= 0) & (classes < MOST_MAPPED)).all()) else None
    is_number = target.ndim == 0 and not target.is_complex() and target.dtype != torch.bool
    return target.long() if is_number else None


def kind_of(targets: Tensor) -> TargetKind:
    """The kind of the targets of some examples; classes if they are none."""
    return next((kind for kind, dtype in TYPES.items() if dtype == targets.dtype), "classes")


def doubtful_values(targets: Tensor) -> str | None:
    """What is probably a mistake in the values to train on; None if nothing is."""
    exact = targets.double()
    mean, deviation = exact.mean(0), exact.std(0, correction=0)
    for i in range(exact.shape[1]):
        if deviation[i] == 0:
            return f"value {i} is the same everywhere"
        if deviation[i] > LARGEST_DEVIATION or abs(mean[i]) > LARGEST_MEAN or deviation[i] < 1 / LARGEST_DEVIATION:
            return f"value {i} has mean {mean[i]:.3g} and standard deviation {deviation[i]:.3g}"
    return None


def doubtful_labels(targets: Tensor) -> str | None:
    """What is probably a mistake in the labels to train on; None if nothing is."""
    share = targets.double().mean(0)
    for i in range(len(share)):
        if share[i] in (0, 1):
            return f"{'every' if share[i] else 'no'} image has label {i}"
    return None
