"""Datasets of the Hugging Face package `datasets`. They are known by their methods: the package is not imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from bayesnas_graph.data.checked import reject

TESTS = ("test", "validation", "valid", "val")  # names of splits for testing
IMAGES = ("image", "img")  # names of columns
LABELS = ("label", "labels")


def is_hugging_face(value: object) -> bool:
    """Return whether this is a dataset of the package `datasets`, or a dictionary of its splits."""
    return hasattr(value, "column_names") and hasattr(value, "with_format")


@dataclass(frozen=True)
class Columns:
    """The columns of images and labels, and the split of each part, where a user names them."""

    image: str | None = None
    label: str | None = None
    train: str | None = None
    test: str | None = None


ANY_COLUMNS = Columns()


def splits_of(value: Mapping[str, Any], spec: str, wanted: Columns = ANY_COLUMNS) -> tuple[Any, Any]:
    """Return the splits for training and testing. Raises NasError."""
    found = ", ".join(f"`{name}`" for name in value)
    for name in (wanted.train, wanted.test):
        if name is not None and name not in value:
            reject(spec, f"has no split `{name}`", f"it has {found}")
    train = wanted.train or next((name for name in ("train",) if name in value), None)
    test = wanted.test or next((name for name in TESTS if name in value), None)
    if train is None or test is None:
        help = "give a pair of two datasets, or name them `train` and `test`"
        reject(spec, f"has the splits {found}, none of which is for {'training' if train is None else 'testing'}", help)
    return value[train], value[test]


@dataclass(frozen=True, eq=False)
class HuggingFaceRows:
    """A dataset of pairs of an image and a label."""

    dataset: Any
    image: str
    label: str
    classes: tuple[str, ...]
    change: Callable[[Any], Any] | None = None  # of every image

    @staticmethod
    def of(dataset: Any, spec: str, wanted: Columns = ANY_COLUMNS) -> HuggingFaceRows:
        """Return the pairs in a dataset, from columns that are named or found by their types. Raises NasError."""
        features: Mapping[str, Any] = dataset.features or {}
        names = list(dataset.column_names or features)
        image = _column(wanted.image, "image", names, _of_type(features, "Image", "Array3D", "Array2D"), IMAGES, spec)
        label = _column(wanted.label, "label", names, _of_type(features, "ClassLabel"), LABELS, spec)
        classes = tuple(map(str, getattr(features.get(label), "names", None) or ()))
        plain = dataset.with_format(None)  # Pillow images and numbers, not tensors with channels last
        return HuggingFaceRows(plain, image, label, classes)

    @property
    def is_of_image_files(self) -> bool:
        """Whether the images are kept as files."""
        return type(self._feature).__name__ == "Image"

    @property
    def _feature(self) -> Any:
        """The type of the column of images; None if it is not known."""
        return (self.dataset.features or {}).get(self.image)

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        return self.pair(self.dataset[index])

    def pair(self, row: Mapping[str, Any]) -> tuple[Any, Any]:
        """Return the image and the label of a row."""
        image = row[self.image]
        if isinstance(image, list):
            image = np.asarray(image, dtype=getattr(self._feature, "dtype", None))
        elif self.change is not None:
            image = self.change(image)
        return image, row[self.label]


def _of_type(features: Mapping[str, Any], *types: str) -> list[str]:
    """The columns of the first of these types that any column has."""
    for kind in types:
        found = [name for name, feature in features.items() if type(feature).__name__ == kind]
        if found:
            return found
    return []


def _column(
    wanted: str | None, what: str, names: list[str], by_type: list[str], usual: tuple[str, ...], spec: str
) -> str:
    """The column that is wanted, that has the type, or that has a usual name."""
    if wanted is not None:
        if wanted not in names:
            _no_column(spec, f"has no column `{wanted}`", what, names)
        return wanted
    if len(by_type) == 1:
        return by_type[0]
    named = [name for name in usual if name in (by_type or names)]
    if len(named) != 1:
        problem = "has several columns that may be" if by_type or named else "has no column that looks like"
        _no_column(spec, f"{problem} the {what}", what, names)
    return named[0]


def _no_column(spec: str, problem: str, what: str, names: list[str]) -> NoReturn:
    columns = ", ".join(f"`{name}`" for name in names)
    choose = f"choose it with `{what}=COLUMN`" if spec.startswith("hf:") else f"name it `{what}`"
    reject(spec, problem, f"{choose}; the columns are {columns}")
