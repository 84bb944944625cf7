"""CIFAR-10 and CIFAR-100: the binary version, records of label and pixels; or the Python version, pickles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from bayesnas_graph.data.files import damaged, find, reading
from bayesnas_graph.data.model import InMemory
from bayesnas_graph.data.pickles import Bytes, NotPlain, read_pickle
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.diagnostics.reading import read_file

SHAPE = (3, 32, 32)
PIXELS = 3 * 32 * 32
MOST_IMAGES = 100_000  # in a file


@dataclass(frozen=True)
class Pickled:
    """The files of the Python version, as torchvision keeps them."""

    folder: str
    train: tuple[str, ...]
    test: str
    labels: str  # their key


@dataclass(frozen=True)
class Version:
    """The file layout of one of the two data sets."""

    name: str
    folder: str  # of the binary version
    pickled: Pickled
    train: tuple[str, ...]
    test: str
    labels: int  # bytes before the pixels; the last of them is the label
    classes: int


CIFAR10 = Version(
    name="cifar10",
    folder="cifar-10-batches-bin",
    pickled=Pickled("cifar-10-batches-py", tuple(f"data_batch_{i}" for i in range(1, 6)), "test_batch", "labels"),
    train=tuple(f"data_batch_{i}.bin" for i in range(1, 6)),
    test="test_batch.bin",
    labels=1,
    classes=10,
)
CIFAR100 = Version(
    name="cifar100",
    folder="cifar-100-binary",
    pickled=Pickled("cifar-100-python", ("train",), "test", "fine_labels"),
    train=("train.bin",),
    test="test.bin",
    labels=2,  # the coarse one and the fine one
    classes=100,
)


def cifar_files(version: Version, folder: Path) -> list[Path]:
    """The files of a data set, test file last."""
    return _binary_files(version, folder) or _pickled_files(version, folder)


def load_cifar(version: Version, folder: Path) -> tuple[InMemory, InMemory]:
    """Return the training set and the test set, from the binary version if it is there."""
    binary = _binary_files(version, folder)
    read = _records if binary else _unpickled
    *train, test = binary or _pickled_files(version, folder)
    return _examples(version, read, train), _examples(version, read, [test])


def _binary_files(version: Version, folder: Path) -> list[Path]:
    """The files of the binary version; none if there is only the Python version. Raises NasError without either."""
    places = [folder, folder / version.name]
    folders = [*(place / version.folder for place in places), folder / version.name]
    try:
        return find(version.name, folders, [*version.train, version.test])
    except NasError:
        if not any((place / version.pickled.folder).is_dir() for place in places):
            raise
        return []


def _pickled_files(version: Version, folder: Path) -> list[Path]:
    folders = [place / version.pickled.folder for place in (folder, folder / version.name)]
    return find(version.name, folders, [*version.pickled.train, version.pickled.test])


def _examples(version: Version, read: Callable[[Version, Path], Bytes], paths: Sequence[Path]) -> InMemory:
    records = np.concatenate([read(version, path) for path in paths])
    images = torch.from_numpy(np.ascontiguousarray(records[:, version.labels :]).reshape(-1, *SHAPE))
    return InMemory(images, torch.from_numpy(records[:, version.labels - 1].astype(np.int64)))


def _unpickled(version: Version, path: Path) -> Bytes:
    """The records in a file of the Python version, without executing any of it."""
    with reading(version.name, path):
        content = read_file(path, MOST_IMAGES * (version.labels + PIXELS))
    try:
        found = read_pickle(content)
    except NotPlain as error:
        damaged(version.name, path, f"is not read: {error}")
    images, labels = found.get("data"), found.get(version.pickled.labels)
    if not isinstance(images, np.ndarray) or images.ndim != 2 or images.shape[1] != PIXELS or not len(images):
        damaged(version.name, path, "holds no images of 3x32x32 as `data`")
    if not isinstance(labels, list) or len(labels) != len(images):
        damaged(version.name, path, f"holds no label for each image as `{version.pickled.labels}`")
    wrong = next((label for label in labels if type(label) is not int or not 0 <= label < version.classes), None)
    if wrong is not None:
        damaged(version.name, path, f"holds the label {wrong!r}, but they should be 0 to {version.classes - 1}")
    column = np.array(labels, np.uint8)[:, None]
    return np.hstack([*[column] * version.labels, images])


def _records(version: Version, path: Path) -> Bytes:
    """The records in a file of the binary version."""
    length = version.labels + PIXELS
    with reading(version.name, path):
        content = np.frombuffer(read_file(path, MOST_IMAGES * length), dtype=np.uint8)
    if not len(content) or len(content) % length:
        damaged(version.name, path, f"holds {len(content):,} bytes, which is not a whole number of images")
    records = content.reshape(-1, length)
    largest = int(records[:, version.labels - 1].max())
    if largest >= version.classes:
        damaged(version.name, path, f"holds the label {largest}, but the largest should be {version.classes - 1}")
    return records
