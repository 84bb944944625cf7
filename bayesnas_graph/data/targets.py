"""Targets: what a network should say of each example. So far they are labels of classes."""

from __future__ import annotations

import torch
from torch import Tensor

from bayesnas_graph.data.checked import reject, shape_text
from bayesnas_graph.data.content import Part


def labels_of(targets: Tensor, spec: str, part: Part) -> Tensor:
    """Return the labels in a tensor of whole numbers, one for each example. Raises NasError."""
    help = "number the classes 0, 1, 2, ..., and give one number for each example"
    if targets.ndim == 2 and targets.shape[1] == 1:
        targets = targets.flatten()
    if targets.ndim != 1:
        reject(spec, f"has labels of shape {shape_text(tuple(targets.shape))} for {part}", help)
    if targets.is_floating_point() or targets.is_complex() or targets.dtype == torch.bool:
        reject(spec, f"has labels of type {str(targets.dtype)[6:]} for {part}", help)
    return targets.long()
