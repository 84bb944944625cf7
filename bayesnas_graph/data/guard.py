"""What the user's own code gives, made into examples of which nothing odd gets through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor

from bayesnas_graph.data.model import Examples, Shape
from bayesnas_graph.diagnostics import Diagnostic, NasError


@dataclass(frozen=True, eq=False)
class Items:
    """A map-style dataset of torch's as examples: items of an image and a label, fetched one by one."""

    dataset: Any
    spec: str

    def __len__(self) -> int:
        return len(self.dataset)

    def take(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        pairs = [self._item(index) for index in indices.tolist()]
        shapes = {image.shape for image, _ in pairs}
        if len(shapes) > 1:
            one, other = sorted(map(by, shapes))[:2]
            unusable(self.spec, f"has images of {one} and of {other}", "resize them to one shape")
        return torch.stack([image for image, _ in pairs]), torch.tensor([label for _, label in pairs])

    def _item(self, index: int) -> tuple[Tensor, int]:
        item = self.dataset[index]
        if not isinstance(item, tuple | list) or len(item) != 2:
            unusable(self.spec, f"gives {shown(item)} as item {index}, which is no pair of an image and a label")
        return self._image(item[0], index), self._label(item[1], index)

    def _image(self, image: Any, index: int) -> Tensor:
        if type(image).__module__.startswith("PIL."):
            array = np.array(image.convert("L" if image.mode in ("1", "L") else "RGB"))
            image = array if array.ndim == 2 else np.moveaxis(array, 2, 0)
        if isinstance(image, np.ndarray):
            image = torch.from_numpy(np.array(image))  # a copy: what cannot be written to is warned about
        if not isinstance(image, Tensor):
            unusable(self.spec, f"gives {shown(image)} as image {index}", "give a tensor, an array or a Pillow image")
        if image.dtype != torch.uint8 and not image.is_floating_point():
            help = "give bytes from 0 to 255, or floating-point numbers from 0 to 1"
            unusable(self.spec, f"gives image {index} as numbers of type {str(image.dtype)[6:]}", help)
        pixels: Tensor = image if image.dtype == torch.uint8 else image.float()
        return pixels.unsqueeze(0) if pixels.ndim == 2 else pixels

    def _label(self, label: Any, index: int) -> int:
        if (isinstance(label, Tensor) and label.ndim == 0) or isinstance(label, np.generic):
            label = label.item()
        if not isinstance(label, int) or isinstance(label, bool):
            unusable(self.spec, f"gives {shown(label)} as label {index}", "number the classes 0, 1, 2, ...")
        return label


@dataclass(frozen=True, eq=False)
class Checked:
    """Examples of the user's, of which nothing odd gets through."""

    examples: Examples
    spec: str
    shape: Shape | None = None
    classes: int | None = None

    def __len__(self) -> int:
        return len(self.examples)

    def take(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        try:
            images, labels = self._take(indices)
        except NasError:
            raise
        except Exception as error:
            unusable(self.spec, f"failed when it was asked for examples: {told(error)}")
        if not isinstance(images, Tensor) or not isinstance(labels, Tensor):
            unusable(self.spec, f"gives {shown(images)} and {shown(labels)}, where tensors should be")
        if images.dtype not in (torch.uint8, torch.float32) or labels.dtype != torch.int64:
            given = f"images of type {str(images.dtype)[6:]} and labels of type {str(labels.dtype)[6:]}"
            unusable(self.spec, f"gives {given}", "images are uint8 or float32, labels int64")
        if len(images) != len(indices) or labels.shape != indices.shape:
            counts = f"{len(images)} images and labels of shape {by(labels.shape)}"
            unusable(self.spec, f"gives {counts}, when asked for {len(indices)} examples")
        if self.shape is not None and images.shape[1:] != self.shape:
            unusable(self.spec, f"has images of {by(self.shape)} and of {by(images.shape[1:])}", "resize them")
        if self.classes is not None and not ((labels >= 0) & (labels < self.classes)).all():
            wrong = int(labels[(labels < 0) | (labels >= self.classes)][0])
            help = f"the labels of {self.classes} classes are 0 to {self.classes - 1}"
            unusable(self.spec, f"gives the label {wrong}, and has {self.classes} classes", help)
        return images, labels

    def _take(self, indices: Tensor) -> tuple[Any, Any]:
        images, labels = self.examples.take(indices)
        return images, labels


def unusable(spec: str, problem: str, help: str | None = None) -> NoReturn:
    """Say why data of the user's cannot be used."""
    raise NasError([Diagnostic("NAS505", f"`{spec}` {problem}", help=help or "docs/data.md shows what it should give")])


def told(error: BaseException) -> str:
    """An exception in a line.

    >>> told(KeyError("labels"))
    "KeyError: 'labels'"
    """
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def shown(value: object) -> str:
    """A value in a few words."""
    text = repr(value)
    plain = isinstance(value, int | float | str | None) and len(text) <= 40
    return f"`{text}`" if plain else f"a `{type(value).__name__}`"


def by(shape: Shape) -> str:
    """A shape as it is read.

    >>> by((3, 32, 32))
    '3x32x32'
    """
    return "x".join(map(str, shape)) or "no dimensions"
