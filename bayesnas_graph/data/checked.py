"""Examples from user code, checked when they are fetched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor

from bayesnas_graph.data.content import Part
from bayesnas_graph.data.model import Examples, Shape
from bayesnas_graph.data.targets import TYPES, TargetKind, kind_of, target_of
from bayesnas_graph.diagnostics import Diagnostic, NasError


@dataclass(frozen=True, eq=False)
class Items:
    """A map-style torch dataset of (image, target) items as examples."""

    dataset: Any
    spec: str
    part: Part

    def __len__(self) -> int:
        return len(self.dataset)

    def take(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        pairs = [self._item(index) for index in indices.tolist()]
        shapes = {image.shape for image, _ in pairs}
        if len(shapes) > 1:
            first, second = sorted(map(shape_text, shapes))[:2]
            reject(self.spec, f"has images of {first} and of {second} for {self.part}", "resize them to one shape")
        targets = [target for _, target in pairs]
        check_alike(targets, self.spec, self.part)
        return torch.stack([image for image, _ in pairs]), torch.stack(targets)

    def _item(self, index: int) -> tuple[Tensor, Tensor]:
        return self.converted(self.dataset[index], index)

    def converted(self, item: Any, index: int) -> tuple[Tensor, Tensor]:
        """Return the image of an item as a tensor, and its target. Raises NasError."""
        if not isinstance(item, tuple | list) or len(item) != 2:
            problem = f"gives {value_text(item)} as item {index}, not a pair of an image and a label, for {self.part}"
            reject(self.spec, problem)
        return self._image(item[0], index), self._target(item[1], index)

    def _image(self, image: Any, index: int) -> Tensor:
        if type(image).__module__.startswith("PIL."):
            array = np.array(image.convert("L" if image.mode in ("1", "L") else "RGB"))
            image = array if array.ndim == 2 else np.moveaxis(array, 2, 0)
        if isinstance(image, np.ndarray):
            image = torch.from_numpy(np.array(image))  # a copy, because torch warns about read-only arrays
        if not isinstance(image, Tensor):
            help = "return a tensor, an array or a Pillow image"
            reject(self.spec, f"gives {value_text(image)} as image {index} for {self.part}", help)
        if image.dtype != torch.uint8 and not image.is_floating_point():
            help = "return bytes from 0 to 255, or floating-point numbers from 0 to 1"
            problem = f"gives image {index} as numbers of type {str(image.dtype)[6:]} for {self.part}"
            reject(self.spec, problem, help)
        pixels: Tensor = image if image.dtype == torch.uint8 else image.float()
        if pixels.ndim == 1:  # the features of a row of a table
            return pixels[:, None, None]
        return pixels.unsqueeze(0) if pixels.ndim == 2 else pixels

    def _target(self, label: Any, index: int) -> Tensor:
        target = target_of(label)
        if target is None:
            problem = f"gives {value_text(label)} as label {index} for {self.part}"
            reject(self.spec, problem, "number the classes 0, 1, 2, ...; docs/tasks.md has values and labels")
        return target


def check_alike(targets: Sequence[Tensor], spec: str, part: Part) -> None:
    """Raise NasError unless all targets are of one kind, and equally long."""
    different = [other for other in targets if (other.dtype, other.shape) != (targets[0].dtype, targets[0].shape)]
    if different:
        first, second = (_target_text(target) for target in (targets[0], different[0]))
        help = "give every image a class, or the same number of values or of labels"
        reject(spec, f"gives {first} to an image and {second} to another for {part}", help)


@dataclass(frozen=True, eq=False)
class CheckedExamples:
    """User examples whose types, shapes, pixels and targets are checked whenever they are fetched."""

    examples: Examples
    spec: str
    part: Part
    shape: Shape | None = None
    classes: int | None = None  # or how many values or labels there are
    targets: TargetKind | None = None  # any if None

    def __len__(self) -> int:
        return len(self.examples)

    def take(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        images: Any
        labels: Any
        try:
            images, labels = self.examples.take(indices)
        except NasError:
            raise
        except Exception as error:
            reject(self.spec, f"failed to return examples for {self.part}: {error_text(error)}")
        if not isinstance(images, Tensor) or not isinstance(labels, Tensor):
            reject(self.spec, f"gives {value_text(images)} and {value_text(labels)} instead of tensors")
        kind = self.targets or kind_of(labels)
        if images.dtype not in (torch.uint8, torch.float32) or labels.dtype != TYPES[kind]:
            types = f"images of type {str(images.dtype)[6:]} and labels of type {str(labels.dtype)[6:]}"
            wanted = f"{'values' if kind == 'values' else 'labels'} as {str(TYPES[kind])[6:]}"
            reject(self.spec, f"gives {types}", f"return images as uint8 or float32, and {wanted}")
        vector = (self.classes or labels.shape[-1],) if labels.ndim else ()
        wanted_shape = {"classes": (), "map": tuple(images.shape[2:])}.get(kind, vector)
        if len(images) != len(indices) or labels.shape != (*indices.shape, *wanted_shape):
            counts = f"{len(images)} images and labels of shape {shape_text(labels.shape)}"
            reject(self.spec, f"gives {counts} when asked for {len(indices)} examples")
        if self.shape is not None and images.shape[1:] != self.shape:
            found = f"{shape_text(self.shape)} and of {shape_text(images.shape[1:])}"
            reject(self.spec, f"has images of {found} for {self.part}", "resize them")
        self._check_pixels(images, indices)
        if kind == "values":
            self._check_values(labels, indices)
        elif kind != "labels":
            self._check_labels(labels, indices)
        return images, labels

    def _check_pixels(self, images: Tensor, indices: Tensor) -> None:
        if images.is_floating_point() and not images.isfinite().all():
            rows = images.isfinite().flatten(1).all(1)
            first = int(indices[~rows.cpu()][0])
            help = "look for divisions by zero, and for missing values, where the images are made"
            reject(self.spec, f"has pixels that are infinite or not a number in image {first} for {self.part}", help)

    def _check_values(self, values: Tensor, indices: Tensor) -> None:
        if not values.isfinite().all():
            first = int(indices[~values.isfinite().all(1).cpu()][0])
            help = "look for missing values where the targets are made, and leave out those examples"
            reject(self.spec, f"gives a value that is infinite or not a number to image {first} for {self.part}", help)

    def _check_labels(self, labels: Tensor, indices: Tensor) -> None:
        numbers = labels.long()
        wrong = (numbers < 0) if self.classes is None else (numbers < 0) | (numbers >= self.classes)
        if wrong.any():
            label, first = int(numbers[wrong][0]), int(indices[wrong.view(len(wrong), -1).any(1).cpu()][0])
            has = "" if self.classes is None else f", but has {self.classes} classes"
            last = "..." if self.classes is None else f"to {self.classes - 1}"
            help = f"number the classes 0 {last}"
            reject(self.spec, f"gives the label {label} to image {first} for {self.part}{has}", help)


def reject(spec: str, problem: str, help: str | None = None) -> NoReturn:
    """Raise NasError for user data that cannot be used."""
    help = help or "see docs/data.md for what it should return"
    raise NasError([Diagnostic("NAS505", f"`{spec}` {problem}", help=help)])


def _target_text(target: Tensor) -> str:
    """A target of an example, as a message says it."""
    if not target.ndim:
        return f"the label {int(target)}"
    if target.ndim == 2:
        return f"a map of {shape_text(tuple(target.shape))}"
    if target.dtype == torch.bool:
        return f"{len(target)} labels"
    return f"{len(target)} values" if len(target) > 1 else "a value"


def error_text(error: BaseException) -> str:
    """An exception in one line.

    >>> error_text(KeyError("labels"))
    "KeyError: 'labels'"
    """
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def value_text(value: object) -> str:
    """A short description of a value."""
    text = repr(value)
    plain = isinstance(value, int | float | str | None) and len(text) <= 40
    return f"`{text}`" if plain else f"a `{type(value).__name__}`"


def shape_text(shape: Shape) -> str:
    """A shape as text.

    >>> shape_text((3, 32, 32))
    '3x32x32'
    """
    return "x".join(map(str, shape)) or "no dimensions"
