"""One part of data that were given as a Python object: a dataset, a pair of tensors, or something that wraps them."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

from bayesnas_graph.data.checked import Items, check_alike, error_text, reject, shape_text, value_text
from bayesnas_graph.data.content import Part
from bayesnas_graph.data.hugging_face import HuggingFaceRows, is_hugging_face
from bayesnas_graph.data.labels import labels_of, map_of
from bayesnas_graph.data.model import Examples, InMemory
from bayesnas_graph.diagnostics import NasError

MOST_EXAMPLES = 10**8  # of a part; their order alone takes 8 bytes each
MOST_READ = 10**6  # examples that are read once, one after another
MOST_MEMORY = 2**32  # bytes of the examples of an iterable dataset


@dataclass(frozen=True, eq=False)
class GivenPart:
    """The examples of a part, not yet checked, and what they were given as."""

    examples: Examples
    part: Part
    kind: str
    classes: tuple[str, ...] = ()  # their names, if they are listed
    notes: tuple[str, ...] = ()  # what a user should know


def part_of(value: Any, spec: str, part: Part) -> GivenPart:
    """Return the examples in a dataset, a pair of tensors or arrays, or a data loader. Raises NasError."""
    if isinstance(value, DataLoader):
        inner = part_of(value.dataset, spec, part)
        note = f"only the dataset of the data loader for {part} is used: the run makes its own batches"
        return replace(inner, kind=f"DataLoader of {inner.kind}", notes=(note, *inner.notes))
    if type(value) is TensorDataset:
        return GivenPart(_in_memory(value.tensors, spec, part), part, "TensorDataset")
    if isinstance(value, tuple | list) and len(value) == 2 and all(isinstance(x, Tensor | np.ndarray) for x in value):
        return GivenPart(_in_memory(value, spec, part), part, "pair of tensors")
    kind = type(value).__name__
    if is_hugging_face(value):
        rows, kind = HuggingFaceRows.of(value, spec), f"Hugging Face {kind}"
        if isinstance(value, IterableDataset) or not hasattr(value, "__len__"):
            return _read(map(rows.pair, rows.dataset), spec, part, kind, rows.classes)
        return mapped_part(rows, rows.classes, spec, part, kind)
    if isinstance(value, IterableDataset) or (isinstance(value, Iterable) and not hasattr(value, "__getitem__")):
        return _read(value, spec, part, kind, _listed(value))
    lacks = not hasattr(value, "__getitem__") or not hasattr(value, "__len__")
    if lacks or isinstance(value, Tensor | np.ndarray):
        help = "give a dataset with `__len__` and `__getitem__`, or a pair of tensors"
        reject(spec, f"has {value_text(value)} as the dataset for {part}", help)
    return mapped_part(value, _listed(value), spec, part, kind)


def mapped_part(dataset: Sized, classes: tuple[str, ...], spec: str, part: Part, kind: str) -> GivenPart:
    """A dataset whose items are fetched when they are needed."""
    check_length(dataset, spec, part)
    return GivenPart(Items(dataset, spec, part), part, kind, classes)


def check_length(dataset: Sized, spec: str, part: Part) -> None:
    """Raise NasError unless a part has examples, but not too many."""
    try:
        length = len(dataset)
    except Exception as error:
        reject(spec, f"failed to return the number of examples for {part}: {error_text(error)}")
    if not length:
        reject(spec, f"has no examples for {part}", "give at least one")
    if length > MOST_EXAMPLES:
        reject(spec, f"has {length:,} examples for {part}", f"give at most {MOST_EXAMPLES:,}")


def _listed(dataset: Any) -> tuple[str, ...]:
    """The names of the classes, if the dataset lists them in `classes`, as those of torchvision do."""
    listed = getattr(dataset, "classes", None)
    return tuple(map(str, listed)) if isinstance(listed, list | tuple) else ()


def _in_memory(pair: Any, spec: str, part: Part) -> InMemory:
    """The examples in a tensor of images or features, and one of labels."""
    if len(pair) != 2:
        reject(spec, f"has {len(pair)} tensors for {part}, not one of images and one of labels")
    images, targets = (_tensor(value, spec, part) for value in pair)
    if images.ndim == 2 and not images.is_complex():  # a table, which may have any numbers
        images = images.float()
    if images.dtype != torch.uint8 and not images.is_floating_point():
        help = "give bytes from 0 to 255, or floating-point numbers from 0 to 1"
        reject(spec, f"has images of type {str(images.dtype)[6:]} for {part}", help)
    images = (images if images.dtype == torch.uint8 else images.float()).detach()
    labels = _targets(targets.detach(), spec, part)
    if not images.ndim or len(images) != len(labels):
        found = len(images) if images.ndim else "no"
        reject(spec, f"has {found} images, but {len(labels)} labels for {part}", "give one label for each image")
    check_length(labels, spec, part)
    return InMemory(_as_images(images, spec, part), labels)


def _targets(targets: Tensor, spec: str, part: Part) -> Tensor:
    """The targets of a tensor: values, several labels, or a class for each example or each of its pixels."""
    if targets.is_floating_point() and targets.ndim in (1, 2):
        return targets.float().view(len(targets), -1)
    if (
        targets.ndim == 2
        and targets.shape[1] > 1
        and not targets.is_complex()
        and bool((targets * (1 - targets.long()) == 0).all())
    ):
        return targets.bool()
    if targets.ndim == 3 and not targets.is_floating_point() and not targets.is_complex():
        return map_of(targets, spec, part)
    return labels_of(targets, spec, part)


def _tensor(value: Tensor | np.ndarray[Any, Any], spec: str, part: Part) -> Tensor:
    if isinstance(value, Tensor):
        return value
    try:
        return torch.from_numpy(np.array(value))  # a copy, because torch warns about read-only arrays
    except TypeError:
        reject(spec, f"has an array of type {value.dtype} for {part}", "give arrays of numbers")


def _as_images(values: Tensor, spec: str, part: Part) -> Tensor:
    """Images with channels; features are images of one pixel."""
    if values.ndim == 2:
        return values[:, :, None, None]
    if values.ndim not in (3, 4):
        help = "give images as channels x height x width, or height x width; or tables, a row for each example"
        reject(spec, f"has images of {shape_text(tuple(values.shape[1:]))} for {part}", help)
    return values.unsqueeze(1) if values.ndim == 3 else values


def _read(values: Iterable[Any], spec: str, part: Part, kind: str, classes: tuple[str, ...] = ()) -> GivenPart:
    """Read an iterable dataset into memory."""
    convert, size = Items((), spec, part).converted, 0
    images: list[Tensor] = []
    labels: list[Tensor] = []
    try:
        for index, item in enumerate(values):
            image, label = convert(item, index)
            size += image.nbytes
            if index >= MOST_READ or size > MOST_MEMORY:
                _too_large(spec, part, size)
            if images and image.shape != images[0].shape:
                shapes = f"{shape_text(tuple(images[0].shape))} and of {shape_text(tuple(image.shape))}"
                reject(spec, f"has images of {shapes} for {part}", "resize them to one shape")
            check_alike([*labels[:1], label], spec, part)
            images.append(image)
            labels.append(label)
    except NasError:
        raise
    except Exception as error:
        reject(spec, f"failed to return examples for {part}: {error_text(error)}")
    check_length(labels, spec, part)
    note = f"the {len(labels):,} examples for {part} were read into memory: {-(-size // 2**20):,} MiB"
    return GivenPart(InMemory(torch.stack(images), torch.stack(labels)), part, kind, classes, (note,))


def _too_large(spec: str, part: Part, size: int) -> NoReturn:
    limit = f"{MOST_MEMORY // 2**20:,} MiB" if size > MOST_MEMORY else f"{MOST_READ:,} examples"
    help = "give a dataset with `__len__` and `__getitem__`, whose items are read when they are needed"
    reject(spec, f"is read into memory, but has more than {limit} for {part}", help)
