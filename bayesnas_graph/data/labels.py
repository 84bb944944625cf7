"""Labels of classes: of whole numbers or text, and which rows of them are for testing."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from bayesnas_graph.data.checked import reject, shape_text
from bayesnas_graph.data.content import Part
from bayesnas_graph.data.sampling import split
from bayesnas_graph.data.targets import MOST_MAPPED


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


def map_of(targets: Tensor, spec: str, part: Part) -> Tensor:
    """Return the classes of all pixels as bytes, a map for each example. Raises NasError."""
    classes = targets.long()
    if classes.numel() and not 0 <= int(classes.min()) <= int(classes.max()) < MOST_MAPPED:
        found = int(classes.min()) if int(classes.min()) < 0 else int(classes.max())
        reject(spec, f"has a pixel of class {found} for {part}", f"number classes from 0 to {MOST_MAPPED - 1}")
    return classes.byte()


def classes_of(values: Sequence[str], spec: str) -> tuple[Tensor, tuple[str, ...]]:
    """Return the labels of categories, and the sorted names of the classes. Raises NasError for other numbers.

    Whole numbers are sorted as numbers, all else as text.

    >>> classes_of(["10", "9", "10"], "csv:x")
    (tensor([1, 0, 1]), ('9', '10'))
    """
    numbers = {value: _number(value) for value in dict.fromkeys(values)}
    if None in numbers.values():
        names = sorted(numbers)
        labels = {name: i for i, name in enumerate(names)}
        return torch.tensor([labels[value] for value in values]), tuple(names)
    odd = next((value for value, number in numbers.items() if number is not None and not number.is_integer()), None)
    if odd is not None:
        reject(spec, f"has the target `{odd}`", "targets are classes: give text or whole numbers")
    wholes = sorted({int(number) for number in numbers.values() if number is not None})
    order = {number: i for i, number in enumerate(wholes)}
    index = {value: order[int(number)] for value, number in numbers.items() if number is not None}
    return torch.tensor([index[value] for value in values]), tuple(map(str, wholes))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def rows_for_testing(targets: Tensor, share: float) -> Tensor:
    """Return which rows are for testing: a random share of each class, or of all values; always the same."""
    chosen = torch.zeros(len(targets), dtype=torch.bool)
    labels = targets if targets.dtype == torch.int64 else torch.zeros(len(targets), dtype=torch.long)
    order = labels.argsort(stable=True)
    for rows in torch.tensor_split(order, torch.bincount(labels).cumsum(0)[:-1]):
        chosen[rows[split(len(rows), share, seed=0)[1]]] = True
    return chosen
